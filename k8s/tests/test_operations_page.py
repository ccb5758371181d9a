"""What docs/operations.md says of a cluster is what the manifests want, and its commands do what it says."""

import os
import re
import subprocess

import pytest
import yaml
from tree import DRILL, K8S, RESTORE, ROOT, Workload, copies, named, of_kind, render, render_with, volume_access, workloads

PRODUCTION = "overlays/production"
PAGE = (ROOT / "docs/operations.md").read_text()


def part(title):
    """What stands below a heading, until the next of any level."""
    [text] = re.findall(rf"^#+ {re.escape(title)}\n(.*?)(?=^#)", PAGE, re.DOTALL | re.MULTILINE)
    return text


def milli(cpu):
    return int(cpu.removesuffix("m")) if cpu.endswith("m") else 1000 * int(cpu)


def mebi(memory):
    number, unit = re.fullmatch(r"(\d+)(Mi|Gi)", memory).groups()
    return int(number) * {"Mi": 1, "Gi": 1024}[unit]


def number_of(found, objects):
    """The least and the most copies of a workload."""
    written = found["spec"].get("replicas")
    return copies(objects).get(found["metadata"]["name"], (written, written))


def room(objects, most):
    """CPU and memory that all copies ask for, and the memory that they may have."""
    total = [0, 0, 0]
    for found in of_kind(objects, "Deployment", "StatefulSet"):
        number = number_of(found, objects)[most]
        resources = Workload(found, objects).container["resources"]
        one = (milli(resources["requests"]["cpu"]), mebi(resources["requests"]["memory"]), mebi(resources["limits"]["memory"]))
        total = [sum(pair) for pair in zip(total, (number * part for part in one), strict=True)]
    return tuple(total)


