#!/bin/sh
# Starts the server, and reloads it when its certificates change. Open connections stay.
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

# exec gives the server the process id of this shell.
follow $$ &
exec nats-server --config /etc/nats/nats.conf
