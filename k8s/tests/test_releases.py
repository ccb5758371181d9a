"""How a release reaches a cluster: Argo CD, Flux, signatures, the canary and rendered manifests."""

import json
import os
import re
import shutil
import subprocess
import tarfile
from copy import deepcopy
from fnmatch import fnmatchcase

import pytest
import yaml
from flows import flows
from tree import K8S, PRODUCTION, ROOT, changed_production, named, of_kind, released, render, render_with, tool, workloads

RELEASE = ROOT / ".github/workflows/release.yml"
HOOK = "argocd.argoproj.io/hook"
OPTIONS = "argocd.argoproj.io/sync-options"
FORCE = "kustomize.toolkit.fluxcd.io/force"
PRUNE = "kustomize.toolkit.fluxcd.io/prune"
# Kinds that hold data, or whose deletion would delete it.
HOLDING_DATA = ("Namespace", "PersistentVolumeClaim", "StatefulSet")


def application():
    [found] = of_kind(render("examples/argo-cd"), "Application")
    return found


def flux():
    [found] = of_kind(render("examples/flux"), "Kustomization")
    return found


def by_argo_cd():
    return render_with([], application()["spec"]["source"]["kustomize"]["patches"])


def by_flux():
    return render_with([], flux()["spec"]["patches"])


def annotated(objects, annotation):
    told = {(found["kind"], found["metadata"]["name"]): found["metadata"].get("annotations", {}) for found in objects}
    return {who: annotations[annotation] for who, annotations in told.items() if annotation in annotations}


def all_of(objects, *kinds):
    return {(found["kind"], found["metadata"]["name"]) for found in of_kind(objects, *kinds)}


def test_argo_cd_and_flux_apply_a_companys_overlay():
    assert application()["spec"]["source"]["path"] == "k8s/overlays/mine"
    assert flux()["spec"]["path"] == "./k8s/overlays/mine"
    [source] = of_kind(render("examples/flux"), "GitRepository")
    assert flux()["spec"]["sourceRef"] == {"kind": "GitRepository", "name": source["metadata"]["name"]}
    [namespace] = of_kind(render(PRODUCTION), "Namespace")
    assert application()["spec"]["destination"]["namespace"] == namespace["metadata"]["name"]


def test_argo_cd_runs_the_job_once_in_each_sync():
    objects = by_argo_cd()
    assert annotated(objects, HOOK) == {("Job", "setup"): "Sync"}
    assert annotated(objects, f"{HOOK}-delete-policy") == {("Job", "setup"): "BeforeHookCreation"}
    # No waves: each would wait for the one before, but broker, job and services wait for each other.
    assert annotated(objects, "argocd.argoproj.io/sync-wave") == {}
    assert "syncOptions" not in application()["spec"]["syncPolicy"]


def test_flux_replaces_only_the_job_and_keeps_it():
    objects = by_flux()
    assert annotated(objects, FORCE) == {("Job", "setup"): "enabled"}
    assert "force" not in flux()["spec"]
    assert "ttlSecondsAfterFinished" in named(render(PRODUCTION), "Job")["setup"]["spec"]
    assert "ttlSecondsAfterFinished" not in named(objects, "Job")["setup"]["spec"]


def test_flux_waits_for_all_workloads_until_the_jobs_deadline():
    spec = flux()["spec"]
    checked = {(check["kind"], check["name"]) for check in spec["healthChecks"]}
    objects = by_flux()
    assert checked == all_of(objects, "Deployment", "StatefulSet", "Job")
    assert {check["namespace"] for check in spec["healthChecks"]} == {"site"}
    assert spec["timeout"] == f"{named(objects, 'Job')['setup']['spec']['activeDeadlineSeconds'] // 60}m"


def test_argo_cd_and_flux_prune_no_data_and_no_maps():
    argo_cd = annotated(by_argo_cd(), OPTIONS)
    kept = all_of(render(PRODUCTION), *HOLDING_DATA)
    maps = all_of(render(PRODUCTION), "ConfigMap", "Secret")
    assert {who for who, said in argo_cd.items() if said == "Prune=false,Delete=false"} == kept
    assert {who for who, said in argo_cd.items() if said == "Prune=false"} == maps
    # Otherwise an old map would count as a difference forever.
    assert annotated(by_argo_cd(), "argocd.argoproj.io/compare-options") == dict.fromkeys(maps, "IgnoreExtraneous")
    assert annotated(by_flux(), PRUNE) == dict.fromkeys(kept | maps, "disabled")
    assert flux()["spec"]["deletionPolicy"] == "Orphan"
    assert "finalizers" not in application()["metadata"]


def test_argo_cd_and_flux_change_only_the_job():
    before = {(found["kind"], found["metadata"]["name"]): found.get("spec") for found in render(PRODUCTION)}
    for objects in (by_argo_cd(), by_flux()):
        after = {(found["kind"], found["metadata"]["name"]): found.get("spec") for found in objects}
        assert {who for who in before | after if before.get(who) != after.get(who)} <= {("Job", "setup")}


