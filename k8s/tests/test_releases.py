"""How a release reaches a cluster: by Argo CD or Flux, signed, by a canary first, and rendered."""

import json
import os
import re
import subprocess
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
# What holds data, or takes it along when it is deleted.
HOLDING_DATA = ("Namespace", "PersistentVolumeClaim", "StatefulSet")


def application():
    [found] = of_kind(render("examples/argo-cd"), "Application")
    return found


def flux():
    [found] = of_kind(render("examples/flux"), "Kustomization")
    return found


def by_argo_cd():
    """Production as Argo CD applies it."""
    return render_with([], application()["spec"]["source"]["kustomize"]["patches"])


def by_flux():
    return render_with([], flux()["spec"]["patches"])


def annotated(objects, annotation):
    """The objects with an annotation, and what it says."""
    told = {(found["kind"], found["metadata"]["name"]): found["metadata"].get("annotations", {}) for found in objects}
    return {who: annotations[annotation] for who, annotations in told.items() if annotation in annotations}


def all_of(objects, *kinds):
    return {(found["kind"], found["metadata"]["name"]) for found in of_kind(objects, *kinds)}


def test_both_keep_a_company_s_overlay():
    assert application()["spec"]["source"]["path"] == "k8s/overlays/mine"
    assert flux()["spec"]["path"] == "./k8s/overlays/mine"
    [source] = of_kind(render("examples/flux"), "GitRepository")
    assert flux()["spec"]["sourceRef"] == {"kind": "GitRepository", "name": source["metadata"]["name"]}
    [namespace] = of_kind(render(PRODUCTION), "Namespace")
    assert application()["spec"]["destination"]["namespace"] == namespace["metadata"]["name"]


def test_argo_cd_runs_the_job_once_a_sync_and_misses_it_never():
    objects = by_argo_cd()
    assert annotated(objects, HOOK) == {("Job", "setup"): "Sync"}
    assert annotated(objects, f"{HOOK}-delete-policy") == {("Job", "setup"): "BeforeHookCreation"}
    # The broker, the job and the services wait for each other, and a wave waits for the one before.
    assert annotated(objects, "argocd.argoproj.io/sync-wave") == {}
    assert "syncOptions" not in application()["spec"]["syncPolicy"]


def test_flux_replaces_the_job_alone_and_finds_it_there():
    objects = by_flux()
    assert annotated(objects, FORCE) == {("Job", "setup"): "enabled"}
    assert "force" not in flux()["spec"]
    assert "ttlSecondsAfterFinished" in named(render(PRODUCTION), "Job")["setup"]["spec"]
    assert "ttlSecondsAfterFinished" not in named(objects, "Job")["setup"]["spec"]


def test_flux_waits_for_whatever_runs_as_long_as_the_job_may():
    spec = flux()["spec"]
    checked = {(check["kind"], check["name"]) for check in spec["healthChecks"]}
    objects = by_flux()
    assert checked == all_of(objects, "Deployment", "StatefulSet", "Job")
    assert {check["namespace"] for check in spec["healthChecks"]} == {"site"}
    assert spec["timeout"] == f"{named(objects, 'Job')['setup']['spec']['activeDeadlineSeconds'] // 60}m"


def test_neither_takes_data_away_nor_maps_that_pods_were_started_with():
    argo_cd = annotated(by_argo_cd(), OPTIONS)
    kept = all_of(render(PRODUCTION), *HOLDING_DATA)
    maps = all_of(render(PRODUCTION), "ConfigMap", "Secret")
    assert {who for who, said in argo_cd.items() if said == "Prune=false,Delete=false"} == kept
    assert {who for who, said in argo_cd.items() if said == "Prune=false"} == maps
    # Otherwise a former map would be a difference for ever.
    assert annotated(by_argo_cd(), "argocd.argoproj.io/compare-options") == dict.fromkeys(maps, "IgnoreExtraneous")
    assert annotated(by_flux(), PRUNE) == dict.fromkeys(kept | maps, "disabled")
    assert flux()["spec"]["deletionPolicy"] == "Orphan"
    assert "finalizers" not in application()["metadata"]


def test_they_change_nothing_else():
    before = {(found["kind"], found["metadata"]["name"]): found.get("spec") for found in render(PRODUCTION)}
    for objects in (by_argo_cd(), by_flux()):
        after = {(found["kind"], found["metadata"]["name"]): found.get("spec") for found in objects}
        assert {who for who in before | after if before.get(who) != after.get(who)} <= {("Job", "setup")}


def policy():
    [found] = of_kind(render("examples/image-signatures"), "ImageValidatingPolicy")
    return found["spec"]


def test_the_policy_is_about_our_images_and_no_others():
    [reference] = policy()["matchImageReferences"]
    images = {pod.container["image"] for pod in workloads(render(PRODUCTION))}
    taken = {image for image in images if fnmatchcase(image, reference["glob"])}
    assert taken == {image for image in images if image.startswith("registry.example/")}
    assert taken < images
    assert policy()["matchConstraints"]["namespaceSelector"]["matchLabels"] == {
        "kubernetes.io/metadata.name": of_kind(render(PRODUCTION), "Namespace")[0]["metadata"]["name"]
    }


