"""`cargo xtask kind`, as far as it goes without a cluster: programs of ours stand for kind, docker, kubectl and curl."""

import os
import re
import subprocess

import pytest
import yaml
from tree import K8S, KIND, ROOT, named, of_kind, render, tool

SCRIPT = K8S / "kind.sh"
SITE, GATEWAY = KIND
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


def run(folder, job="Complete", stand_ins=("kind", "docker", "kubectl", "curl", "sha256sum"), **more):
    """Runs the script among stand-ins. Its outcome, and all calls in their order."""
    programs = folder / "programs"
    programs.mkdir()
    for name in stand_ins:
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


def where_in(calls, part):
    return [number for number, call in enumerate(calls) if part in call]


def test_it_is_a_script_that_stops_at_the_first_fault():
    assert "\nset -euo pipefail\n" in SCRIPT.read_text()
    subprocess.run(["bash", "-n", SCRIPT], check=True)


def test_it_sends_the_three_forms_three_times_and_deletes_the_cluster(tmp_path):
    done, calls = run(tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    forms = [where_in(calls, f"/api/{path}") for path in ("contact", "newsletter", "career-application")]
    assert [len(sent) for sent in forms] == [3, 3, 3]
    first, second, third = forms[2]
    [deleted] = where_in(calls, "delete pod --selector")
    rolled = where_in(calls, "rollout restart")
    assert first < deleted < second < min(rolled) and max(rolled) < third
    assert (tmp_path / "mails").read_text().strip() == "15"
    assert calls[-1] == "kind delete cluster --name site-demo"


def test_it_loads_what_the_overlay_names_of_what_was_built(tmp_path):
    _, calls = run(tmp_path)
    [loaded] = [call for call in calls if call.startswith("kind load docker-image")]
    objects = of_kind(render(SITE), "Deployment", "StatefulSet", "Job", "CronJob")
    images = set(re.findall(r"'(localhost/\S+)'", str(objects)))
    assert set(loaded.split()) >= images and len(images) == 9
    assert where_in(calls, "docker buildx bake") < where_in(calls, "kind load")


def test_it_names_what_the_overlay_has_and_leaves_nothing_out(tmp_path):
    _, calls = run(tmp_path)
    objects = render(SITE)
    kinds = {"deployment": "Deployment", "statefulset": "StatefulSet", "job": "Job", "svc": "Service"}
    assert of_kind(objects, "Namespace")[0]["metadata"]["name"] == "site"
    waited = set()
    for call in (call for call in calls if "--namespace site" in call):
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


def test_forms_go_through_the_gateway_that_the_route_names(tmp_path):
    _, calls = run(tmp_path)
    [gateway] = of_kind(render(GATEWAY), "Gateway")
    [namespace] = of_kind(render(GATEWAY), "Namespace")
    [route] = of_kind(render(SITE), "HTTPRoute")
    [listener] = gateway["spec"]["listeners"]
    name, where = gateway["metadata"]["name"], gateway["metadata"]["namespace"]
    assert route["spec"]["parentRefs"] == [{"name": name, "namespace": where, "sectionName": listener["name"]}]
    assert namespace["metadata"] == {"name": where, "labels": {"site/way-in": "true"}}
    proxies = f"{name}-{gateway['spec']['gatewayClassName']}"
    forwarded = where_in(calls, f"--namespace {where} port-forward svc/{proxies} 18080:{listener['port']}")
    assert len(forwarded) == 3
    for path in ("contact", "newsletter", "career-application"):
        sent = where_in(calls, f"http://{listener['hostname']}:18080/api/{path}")
        assert len(sent) == 3 and all(f"--resolve {listener['hostname']}:18080:127.0.0.1 " in calls[number] for number in sent)
    # Nothing else leads to the site past it.
    assert where_in(calls, "port-forward svc/gateway 18090:8090") and not where_in(calls, "svc/gateway 18080")


def test_a_gateway_is_there_before_the_route(tmp_path):
    _, calls = run(tmp_path)
    order = [
        "apply --server-side --filename https://github.com/kubernetes-sigs/gateway-api/",
        "apply --server-side --filename ",
        "--namespace nginx-gateway wait --timeout=5m deployment/nginx-gateway",
        f"apply --kustomize k8s/{GATEWAY}",
        "--namespace gateways wait --timeout=5m gateway/public",
        "--namespace gateways rollout status deployment/public-nginx",
        "--namespace site apply --kustomize",
    ]
    found = [where_in(calls, part)[0] for part in order]
    assert found == sorted(found)
    assert calls[found[-1]].endswith(f"k8s/{SITE}")


def test_nothing_is_installed_whose_checksum_is_another(tmp_path):
    """The stand-in downloads nothing, and the checksum is looked at in earnest."""
    done, calls = run(tmp_path, stand_ins=("kind", "docker", "kubectl", "curl"))
    assert done.returncode == 1
    assert where_in(calls, "nginx-gateway-fabric/v") and not where_in(calls, "--kustomize")
    assert not [call for call in calls if re.search(r"apply .*--filename /", call)]
    assert calls[-1] == "kind delete cluster --name site-demo"


@pytest.mark.parametrize("job", ["Failed", "FailureTarget Failed"])
def test_a_job_that_fails_ends_it_and_the_cluster_goes(job, tmp_path):
    done, calls = run(tmp_path, job)
    assert done.returncode == 1
    assert "The job setup failed." in done.stderr
    assert where_in(calls, "/api/") == []
    assert where_in(calls, "logs --selector app.kubernetes.io/name=setup")
    assert calls[-1] == "kind delete cluster --name site-demo"


def test_a_cluster_of_that_name_that_is_there_already_stays(tmp_path):
    done, calls = run(tmp_path, CREATED="1")
    assert done.returncode == 1
    assert where_in(calls, "kind delete") == []


def test_the_cluster_stays_where_that_is_wanted(tmp_path):
    done, calls = run(tmp_path, KEEP="1")
    assert done.returncode == 0
    assert where_in(calls, "kind delete") == []
    assert "kind delete cluster --name site-demo" in done.stdout


def test_the_chore_runs_the_script_and_a_workflow_runs_the_chore():
    assert 'program("bash", &["k8s/kind.sh"])' in (ROOT / "tools/xtask/src/kind.rs").read_text()
    nightly = yaml.safe_load((ROOT / ".github/workflows/nightly.yml").read_text())["jobs"]
    assert "cargo xtask kind" in [step.get("run") for step in nightly["kind"]["steps"]]
