#!/usr/bin/env bash
# Tries docs/operations.md on a cluster of kind: Install; with `production` also a drained node, Upgrade, Rollback, Backup and Restore.
#   k8s/kind.sh local|production
# NOT RUN: nobody has run this script yet. Its commands are those of the page, so correct both together.
# Wants docker with buildx, kind 0.32, kubectl, curl, jq, openssl and age; for production 16 GB of memory and the internet.
# The cluster has no secret store, no metrics-server and no telemetry backends. Afterwards: kind delete cluster --name site
set -euxo pipefail
set -m # Each port-forward is a process group.
cd "$(dirname "$0")/.."
site=https://www.kind.test
work="$(mktemp -d)"
mails=0
trap 'jobs -p | xargs -I{} kill -- -{}; rm -rf "$work"' EXIT

load() {
  VERSION="$1" docker buildx bake
  docker image ls --filter "reference=localhost/site/*:$1" --format '{{.Repository}}:{{.Tag}}' | xargs kind load docker-image --name site
}

# A port-forward ends with its pod, so it is repeated.
forward() { while sleep 1; do kubectl -n "$1" port-forward "$2" "$3" > /dev/null || true; done & }

apply() {
  kubectl apply -k "k8s/overlays/$1"
  timeout 15m sh -c "until kubectl -n site get job setup -o 'jsonpath={.status.conditions[*].type}' | grep -E 'Complete|Failed'; do sleep 5; done" | grep -w Complete
  roll_out
}
roll_out() {
  (for name in $(kubectl -n site get deployment,statefulset -o name); do kubectl -n site rollout status "$name" --timeout=15m || exit 1; done)
}

finish() {
  until kubectl -n site get "job/$1" -o 'jsonpath={.status.conditions[*].type}' | grep -wE 'Complete|Failed'; do sleep 5; done
  kubectl -n site logs "job/$1"
  kubectl -n site wait "job/$1" --for=condition=Complete --timeout=1s
}
backup() {
  now="backup-$(date +%Y%m%d-%H%M)"
  kubectl -n site create job --from=cronjob/backup "$now"
  finish "$now"
}

# Sends three forms, and waits for their five mails.
post() {
  curl --fail-with-body --silent --show-error --retry 30 --retry-delay 2 --retry-all-errors \
    --insecure --connect-to www.kind.test:443:localhost:8443 "$site/api/$1" "${@:2}"
}
send_forms() {
  person="ada-$RANDOM$RANDOM@kind.test"
  printf '%%PDF-1.7\n1 0 obj\n<< >>\nendobj\nstartxref\n0\n%%%%EOF\n' > "$work/resume.pdf"
  post contact --json '{"name": "Ada Lovelace", "email": "'"$person"'", "message": "Do you have cameras?"}'
  post newsletter --json '{"email": "'"$person"'"}'
  post career-application -F name=Ada -F "email=$person" -F position=Intern -F coverLetter=Hello -F "resume=@$work/resume.pdf"
  mails=$((mails + 5))
  timeout 5m sh -c "until curl --silent 'http://localhost:8025/api/v1/messages?limit=1' | jq --exit-status '.total >= $mails'; do sleep 2; done"
}

# Cluster of three zones
worker() { echo "{role: worker, labels: {topology.kubernetes.io/zone: $1}}"; }
kind create cluster --name site --config - \
  <<< "{apiVersion: kind.x-k8s.io/v1alpha4, kind: Cluster, nodes: [{role: control-plane}, $(worker a), $(worker b), $(worker c)]}"
load dev
if [ "${1:?local or production}" = local ]; then
  apply local
  forward site service/gateway 8080:80 && forward site service/mail 8025:8025
  site=http://localhost:8080 send_forms
  exit
fi
load next

# Prerequisites
release() { kubectl apply --server-side -f "https://github.com/$1/releases/download/$2"; }
release envoyproxy/gateway v1.9.0/install.yaml
release cert-manager/cert-manager v1.21.1/cert-manager.yaml
release kedacore/keda v2.20.2/keda-2.20.2.yaml
release prometheus-operator/prometheus-operator v0.93.0/stripped-down-crds.yaml
for operator in envoy-gateway-system cert-manager keda; do kubectl -n $operator wait deployment --all --for=condition=Available --timeout=10m; done

# Overlays are written into a copy.
mkdir -p "$work/crates/broker"
cp -R crates/broker/nats "$work/crates/broker/" && cp -R k8s "$work/" && cd "$work"