def policy():
    [found] = of_kind(render("examples/image-signatures"), "ImageValidatingPolicy")
    return found["spec"]


def test_the_signature_policy_applies_only_to_our_images():
    [reference] = policy()["matchImageReferences"]
    images = {pod.container["image"] for pod in workloads(render(PRODUCTION))}
    taken = {image for image in images if fnmatchcase(image, reference["glob"])}
    assert taken == {image for image in images if image.startswith("registry.example/")}
    assert taken < images
    assert policy()["matchConstraints"]["namespaceSelector"]["matchLabels"] == {
        "kubernetes.io/metadata.name": of_kind(render(PRODUCTION), "Namespace")[0]["metadata"]["name"]
    }


def test_the_signature_policy_applies_to_every_container():
    [validation] = policy()["validations"]
    kinds = set(re.findall(r"images\.(\w+)", validation["expression"]))
    assert kinds == {"containers", "initContainers", "ephemeralContainers"}
    [rule] = policy()["matchConstraints"]["resourceRules"]
    assert set(rule["resources"]) == {"pods", "pods/ephemeralcontainers"}


def test_the_signature_policy_trusts_only_the_release_workflow():
    text = RELEASE.read_text()
    # Keyless: the certificate has the identity that GitHub gives to a workflow.
    assert "id-token: write" in text and 'cosign sign --yes "$image"' in text and "--key" not in text
    assert 'tags: ["v*"]' in text
    [attestor] = policy()["attestors"]
    [identity] = attestor["cosign"]["keyless"]["identities"]
    documented = (ROOT / "docs/supply-chain.md").read_text()
    assert f"--certificate-oidc-issuer {identity['issuer']}" in documented
    mine = "https://github.com/example/site/.github/workflows/release.yml@refs/tags/v1.2.3"
    assert re.search(identity["subjectRegExp"], mine)
    [shown] = re.findall(r"--certificate-identity-regexp '(\S+release\S+)'", documented)
    assert re.search(shown.replace("<owner>/<repository>", "example/site"), mine)
    for other in (
        mine.replace("tags/v1.2.3", "heads/main"),
        mine.replace("release.yml", "ci.yml"),
        mine.replace("example/site", "example/site-fork"),
        mine.replace("github.com", "githubXcom"),
        f"https://other.example/?{mine}",
    ):
        assert not re.search(identity["subjectRegExp"], other), other


def test_the_canary_is_the_gateway_under_another_name():
    objects = render_with(["canary"])
    deployments = deepcopy(named(objects, "Deployment"))
    stable, canary = deployments["gateway"], deployments["gateway-canary"]
    # Its TLS files are there only with the component tls.
    optional = '"optional": true, '
    assert json.dumps(canary).count(optional) == 2
    renamed = json.loads(json.dumps(canary).replace(optional, "").replace('"gateway-canary"', '"gateway"'))
    assert renamed["spec"].pop("replicas") == 1
    # The canary may be evicted before other pods.
    assert stable["spec"]["template"]["spec"].pop("priorityClassName")
    for deployment in (renamed, stable):
        del deployment["spec"]["template"]["spec"]["containers"][0]["image"]
    assert renamed["spec"] == stable["spec"]
    pods = {pod.name: pod for pod in workloads(objects)}
    assert pods["gateway-canary"].settings == pods["gateway"].settings
    assert pods["gateway-canary"].secret_files() == pods["gateway"].secret_files()


def test_the_canary_has_its_own_image(tmp_path):
    """The overlay's tag for the gateway does not replace the canary's digest."""
    kept = {}

    def take_it(kustomization):
        kustomization["components"] = ["../../components/canary"]
        [stable] = [image for image in kustomization["images"] if image["name"] == "gateway"]
        kept.update(stable)

    images = {pod.name: pod.container["image"] for pod in workloads(changed_production(tmp_path, change_on_top=take_it))}
    [tried] = yaml.safe_load((K8S / "components/canary/gateway/kustomization.yaml").read_text())["images"]
    assert images["gateway"] == f"{kept['newName']}:{kept['newTag']}"
    assert images["gateway-canary"] == f"{tried['newName']}@{tried['digest']}"


def test_the_canary_gets_a_share_of_the_gateways_requests_only():
    before = named(render_with([]), "HTTPRoute")["site"]["spec"]["rules"]
    after = named(render_with(["canary"]), "HTTPRoute")["site"]["spec"]["rules"]
    for old, new in zip(before, after, strict=True):
        if old["backendRefs"] == [{"name": "gateway", "port": 80}]:
            weights = {backend["name"]: backend["weight"] for backend in new["backendRefs"]}
            assert set(weights) == {"gateway", "gateway-canary"}
            assert sum(weights.values()) == 100
            assert weights["gateway-canary"] == 5
            assert {backend["port"] for backend in new["backendRefs"]} == {80}
            assert new | {"backendRefs": old["backendRefs"]} == old
        else:
            assert new == old
    # Each service leads to its own pods only.
    services = named(render_with(["canary"]), "Service")
    assert services["gateway"]["spec"]["selector"] == {"app.kubernetes.io/name": "gateway"}
    assert services["gateway-canary"]["spec"]["selector"] == {"app.kubernetes.io/name": "gateway-canary"}


