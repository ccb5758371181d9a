#!/bin/sh
# Writes the certificate of the broker's routes into a folder: tls.crt and tls.key, signed by ca.crt. Creates
# the authority (ca.crt, ca.key) if the folder has none.
set -eu
umask 077
mkdir -p "$1"
cd "$1"
if [ ! -e ca.key ]; then
  openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -keyout ca.key -out ca.crt \
    -subj "/CN=Routes of the broker" -addext "keyUsage=critical,keyCertSign"
fi
openssl req -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout tls.key -out tls.csr -subj "/CN=nats"
# Names of the servers (stateful-set.yaml), each also a client of the others.
cat > tls.ext <<END
subjectAltName=DNS:nats-0.nats-nodes,DNS:nats-1.nats-nodes,DNS:nats-2.nats-nodes
extendedKeyUsage=serverAuth,clientAuth
END
openssl x509 -req -days 1825 -in tls.csr -extfile tls.ext -CA ca.crt -CAkey ca.key -out tls.crt
rm tls.csr tls.ext
