#!/usr/bin/env bash
# The local demo on a cluster of its own, in kind, behind a Gateway: builds the images, starts everything, and sends the three forms
# through the Gateway, once as it came up, once after every pod was deleted, and once after everything was rolled. Then the cluster is deleted.
#   bash k8s/kind.sh              it all, in half an hour, most of it the build
#   KEEP=1 bash k8s/kind.sh       leaves the cluster there, to look at
# Wants kind 0.24 or newer (whose network enforces policies), docker with buildx, kubectl 1.30 or newer, curl and sha256sum.
set -euo pipefail

cluster='site-demo'
overlay=k8s/tests/kind
# As https://docs.nginx.com/nginx-gateway-fabric/install/manifests/open-source has it: the Gateway API that the release is made for,
# its own kinds, and the one of its manifests that wants no load balancer of the cluster. Its proxies run beside their Gateway, in a
# namespace that the example labels `site/way-in=true`. It takes routes with timeouts, and passes these over.
gateway_api=https://github.com/kubernetes-sigs/gateway-api/releases/download/v1.5.1/standard-install.yaml
nginx=https://raw.githubusercontent.com/nginx/nginx-gateway-fabric/v2.6.7/deploy
nginx_kinds=942d031b4f5d0cd57194c8d0d6e7a09bddf4ced3e59609dd390db013434ec8fa
nginx_deployment=d45f7e471b8efd858f857fee863e281cfd54a25715933f49d7330073e5f59374
# The Gateway listens for this name alone.
site=www.example.com:18080
health=127.0.0.1:18090
inbox=127.0.0.1:18025
ours=(gateway contact newsletter careers notifier web-shell web-blog web-careers)
# To sales and to the visitor, a confirmation, to the recruiters and to the applicant.
mails_of_a_round=5

cd "$(dirname "$0")/.."
forwards=()

in_cluster() {
  kubectl --context "kind-$cluster" "$@"
}

k() {
  in_cluster --namespace site "$@"
}

say() {
  printf '\n== %s\n' "$*"
}

