#!/bin/sh
# Renders our overlays with the digests of a release, and writes their checksums beside them:
#   sh k8s/render-release.sh images.json rendered
# `images.json` is the component that .github/workflows/release.yml makes. The tree itself stays as it is.
set -eu

images="$1"
rendered="$2"
kubectl="${KUBECTL:-kubectl}"

root="$(cd "$(dirname "$0")/.." && pwd)"
copy="$(mktemp -d)"
trap 'rm -rf "$copy"' EXIT
mkdir -p "$rendered" "$copy/crates/broker"
cp -R "$root/k8s" "$copy/"
cp -R "$root/crates/broker/nats" "$copy/crates/broker/"

# After the other components, which have images of ours, too. `local` has those of `small`.
for overlay in drill production small; do
  folder="$copy/k8s/overlays/$overlay"
  mkdir "$folder/images"
  cp "$images" "$folder/images/kustomization.yaml"
  awk '
    within && !/^  / { print "  - images"; within = 0 }
    { print }
    /^components:$/ { within = 1; found = 1 }
    END { if (!found) print "components:"; if (within || !found) print "  - images" }
  ' "$folder/kustomization.yaml" > "$folder/with-images"
  mv "$folder/with-images" "$folder/kustomization.yaml"
done

for overlay in drill local production small; do
  "$kubectl" kustomize "$copy/k8s/overlays/$overlay" > "$rendered/$overlay.yaml"
done
cd "$rendered"
sha256sum -- *.yaml > SHA256SUMS