# An S3 server and an inbox, outside of the site's namespace and of the node that is drained
key="p$(openssl rand -hex 24)"
kubectl create namespace stores
kubectl -n stores create secret generic s3 --from-literal=access-key-id=site --from-literal="secret-access-key=$key"
for store in s3 mail; do
  sed 's#^      enableServiceLinks: false$#&\n      nodeSelector: {topology.kubernetes.io/zone: a}#' "k8s/components/local-stores/$store.yaml" | kubectl -n stores apply -f -
done
forward stores service/s3 9000:9000 && forward stores service/mail 8025:8025
curl --fail --retry 60 --retry-all-errors --aws-sigv4 aws:amz:us-east-1:s3 --user "site:$key" -X PUT 'http://localhost:9000/{backups,resumes-restored}'

# Gateway
sed -i 's/gatewayClassName: example/gatewayClassName: envoy/; s/example\.com/kind.test/' k8s/examples/gateway/gateway.yaml
kubectl apply -k k8s/examples/gateway
openssl req -x509 -newkey rsa:2048 -nodes -days 30 -subj /CN=www.kind.test -keyout tls.key -out tls.crt
kubectl -n gateways create secret tls site-tls --cert=tls.crt --key=tls.key
kubectl label namespace envoy-gateway-system site/way-in=true
kubectl apply -f - <<< '{apiVersion: gateway.networking.k8s.io/v1, kind: GatewayClass, metadata: {name: envoy},
  spec: {controllerName: gateway.envoyproxy.io/gatewayclass-controller}}'

# Install
cp -R k8s/examples/overlay-production k8s/overlays/mine
age-keygen -o identity.txt
sed -i -E -e 's/access-key-id=.*/access-key-id=site/' -e "s/secret-access-key=.*/secret-access-key=$key/" -e "s/age1example/$(age-keygen -y identity.txt)/" \
  -e ':a' -e 's/(=example[a-z0-9]*)-/\1/' -e 'ta' -e "s/=example/=$key/" k8s/overlays/mine/secrets/*.env
sed -i -E -e 's#registry.example/site#localhost/site#; s/newTag: example/newTag: dev/; s#https://s3.example.(com|net)#http://s3.stores:9000#' \
  -e 's/smtp.example.com/mail.stores/; s/SMTP_PORT=587/SMTP_PORT=1025/; s/starttls/none/; /SMTP_USER|SMTP_PASSWORD/d; s/example.(com|net)/kind.test/' \
  -e 's#^  - ../../overlays/production$#&\n  - to-stores.yaml#' k8s/overlays/mine/kustomization.yaml
cat > k8s/overlays/mine/to-stores.yaml <<< '{apiVersion: networking.k8s.io/v1, kind: NetworkPolicy, metadata: {name: to-stores}, spec: {podSelector: {},
  policyTypes: [Egress], egress: [{to: [{namespaceSelector: {matchLabels: {kubernetes.io/metadata.name: stores}}}]}]}}'
apply mine
forward envoy-gateway-system "$(kubectl -n envoy-gateway-system get service -l gateway.envoyproxy.io/owning-gateway-name=public -o name)" 8443:443
send_forms

# Loss of a node
kubectl drain -l topology.kubernetes.io/zone=c --ignore-daemonsets --delete-emptydir-data --timeout=15m
send_forms
kubectl uncordon -l topology.kubernetes.io/zone=c && roll_out

# Upgrade
backup
sed -i 's/newTag: dev/newTag: next/' k8s/overlays/mine/kustomization.yaml
kubectl -n site delete job setup --ignore-not-found
apply mine
send_forms

# Rollback
for name in gateway contact newsletter careers notifier web-shell web-blog web-careers; do kubectl -n site rollout undo "deployment/$name"; done
roll_out
send_forms

# Restore
backup
mkdir k8s/overlays/restore
echo '{namespace: site, resources: [../mine], components: [../../components/restore]}' > k8s/overlays/restore/kustomization.yaml
kubectl -n site delete scaledobject --all
kubectl -n site delete deployment,cronjob,job,hpa --all --cascade=foreground
kubectl -n site delete statefulset nats --cascade=foreground
kubectl -n site delete pvc data-nats-0 data-nats-1 data-nats-2
sed -i 's/S3_BUCKET=resumes/S3_BUCKET=resumes-restored/' k8s/overlays/mine/kustomization.yaml
kubectl -n site create secret generic backup-identity --from-file=identity=identity.txt
kubectl apply -k k8s/overlays/restore
kubectl -n site rollout status statefulset/nats --timeout=15m
kubectl -n site patch job restore --type=merge -p '{"spec":{"suspend":false}}'
finish restore
kubectl -n site delete job restore
kubectl -n site delete secret backup-identity
apply mine
send_forms
