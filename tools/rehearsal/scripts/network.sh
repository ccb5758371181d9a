#!/bin/sh
# Links of the cluster's network, in separate network and mount namespaces. Pods send all packets to the
# router.
#   network.sh up; network.sh join NAME ADDRESS DEVICE
set -e
router=169.254.1.1

case "$1" in
  up)
    mkdir -p /run/netns
    mount -t tmpfs tmpfs /run/netns
    ip link set lo up
    echo 1 > /proc/sys/net/ipv4/ip_forward
    nft -f "${0%/*}/rules.nft"
    ;;
  join)
    name="$2" address="$3" device="$4"
    ip netns add "$name"
    ip link add "$device" type veth peer name eth0 netns "$name"
    ip address add "$router/32" dev "$device"
    ip link set "$device" up
    ip route add "$address/32" dev "$device"
    ip -n "$name" -batch - << END
link set lo up
address add $address/32 dev eth0
link set eth0 up
route add $router/32 dev eth0
route add default via $router
END
    ;;
esac
