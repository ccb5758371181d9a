#!/bin/sh
# Builds a container's read-only root, and starts its command there. SHARED has the hosts file and the authorities.
# MOUNTS is the number of the triples after it:
#   enter.sh ROOT SHARED MOUNTS [FROM AT ro|rw]… COMMAND…
set -e
root="$1" shared="$2" mounts="$3"
shift 3

bind() {
  if [ -d "$1" ]; then
    mkdir -p "$root$2"
  else
    mkdir -p "$root${2%/*}"
    touch "$root$2"
  fi
  mount --rbind "$1" "$root$2"
  mount -o "remount,bind,$3" "$root$2"
}

mount -t tmpfs -o mode=755 tmpfs "$root"
for folder in bin sbin lib lib64; do
  ln -s "usr/$folder" "$root/$folder"
done
for file in /usr /etc/passwd /etc/group /etc/nsswitch.conf; do
  bind "$file" "$file" ro
done
bind "$shared" /shared ro
mkdir -p "$root/etc/ssl/certs"
ln -s /shared/hosts "$root/etc/hosts"
ln -s /shared/authorities.pem "$root/etc/ssl/certs/ca-certificates.crt"
mkdir "$root/proc" "$root/dev"
mount --rbind /proc "$root/proc"
mount --rbind /dev "$root/dev"
# Writable, for mounts of the image's programs: /usr is read-only.
mount -t tmpfs -o mode=755 tmpfs "$root/usr/local/bin"
while [ "$mounts" -gt 0 ]; do
  bind "$1" "$2" "$3"
  shift 3
  mounts=$((mounts - 1))
done
mount -o remount,ro "$root"
exec chroot "$root" "$@"