def room_of_a_rollout(objects):
    """CPU and memory that pods of two releases ask for beside each other, at the least number of copies."""
    total = [0, 0]
    for found in of_kind(objects, "Deployment"):
        least, _ = number_of(found, objects)
        surge = found["spec"].get("strategy", {}).get("rollingUpdate", {}).get("maxSurge", "25%")
        number = surge if isinstance(surge, int) else -(-least * int(surge.removesuffix("%")) // 100)
        requests = Workload(found, objects).container["resources"]["requests"]
        total = [total[0] + number * milli(requests["cpu"]), total[1] + number * mebi(requests["memory"])]
    return tuple(total)


def test_the_page_says_how_much_more_room_a_rollout_wants():
    [told] = re.findall(r"^\| room, while all is rolled out \| requests (\d+)m CPU and (\d+)Mi more", PAGE, re.MULTILINE)
    assert tuple(map(int, told)) == room_of_a_rollout(render(PRODUCTION))


@pytest.mark.parametrize(("row", "most"), [("at the least number of copies", False), ("at the most", True)])
def test_the_page_says_how_much_room_production_wants(row, most):
    [told] = re.findall(rf"^\| room, {row} \| requests (\d+)m CPU and (\d+)Mi; limits (\d+)Mi", PAGE, re.MULTILINE)
    assert tuple(map(int, told)) == room(render(PRODUCTION), most)


def test_the_page_says_which_volumes_production_wants():
    objects = render(PRODUCTION)
    wanted = [(1, claim["spec"]) for claim in of_kind(objects, "PersistentVolumeClaim")]
    for found in of_kind(objects, "StatefulSet"):
        wanted += [(found["spec"]["replicas"], claim["spec"]) for claim in found["spec"]["volumeClaimTemplates"]]
    assert all(claim["accessModes"] == ["ReadWriteOnce"] and "storageClassName" not in claim for _, claim in wanted)
    [row] = re.findall(r"^\| volumes, ReadWriteOnce, of the default storage class \| ([^|]*) \|", PAGE, re.MULTILINE)
    assert sorted(re.findall(r"(\d+) of (\d+)Gi", row)) == sorted(
        (str(number), claim["resources"]["requests"]["storage"].removesuffix("Gi")) for number, claim in wanted
    )


def test_the_page_names_the_versions_of_every_kind_that_production_has_of_others():
    versions = {found["apiVersion"] for found in render(PRODUCTION)}
    of_others = {version for version in versions if "." in version and not version.split("/")[0].endswith("k8s.io")}
    assert len(of_others) == 4
    assert {version for version in of_others if f"`{version}`" in part("Prerequisites")} == of_others


def test_a_pull_secret_reaches_every_pod_by_its_account():
    [example] = re.findall(r"```yaml\n(.*?)```", part("Prerequisites"), re.DOTALL)
    accounts = named(render_with([], yaml.safe_load(example)["patches"]), "ServiceAccount")
    assert accounts
    assert all(account["imagePullSecrets"] == [{"name": "registry"}] for account in accounts.values())


def restore_of_the_page():
    """What the page has an operator write over an overlay, and the patch for other arguments."""
    written, patch = (yaml.safe_load(text) for text in re.findall(r"```yaml\n(.*?)```", part("Restore"), re.DOTALL))
    return written, patch["patches"]


def test_the_restore_that_the_page_tells_to_write_is_the_one_that_is_tested():
    written, _ = restore_of_the_page()
    tested = yaml.safe_load((K8S / RESTORE / "kustomization.yaml").read_text())
    assert written["resources"] == ["../production"] and tested["resources"] == ["../../overlays/production"]
    assert {key: written[key] for key in written if key != "resources"} == {key: tested[key] for key in written if key != "resources"}


def test_a_restore_takes_the_arguments_that_the_page_patches():
    _, patches = restore_of_the_page()
    job = named(render_with(["restore"], patches), "Job")["restore"]
    [container] = job["spec"]["template"]["spec"]["containers"]
    assert container["args"][:2] == ["restore", "--from"] and container["args"][-2:] == ["--broker-only", "--yes"]


def test_the_images_of_others_are_found_where_the_page_looks():
    [command] = re.findall(r"^cd k8s && grep -rhoE .*?^done$", part("Images of others"), re.DOTALL | re.MULTILINE)
    listed = run(command, docker='echo "sha256:${4##*:}"')
    found = {line.split()[0].split(":")[0] for line in listed.stdout.splitlines()}
    ours = "registry.example/"
    [drill] = [pod.pod["initContainers"] for pod in workloads(render(DRILL))]
    others = [*containers(render(PRODUCTION)), *drill, *volume_access()["spec"]["containers"]]
    images = {re.split("[:@]", container["image"])[0] for container in others if ours not in container["image"]}
    assert found == images


def containers(objects):
    return [Workload(found, objects).container for found in of_kind(objects, "Deployment", "StatefulSet", "Job", "CronJob")]


def run(command, **stand_ins):
    """Runs a command of the page in the checkout, with shell functions in the place of programs."""
    functions = "".join(f"{name}() {{ {body}; }}\nexport -f {name}\n" for name, body in stand_ins.items())
    return subprocess.run(["bash", "-c", functions + command], cwd=ROOT, capture_output=True, text=True, timeout=60)


@pytest.mark.parametrize(
    ("conditions", "is_success"),
    [("SuccessCriteriaMet Complete", True), ("Complete", True), ("FailureTarget Failed", False), ("Failed", False)],
)
def test_waiting_for_the_job_ends_on_failure_too(conditions, is_success, tmp_path):
    commands = re.findall(r'^ +(timeout 15m sh -c "until .*)$', PAGE, re.MULTILINE)
    assert len(commands) == 2 and len(set(commands)) == 1
    (tmp_path / "kubectl").write_text(f"#!/bin/sh\necho '{conditions}'\n")
    (tmp_path / "kubectl").chmod(0o755)
    environment = os.environ | {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(["bash", "-c", commands[0]], env=environment, capture_output=True, timeout=30)
    assert (done.returncode == 0) is is_success


@pytest.mark.parametrize(("failing", "code"), [("deployment.apps/gateway", 1), ("statefulset.apps/nats", 1), ("nobody", 0)])
def test_waiting_for_rollouts_fails_where_one_does(failing, code):
    [command] = re.findall(r"^ +(.*kubectl -n site rollout status \"\$name\" .*)$", PAGE, re.MULTILINE)
    names = "deployment.apps/gateway statefulset.apps/nats deployment.apps/web"
    kubectl = f'case "$*" in *" get "*) echo {names} ;; *" {failing} "*) return 1 ;; esac'
    assert run(command, kubectl=kubectl).returncode == code


@pytest.mark.parametrize("what", ["(application|kustomization)/", "--for=condition=complete job"])
def test_no_page_waits_for_a_release_or_a_job_in_a_way_that_misses_its_failure(what):
    pages = [*(ROOT / "docs").glob("*.md"), K8S / "README.md"]
    waiting = rf"^ *kubectl .*wait {what}"
    assert [page.name for page in pages if re.search(waiting, page.read_text(), re.MULTILINE)] == []


def test_only_former_maps_are_taken_away(tmp_path):
    [command] = re.findall(r"^  kubectl -n site get deployment.*?^  done$", part("Pruning"), re.DOTALL | re.MULTILINE)
    maps = [*named(render(PRODUCTION), "ConfigMap"), "kube-root-ca.crt", "gateway-bbbbbbbbbb", "nats-2222222222"]
    (tmp_path / "maps").write_text("".join(f"configmap/{name}\n" for name in maps))
    running = of_kind(render(PRODUCTION), "Deployment", "StatefulSet", "Job", "CronJob")
    (tmp_path / "objects").write_text(yaml.safe_dump_all(running))
    kubectl = f'case "$*" in *configmap*) cat {tmp_path}/maps ;; *) cat {tmp_path}/objects ;; esac'
    done = run(f"cd {tmp_path}\n{command}", kubectl=kubectl)
    assert done.stdout.split() == ["configmap/gateway-bbbbbbbbbb", "configmap/nats-2222222222"]


def test_the_brand_is_built_into_the_images_that_the_page_names():
    for file, images in (("rust", ["notifier"]), ("web", ["web-shell", "web-blog", "web-careers"])):
        assert "brand.json" in (ROOT / f"images/{file}.Dockerfile").read_text()
        for image in images:
            assert f"`{image}`" in part("Another name") or f"the {image}" in part("Another name")
    for found in render(PRODUCTION):
        assert "BRAND_FILE" not in str(found.get("data", ""))
