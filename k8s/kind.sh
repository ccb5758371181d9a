#!/usr/bin/env bash
# The local demo on a cluster of its own, in kind: builds the images, starts everything, and sends the three forms, once as it
# came up, once after every pod was deleted, and once after everything was rolled. Then the cluster is deleted.
#   cargo xtask kind              it all, in half an hour, most of it the build
#   KEEP=1 cargo xtask kind       leaves the cluster there, to look at
# Wants kind 0.24 or newer (whose network enforces policies), docker with buildx, kubectl 1.30 or newer, and curl.
set -euo pipefail

cluster='site-demo'
overlay=k8s/overlays/local
# The HTTPRoute of the overlay wants its kind. No Gateway is there: forms go through a port-forward, as k8s/README.md has it.
gateway_api=https://github.com/kubernetes-sigs/gateway-api/releases/download/v1.4.0/standard-install.yaml
site=127.0.0.1:18080
health=127.0.0.1:18090
inbox=127.0.0.1:18025
ours=(gateway contact newsletter careers notifier web-shell web-blog web-careers)
# To sales and to the visitor, a confirmation, to the recruiters and to the applicant.
mails_of_a_round=5

cd "$(dirname "$0")/.."
forwards=()

k() {
  kubectl --context "kind-$cluster" --namespace site "$@"
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

# `rollout status` ends where a rollout makes no progress, too.
wait_for_all() {
  k rollout status statefulset/nats --timeout=10m
  for name in s3 mail "${ours[@]}"; do
    k rollout status "deployment/$name" --timeout=10m
  done
}

# A port-forward ends with the pod that it leads to, so each round has its own.
forward() {
  k port-forward svc/gateway 18080:80 18090:8090 > "$work/gateway.log" 2>&1 &
  forwards+=("$!")
  k port-forward svc/mail 18025:8025 > "$work/mail.log" 2>&1 &
  forwards+=("$!")
  # The gateway is ready by this path where every form would be taken.
  until_ready "http://$health/readyz"
  until_ready "http://$inbox/readyz"
}

until_ready() {
  curl --silent --show-error --fail --output "$work/answer" --max-time 10 --retry 60 --retry-delay 1 --retry-all-errors "$1"
}

post() {
  curl --silent --show-error --fail-with-body --max-time 60 "$@"
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

say "Applying the local demo"
k apply --server-side --filename "$gateway_api"
kubectl --context "kind-$cluster" wait --for=condition=Established --timeout=2m crd/httproutes.gateway.networking.k8s.io
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