def test_the_policy_is_about_every_container_of_a_pod():
    [validation] = policy()["validations"]
    kinds = set(re.findall(r"images\.(\w+)", validation["expression"]))
    assert kinds == {"containers", "initContainers", "ephemeralContainers"}
    [rule] = policy()["matchConstraints"]["resourceRules"]
    assert set(rule["resources"]) == {"pods", "pods/ephemeralcontainers"}


def test_the_policy_knows_the_release_workflow_by_how_it_signs():
    text = RELEASE.read_text()
    # Without a key, so by the identity that GitHub gives to a workflow.
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
    # Its certificate is there only where the component tls is.
    optional = '"optional": true, '
    assert json.dumps(canary).count(optional) == 2
    renamed = json.loads(json.dumps(canary).replace(optional, "").replace('"gateway-canary"', '"gateway"'))
    assert renamed["spec"].pop("replicas") == 1
    # The trial may go before other pods of the cluster do.
    assert stable["spec"]["template"]["spec"].pop("priorityClassName")
    for deployment in (renamed, stable):
        del deployment["spec"]["template"]["spec"]["containers"][0]["image"]
    assert renamed["spec"] == stable["spec"]
    pods = {pod.name: pod for pod in workloads(objects)}
    assert pods["gateway-canary"].settings == pods["gateway"].settings
    assert pods["gateway-canary"].secret_files() == pods["gateway"].secret_files()


def test_the_canary_has_an_image_of_its_own(tmp_path):
    """Whatever the overlay that takes it names for the gateway."""
    kept = {}

    def take_it(kustomization):
        kustomization["components"] = ["../../components/canary"]
        [stable] = [image for image in kustomization["images"] if image["name"] == "gateway"]
        kept.update(stable)

    images = {pod.name: pod.container["image"] for pod in workloads(changed_production(tmp_path, change_on_top=take_it))}
    [tried] = yaml.safe_load((K8S / "components/canary/gateway/kustomization.yaml").read_text())["images"]
    assert images["gateway"] == f"{kept['newName']}:{kept['newTag']}"
    assert images["gateway-canary"] == f"{tried['newName']}@{tried['digest']}"


def test_the_canary_gets_its_share_of_what_the_gateway_gets_and_nothing_else():
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
    # No visitor of the service `gateway` comes to the canary, nor the other way round.
    services = named(render_with(["canary"]), "Service")
    assert services["gateway"]["spec"]["selector"] == {"app.kubernetes.io/name": "gateway"}
    assert services["gateway-canary"]["spec"]["selector"] == {"app.kubernetes.io/name": "gateway-canary"}


def test_the_network_is_open_to_the_canary_as_to_the_gateway():
    before, after = flows(render_with([])), flows(render_with(["canary"]))
    assert before < after
    mine = {
        tuple("gateway-canary" if part == "gateway" else part for part in flow) for flow in before if "gateway" in flow[:2]
    }
    assert after - before == mine


@pytest.fixture(scope="module")
def rendered(tmp_path_factory):
    """What the release workflow keeps, of a release whose digests are told apart by their numbers."""
    folder = tmp_path_factory.mktemp("release")
    images = released()
    component = {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component", "images": images}
    (folder / "images.json").write_text(json.dumps(component))
    command = ["sh", K8S / "render-release.sh", "images.json", "rendered"]
    environment = os.environ | {"KUBECTL": str(tool("kubectl"))}
    subprocess.run(command, cwd=folder, env=environment, check=True, timeout=120)
    return images, folder / "rendered"


def test_a_release_keeps_every_overlay_with_its_digests(rendered):
    images, folder = rendered
    digests = {image["name"]: f"{image['newName']}@{image['digest']}" for image in images}
    overlays = ["drill", "local", "production", "small"]
    assert sorted(file.stem for file in folder.glob("*.yaml")) == overlays
    for overlay in overlays:
        objects = [found for found in yaml.safe_load_all((folder / f"{overlay}.yaml").read_text()) if found]
        assert {pod.name for pod in workloads(objects)} == {pod.name for pod in workloads(render(f"overlays/{overlay}"))}
        for pod in workloads(objects):
            if pod.image in digests:
                assert pod.container["image"] == digests[pod.image], f"{overlay}: {pod.name}"
        assert {pod.image for pod in workloads(objects)} & set(digests)


def test_a_release_keeps_the_checksums_and_signs_them(rendered):
    _, folder = rendered
    subprocess.run(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=folder, check=True, capture_output=True)
    listed = [line.split()[1] for line in (folder / "SHA256SUMS").read_text().splitlines()]
    assert sorted(listed) == sorted(file.name for file in folder.glob("*.yaml"))
    steps = yaml.safe_load(RELEASE.read_text())["jobs"]["publish"]["steps"]
    [step] = [step for step in steps if "render-release.sh" in step.get("run", "")]
    assert "sh k8s/render-release.sh images.json rendered" in step["run"]
    assert "cosign sign-blob --yes --bundle rendered/SHA256SUMS.sigstore.json rendered/SHA256SUMS" in step["run"]
    kept = {step["with"]["name"]: step["with"]["path"] for step in steps if "upload-artifact" in step.get("uses", "")}
    assert kept["release-manifests"] == "rendered/*"
    # The run has the artifacts of the workflow that it calls, too, and a name is free once.
    ci = yaml.safe_load((ROOT / ".github/workflows/ci.yml").read_text())["jobs"].values()
    taken = {step["with"]["name"] for job in ci for step in job.get("steps", []) if "upload-artifact" in step.get("uses", "")}
    assert not taken & set(kept)
