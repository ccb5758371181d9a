#!/bin/sh
# Makes what the broker's servers prove themselves to each other with, into a folder: tls.crt and tls.key, signed by the
# authority in ca.crt. An authority that is there already, with its key in ca.key, goes on; otherwise it is made.
set -eu
umask 077
mkdir -p "$1"
cd "$1"
if [ ! -e ca.key ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -keyout ca.key -out ca.crt \
    -subj "/CN=Routes of the broker" -addext "keyUsage=critical,keyCertSign"
fi
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout tls.key -out tls.csr -subj "/CN=nats"
# Each server answers and calls under these names (stateful-set.yaml).
cat > tls.ext <<END
subjectAltName=DNS:nats-0.nats-nodes,DNS:nats-1.nats-nodes,DNS:nats-2.nats-nodes
extendedKeyUsage=serverAuth,clientAuth
END
openssl x509 -req -days 1825 -in tls.csr -extfile tls.ext -CA ca.crt -CAkey ca.key -out tls.crt
rm tls.csr tls.ext