stop_forwards() {
  if ((${#forwards[@]})); then
    kill "${forwards[@]}" 2> "$work/killed" || true
    wait "${forwards[@]}" 2> "$work/killed" || true
  fi
  forwards=()
}

clean_up() {
  status=$?
  stop_forwards
  if ((status != 0)); then
    say "It failed. What there is:"
    k get pods,jobs --output wide || true
    k get events --sort-by=.lastTimestamp | tail -30 || true
    k get httproutes --output yaml || true
    in_cluster --namespace gateways get gateways,pods,services --output wide || true
    in_cluster --namespace nginx-gateway logs deployment/nginx-gateway --tail=20 || true
    for name in setup "${ours[@]}"; do
      k logs --selector "app.kubernetes.io/name=$name" --tail=20 --prefix || true
    done
  fi
  rm -rf "$work"
  if [[ -n "${KEEP:-}" ]]; then
    say "The cluster stays; kind delete cluster --name $cluster removes it."
  else
    kind delete cluster --name "$cluster"
  fi
}

# Until the job ends, one way or the other: `kubectl wait` knows only the one that it is told.
wait_for_setup() {
  for _ in {1..180}; do
    state="$(k get job/setup --output 'jsonpath={.status.conditions[?(@.status=="True")].type}')"
    case " $state " in
      *" Complete "*) return 0 ;;
      *" Failed "*)
        echo "The job setup failed." >&2
        return 1
        ;;
    esac
    sleep 5
  done
  echo "The job setup did not end within 15 minutes." >&2
  return 1
}

# Downloads what has this checksum, and nothing else.
download() {
  curl --silent --show-error --fail --location --max-time 120 --output "$work/$3" "$1"
  sha256sum --check --quiet <<< "$2  $work/$3"
}

install_gateway() {
  in_cluster apply --server-side --filename "$gateway_api"
  in_cluster wait --for=condition=Established --timeout=2m crd/httproutes.gateway.networking.k8s.io
  download "$nginx/crds.yaml" "$nginx_kinds" kinds.yaml
  download "$nginx/nodeport/deploy.yaml" "$nginx_deployment" deployment.yaml
  in_cluster apply --server-side --filename "$work/kinds.yaml"
  in_cluster apply --filename "$work/deployment.yaml"
  in_cluster --namespace nginx-gateway wait --timeout=5m deployment/nginx-gateway --for=condition=Available
  in_cluster apply --kustomize k8s/tests/kind/gateway
  in_cluster --namespace gateways wait --timeout=5m gateway/public --for=condition=Programmed
  wait_for_proxies
}

# They are named by the Gateway and its class, and come some time after the Gateway.
wait_for_proxies() {
  for _ in {1..60}; do
    if in_cluster --namespace gateways get deployment/public-nginx > "$work/proxies" 2>&1; then
      in_cluster --namespace gateways rollout status deployment/public-nginx --timeout=5m
      return
    fi
    sleep 2
  done
  echo "The Gateway got no proxies within two minutes." >&2
  return 1
}

# `rollout status` ends where a rollout makes no progress, too.
wait_for_all() {
  k rollout status statefulset/nats --timeout=10m
  for name in s3 mail "${ours[@]}"; do
    k rollout status "deployment/$name" --timeout=10m
  done
}

# A port-forward ends with the pod that it leads to, so each round has its own.
forward() {
  in_cluster --namespace gateways port-forward svc/public-nginx 18080:80 > "$work/public.log" 2>&1 &
  forwards+=("$!")
  k port-forward svc/gateway 18090:8090 > "$work/gateway.log" 2>&1 &
  forwards+=("$!")
  k port-forward svc/mail 18025:8025 > "$work/mail.log" 2>&1 &
  forwards+=("$!")
  # The gateway is ready by this path where every form would be taken.
  until_ready "http://$health/readyz"
  until_ready "http://$inbox/readyz"
  # The Gateway knows the pods that there are now.
  until_ready "http://$site/"
  until_ready "http://$site/api/openapi.json"
}

until_ready() {
  curl --silent --show-error --fail --resolve "$site:127.0.0.1" --output "$work/answer" --max-time 10 \
    --retry 60 --retry-delay 1 --retry-all-errors "$1"
}

post() {
  curl --silent --show-error --fail-with-body --resolve "$site:127.0.0.1" --max-time 60 "$@"
  echo
}

# The three forms, of a visitor whom no other round has.
send_forms() {
  visitor="$1@example.org"
  post --json "{\"name\":\"Zoe\",\"email\":\"$visitor\",\"message\":\"Hello from $1\"}" "http://$site/api/contact"
  post --json "{\"email\":\"$visitor\"}" "http://$site/api/newsletter"
  printf '%%PDF-1.7\n1 0 obj\n<< /Type /Catalog >>\nendobj\ntrailer\n<< /Root 1 0 R >>\nstartxref\n0\n%%%%EOF\n' > "$work/resume.pdf"
  post --form name=Zoe --form "email=$visitor" --form "position=Intern" --form "coverLetter=Hello from $1" \
    --form "resume=@$work/resume.pdf;type=application/pdf" "http://$site/api/career-application"
}

mails() {
  curl --silent --show-error --fail --max-time 10 "http://$inbox/api/v1/messages?limit=1" | sed -E 's/.*"total":([0-9]+).*/\1/'
}

wait_for_mails() {
  for _ in {1..60}; do
    there="$(mails)"
    if ((there >= $1)); then
      echo "$there mails are in the inbox"
      return 0
    fi
    sleep 2
  done
  echo "$there mails are in the inbox, and not $1." >&2
  return 1
}

round() {
  say "Forms: $1"
  forward
  # The inbox keeps nothing when its pod is replaced.
  before="$(mails)"
  send_forms "$1"
  wait_for_mails "$((before + mails_of_a_round))"
  stop_forwards
}

say "Building the images"
docker buildx bake --load

say "Starting a cluster"
# One that fails to start is taken away by kind itself, and one of that name that is there already stays.
kind create cluster --name "$cluster" --wait 5m
work="$(mktemp -d)"
trap clean_up EXIT
mapfile -t images < <(kubectl kustomize "$overlay" | sed -nE 's/^ +(- )?image: (localhost\/.*)$/\2/p' | sort --unique)
kind load docker-image --name "$cluster" "${images[@]}"

say "Installing a Gateway"
install_gateway

say "Applying the local demo"
k apply --kustomize "$overlay"
wait_for_setup
wait_for_all
round started

say "Deleting every pod of ours, and the broker's"
k delete pod --selector "app.kubernetes.io/name in ($(IFS=,; echo "${ours[*]}"),nats)"
wait_for_all
round deleted

say "Rolling everything"
k rollout restart statefulset/nats
k rollout status statefulset/nats --timeout=10m
for name in "${ours[@]}"; do
  k rollout restart "deployment/$name"
done
wait_for_all
round rolled

say "All forms were taken, and all mails came."
