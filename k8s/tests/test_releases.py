"""How a release reaches a cluster: by Argo CD or Flux, and signed."""

import re
from fnmatch import fnmatchcase

from tree import K8S, ROOT, named, of_kind, render, render_with, workloads

PRODUCTION = "overlays/production"
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


def test_both_keep_the_overlay_production():
    assert ROOT / application()["spec"]["source"]["path"] == K8S / PRODUCTION
    assert (ROOT / flux()["spec"]["path"]).resolve() == K8S / PRODUCTION
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
    maps = all_of(render(PRODUCTION), "ConfigMap")
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
