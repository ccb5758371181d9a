#!/bin/sh
# Starts the server, and has it read its certificates again when they were renewed: connections stay, new ones see the new ones.
certificates() {
  cat /etc/nats-routes/tls.* /etc/nats-routes/ca.crt /etc/nats-tls/tls.* 2>/dev/null | sha256sum
}

follow() {
  seen=$(certificates)
  while sleep 10 && kill -0 "$1"; do
    found=$(certificates)
    if [ "$found" != "$seen" ]; then
      kill -HUP "$1"
      seen=$found
    fi
  done
}

# The server gets this shell's process id.
follow $$ &
exec nats-server --config /etc/nats/nats.conf
