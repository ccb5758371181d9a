"""The tree renders, is valid, and keeps to the policies."""

import json
import subprocess

import kubernetes_validate
import pytest
from tree import K8S, RENDERED, nats_server, named, of_kind, render, render_text, tool, workloads

# Defined by what is installed in the cluster; their schemas are not at hand here.
OTHERS_KINDS = {"HTTPRoute", "ExternalSecret", "ScaledObject", "PodMonitor"}


@pytest.mark.parametrize("folder", ["base", *RENDERED])
def test_it_renders_to_valid_objects(folder):
    unknown = set()
    for found in render(folder):
        try:
            kubernetes_validate.validate(found, kubernetes_validate.latest_version(), strict=True)
        except kubernetes_validate.SchemaNotFoundError:
            unknown.add(found["kind"])
    assert unknown <= OTHERS_KINDS


def test_every_component_is_rendered_by_some_overlay():
    taken = "\n".join((K8S / folder / "kustomization.yaml").read_text() for folder in RENDERED)
    components = [folder.name for folder in (K8S / "components").iterdir()]
    assert components
    assert [name for name in components if f"components/{name}\n" not in taken] == []


@pytest.mark.parametrize("folder", RENDERED)
def test_no_policy_is_broken_and_no_exception_goes_without_its_reason(folder, tmp_path):
    manifest = tmp_path / "rendered.yaml"
    manifest.write_text(render_text(folder))
    command = [tool("checkov"), "--file", manifest, "--framework", "kubernetes", "--output", "json", "--skip-download"]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=100)
    report = json.loads(checked.stdout)
    results = report["results"]
    failed = [f"{check['check_id']} {check['check_name']}: {check['resource']}" for check in results["failed_checks"]]
    assert failed == []
    assert report["summary"]["passed"] > 500
    assert report["summary"]["parsing_errors"] == 0
    for skipped in results["skipped_checks"]:
        assert len(skipped["check_result"]["suppress_comment"]) > 20, skipped["resource"]


@pytest.mark.parametrize("folder", ["overlays/local", "overlays/production"])
def test_the_broker_takes_its_configuration_and_syncs_every_write(folder, tmp_path):
    objects = render(folder)
    broker = named(objects, "StatefulSet")["nats"]["spec"]["template"]["spec"]
    config = next(volume["projected"] for volume in broker["volumes"] if volume["name"] == "config")
    maps = named(objects, "ConfigMap")
    for source in config["sources"]:
        for name, text in maps[source["configMap"]["name"]]["data"].items():
            (tmp_path / name).write_text(text)
    [container] = broker["containers"]
    environment = {variable["name"]: "nats-0" for variable in container["env"]}
    command = [nats_server(), "-t", "--config", tmp_path / "nats.conf"]
    tested = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=20)
    assert tested.returncode == 0, tested.stderr
    assert "\n  sync_interval: always\n" in (tmp_path / "nats.conf").read_text()
    # A try-out's one server must not wait for two others.
    servers = named(objects, "StatefulSet")["nats"]["spec"]["replicas"]
    assert (tmp_path / "cluster.conf").read_text().count("nats://nats-") == (servers if servers > 1 else 0)


def test_nothing_secret_is_in_the_repository():
    assert of_kind(render("base"), "Secret") == []
    assert of_kind(render("overlays/production"), "Secret") == []


def test_production_refers_to_every_image_by_its_digest():
    images = [pod.container["image"] for pod in workloads(render("overlays/production"))]
    assert [image for image in images if "@sha256:" not in image] == []
