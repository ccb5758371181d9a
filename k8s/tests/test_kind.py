"""`cargo xtask kind`, as far as it goes without a cluster: programs of ours stand for kind, docker, kubectl and curl."""

import os
import re
import subprocess

import pytest
import yaml
from tree import K8S, ROOT, named, of_kind, render, tool

SCRIPT = K8S / "kind.sh"
LOCAL = "overlays/local"
# Writes down how it was called. kubectl renders as ever, and says how the job is; curl counts the mails of each form.
STAND_IN = r"""#!/bin/bash
name="$(basename "$0")"
printf '%s %s\n' "$name" "$*" >> "$CALLS"
case "$name $*" in
  "kubectl kustomize"*) exec "$KUBECTL" "$@" ;;
  *"get job/setup"*) printf '%s' "$JOB" ;;
  *port-forward*) exec sleep 60 ;;
  "kind create"*) exit "${CREATED:-0}" ;;
  *api/v1/messages*) printf '{"total":%s,"unread":0}' "$(cat "$MAILS")" ;;
  *api/contact* | *career-application*) echo $(($(cat "$MAILS") + 2)) > "$MAILS" ;;
  *api/newsletter*) echo $(($(cat "$MAILS") + 1)) > "$MAILS" ;;
esac
"""


def run(folder, job="Complete", **more):
    """Runs the script among stand-ins. Its outcome, and all calls in their order."""
    programs = folder / "programs"
    programs.mkdir()
    for name in ("kind", "docker", "kubectl", "curl"):
        (programs / name).write_text(STAND_IN)
        (programs / name).chmod(0o755)
    (folder / "mails").write_text("0")
    (folder / "calls").touch()
    environment = {
        "PATH": f"{programs}:{os.environ['PATH']}",
        "CALLS": str(folder / "calls"),
        "MAILS": str(folder / "mails"),
        "KUBECTL": str(tool("kubectl")),
        "JOB": job,
        **more,
    }
    done = subprocess.run(["bash", SCRIPT], cwd=folder, env=environment, capture_output=True, text=True, timeout=120)
    return done, (folder / "calls").read_text().splitlines()


def where(calls, part):
    return [number for number, call in enumerate(calls) if part in call]


def test_it_is_a_script_that_stops_at_the_first_fault():
    assert "\nset -euo pipefail\n" in SCRIPT.read_text()
    subprocess.run(["bash", "-n", SCRIPT], check=True)


def test_it_sends_the_three_forms_three_times_and_deletes_the_cluster(tmp_path):
    done, calls = run(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    forms = [where(calls, f"/api/{path}") for path in ("contact", "newsletter", "career-application")]
    assert [len(sent) for sent in forms] == [3, 3, 3]
    first, second, third = forms[2]
    [deleted] = where(calls, "delete pod --selector")
    rolled = where(calls, "rollout restart")
    assert first < deleted < second < min(rolled) and max(rolled) < third
    assert (tmp_path / "mails").read_text().strip() == "15"
    assert calls[-1] == "kind delete cluster --name site-demo"


def test_it_loads_what_the_overlay_names_of_what_was_built(tmp_path):
    _, calls = run(tmp_path)
    [loaded] = [call for call in calls if call.startswith("kind load docker-image")]
    objects = of_kind(render(LOCAL), "Deployment", "StatefulSet", "Job", "CronJob")
    images = set(re.findall(r"'(localhost/\S+)'", str(objects)))
    assert set(loaded.split()) >= images and len(images) == 9
    assert where(calls, "docker buildx bake") < where(calls, "kind load")


def test_it_names_what_the_overlay_has_and_leaves_nothing_out(tmp_path):
    _, calls = run(tmp_path)
    objects = render(LOCAL)
    kinds = {"deployment": "Deployment", "statefulset": "StatefulSet", "job": "Job", "svc": "Service"}
    waited = set()
    for call in (call for call in calls if call.startswith("kubectl") and "crd/" not in call):
        if "--namespace" in call:
            assert "--namespace site" in call and of_kind(objects, "Namespace")[0]["metadata"]["name"] == "site"
        for kind, name in re.findall(r"\b(deployment|statefulset|job|svc)/([a-z0-9-]+)", call):
            assert name in named(objects, kinds[kind]), call
            if "rollout status" in call:
                waited.add(name)
        for service, ports in re.findall(r"svc/([a-z0-9-]+)((?: \d+:\d+)+)", call):
            there = {port["port"] for port in named(objects, "Service")[service]["spec"]["ports"]}
            assert {int(port) for port in re.findall(r":(\d+)", ports)} <= there, call
    assert waited == set(named(objects, "Deployment")) | set(named(objects, "StatefulSet"))
    [selector] = [re.search(r"name in \(([^)]*)\)", call)[1].split(",") for call in calls if "delete pod" in call]
    assert set(selector) == waited - {"s3", "mail"}


@pytest.mark.parametrize("job", ["Failed", "FailureTarget Failed"])
def test_a_job_that_fails_ends_it_and_the_cluster_goes(job, tmp_path):
    done, calls = run(tmp_path, job)
    assert done.returncode == 1
    assert "The job setup failed." in done.stderr
    assert where(calls, "/api/") == []
    assert where(calls, "logs --selector app.kubernetes.io/name=setup")
    assert calls[-1] == "kind delete cluster --name site-demo"


def test_a_cluster_of_that_name_that_is_there_already_stays(tmp_path):
    done, calls = run(tmp_path, CREATED="1")
    assert done.returncode == 1
    assert where(calls, "kind delete") == []


def test_the_cluster_stays_where_that_is_wanted(tmp_path):
    done, calls = run(tmp_path, KEEP="1")
    assert done.returncode == 0
    assert where(calls, "kind delete") == []
    assert "kind delete cluster --name site-demo" in done.stdout


def test_the_chore_runs_the_script_and_a_workflow_runs_the_chore():
    assert 'program("bash", &["k8s/kind.sh"])' in (ROOT / "xtask/src/kind.rs").read_text()
    nightly = yaml.safe_load((ROOT / ".github/workflows/nightly.yml").read_text())["jobs"]
    assert "cargo xtask kind" in [step.get("run") for step in nightly["kind"]["steps"]]