def test_the_canary_has_the_gateways_network_flows():
    before, after = flows(render_with([])), flows(render_with(["canary"]))
    assert before < after
    mine = {
        tuple("gateway-canary" if part == "gateway" else part for part in flow) for flow in before if "gateway" in flow[:2]
    }
    assert after - before == mine


def run_step(name, folder, **variables):
    """Runs a step of the release workflow. Its steps call stand-ins of cosign, oras and gh, which note their arguments."""
    steps = yaml.safe_load(RELEASE.read_text())["jobs"]["publish"]["steps"]
    [step] = [step for step in steps if step.get("name") == name]
    programs = folder / "programs"
    programs.mkdir(exist_ok=True)
    for program in ("cosign", "oras", "gh"):
        (programs / program).write_text(f'#!/bin/sh\necho "{program} $*" >> {folder}/calls\necho pushed@sha256:1\n')
        (programs / program).chmod(0o755)
    environment = {"PATH": f"{programs}:{os.environ['PATH']}", "KUBECTL": str(tool("kubectl")), **variables}
    command = ["bash", "-euo", "pipefail", "-c", step["run"]]
    place = folder / step.get("working-directory", "")
    return subprocess.run(command, cwd=place, env=environment, capture_output=True, text=True, timeout=120)


@pytest.fixture(scope="module")
def release(tmp_path_factory):
    """The files of a release with example digests."""
    folder = tmp_path_factory.mktemp("release")
    for part in ("k8s", "crates/broker/nats", "compose"):
        shutil.copytree(ROOT / part, folder / part, symlinks=True)
    component = {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component", "images": released()}
    (folder / "images.json").write_text(json.dumps(component))
    made = run_step("Make the release's files, and sign their checksums", folder)
    assert made.returncode == 0, made.stderr
    return folder


def test_a_release_renders_both_profiles_with_its_digests(release):
    digests = {image["name"]: f"{image['newName']}@{image['digest']}" for image in released()}
    for profile in ("small", "production"):
        expected = {pod.name: pod for pod in workloads(render(f"overlays/{profile}"))}
        objects = yaml.safe_load_all((release / f"release/{profile}.yaml").read_text())
        images = {pod.name: pod.container["image"] for pod in workloads([found for found in objects if found])}
        assert images == {name: digests.get(pod.image, pod.container["image"]) for name, pod in expected.items()}
        assert set(images.values()) & set(digests.values())


def test_a_release_has_the_files_of_a_single_machine_without_links(release):
    with tarfile.open(release / "release/site-compose.tar.gz") as archive:
        files = {member.name: member for member in archive}
        users = archive.extractfile("compose/users.conf").read()
    assert {"compose/compose.yaml", "compose/Caddyfile"} <= set(files)
    assert all(member.isfile() or member.isdir() for member in files.values())
    assert users == (ROOT / "crates/broker/nats/users.conf").read_bytes()


def test_a_release_is_signed_and_published_twice(release):
    (release / "notes.md").write_text("New.")
    pushed = run_step("Push them to the registry, too", release, MANIFESTS="ghcr.io/owner/site/manifests:1.2.3")
    created = run_step("Create the release", release, GITHUB_REF_NAME="v1.2.3")
    assert pushed.returncode == created.returncode == 0, pushed.stderr + created.stderr
    folder = release / "release"
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=folder, check=True, capture_output=True)
    listed = {line.split()[1] for line in (folder / "SHA256SUMS").read_text().splitlines()}
    assert listed == {"images.json", "small.yaml", "production.yaml", "site-compose.tar.gz"}
    signed, oci, oci_signed, github = (release / "calls").read_text().splitlines()
    assert signed == "cosign sign-blob --yes --bundle SHA256SUMS.sigstore.json SHA256SUMS"
    assert oci_signed == "cosign sign --yes pushed@sha256:1"
    assert oci.startswith("oras push ") and " ghcr.io/owner/site/manifests:1.2.3 " in oci
    assert github.startswith("gh release create v1.2.3 ") and " --notes-file notes.md " in github
    for file in [*listed, "SHA256SUMS"]:
        assert f" {file}" in oci and f" release/{file}" in github


def test_a_release_needs_its_section_of_the_changelog(tmp_path):
    (tmp_path / "CHANGELOG.md").write_text("# Changelog\n\n## 1.2.3\n\nNew.\n\n## 1.2.2\n\nOld.\n")
    (tmp_path / "Cargo.toml").write_text('[workspace.package]\nversion = "1.2.3"\n')
    step = "Take the notes from the changelog"
    assert run_step(step, tmp_path, GITHUB_REF_NAME="v1.2.3").returncode == 0
    assert (tmp_path / "notes.md").read_text().strip() == "New."
    assert run_step(step, tmp_path, GITHUB_REF_NAME="v1.2.4").returncode != 0
