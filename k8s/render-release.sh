#!/bin/sh
# Renders both profiles with the digests of a release:
#   sh k8s/render-release.sh images.json release
# `images.json` is the component that .github/workflows/release.yml makes. The tree itself stays as it is.
set -eu

images="$1"
rendered="$2"
kubectl="${KUBECTL:-kubectl}"

root="$(cd "$(dirname "$0")/.." && pwd)"
copy="$(mktemp -d)"
trap 'rm -rf "$copy"' EXIT
overlays="$copy/k8s/overlays"
mkdir -p "$rendered" "$copy/crates/broker"
cp -R "$root/k8s" "$copy/"
cp -R "$root/crates/broker/nats" "$copy/crates/broker/"
mkdir "$overlays/images"
cp "$images" "$overlays/images/kustomization.yaml"

# On top of the profile, as a company's overlay does, because a profile may rename an image.
for profile in small production; do
  mkdir "$overlays/released-$profile"
  printf 'resources: [../%s]\ncomponents: [../images]\n' "$profile" > "$overlays/released-$profile/kustomization.yaml"
  "$kubectl" kustomize "$overlays/released-$profile" > "$rendered/$profile.yaml"
done
