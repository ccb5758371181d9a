#!/bin/sh
# Runs a command as root in a network and with mounts of its own; and with its own process ids, so that every process ends with it.
set -e
isolated="unshare --net --mount --propagation=private --pid --fork --kill-child --mount-proc"
if [ "$(id -u)" -ne 0 ]; then
  isolated="sudo --non-interactive $isolated"
fi
exec $isolated "$@"
