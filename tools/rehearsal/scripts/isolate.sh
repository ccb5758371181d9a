#!/bin/sh
# Runs a command as root in new network, mount and process namespaces. Its processes end with it.
set -e
isolated="unshare --net --mount --propagation=private --pid --fork --kill-child --mount-proc"
if [ "$(id -u)" -ne 0 ]; then
  isolated="sudo --non-interactive $isolated"
fi
exec $isolated "$@"
