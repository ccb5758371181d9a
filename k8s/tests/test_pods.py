"""Pods are hardened, and serving pods stay up during a rollout."""

import re

import pytest
from flows import flows, selects
from tree import (
    DRILL,
    OVERLAYS,
    PRODUCTION,
    ROOT,
    SMALL,
    copies,
    named,
    of_kind,
    render,
    requests,
    routes,
    started,
    workloads,
)

# Volume types of ours that Pod Security "restricted" allows.
VOLUMES = {"configMap", "emptyDir", "persistentVolumeClaim", "projected", "secret"}
PODS = [pytest.param(pod, id=f"{folder}/{pod.name}") for folder in OVERLAYS for pod in workloads(render(folder))]


@pytest.mark.parametrize("pod", PODS)
def test_a_pod_is_restricted(pod):
    """https://kubernetes.io/docs/concepts/security/pod-security-standards, and a read-only root."""
    assert pod.pod["securityContext"]["runAsNonRoot"] is True
    assert pod.pod["securityContext"]["runAsUser"] > 0
    assert pod.pod["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert pod.container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    kinds = {kind for volume in pod.pod.get("volumes", []) for kind in volume if kind != "name"}
    assert kinds <= VOLUMES
    assert {key for key in pod.pod if key.startswith("host")} == set()
    assert "initContainers" not in pod.pod


@pytest.mark.parametrize("pod", PODS)
def test_a_pod_has_no_token_and_its_own_account(pod):
    assert pod.pod["automountServiceAccountToken"] is False
    # Jobs of sitectl share the label and the account `setup`.
    assert pod.pod["serviceAccountName"] == pod.labels["app.kubernetes.io/name"]


@pytest.mark.parametrize("pod", PODS)
def test_a_pod_has_requests_and_limits(pod):
    for kind in ("requests", "limits"):
        assert {"cpu", "memory"} <= set(pod.container["resources"][kind])


@pytest.mark.parametrize("pod", PODS)
def test_each_writable_folder_is_a_volume(pod):
    writable = {mount["mountPath"] for mount in pod.container.get("volumeMounts", []) if not mount.get("readOnly")}
    assert {value for name, value in pod.settings.items() if name.endswith("_DIR")} <= writable


def test_the_drill_is_restricted_and_reaches_only_the_backups():
    objects = render(DRILL)
    [drill] = workloads(objects)
    broker, store = drill.pod["initContainers"]
    for container in (broker, store, drill.container):
        assert container["securityContext"] == {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
    # Sidecars and the volumes with decrypted data end with the drill.
    [job] = [found["spec"]["jobTemplate"]["spec"] for found in of_kind(objects, "CronJob")]
    assert job["ttlSecondsAfterFinished"] <= 86400
    assert {container["restartPolicy"] for container in (broker, store)} == {"Always"}
    assert {kind for volume in drill.pod["volumes"] for kind in volume if kind != "name"} == {"configMap", "secret", "ephemeral"}
    assert drill.pod["automountServiceAccountToken"] is False
    assert drill.pod["securityContext"]["runAsNonRoot"] is True and drill.pod["securityContext"]["runAsUser"] > 0
    sizes = [re.findall(r"max_file_store: (\S+)", text) for text in (drill.configuration["broker.conf"], production_broker())]
    assert sizes[0] == sizes[1] != []
    outside = {("restore-drill", "outside the cluster", "443/TCP")}
    assert {flow for flow in flows(objects) if "kube-dns" not in flow[1]} == outside


def production_broker():
    [text] = [pod.configuration["nats.conf"] for pod in workloads(render(PRODUCTION)) if pod.name == "nats"]
    return text


def test_the_scanner_keeps_the_certificates_that_its_image_has_beside_its_configuration():
    [clamd] = [pod for pod in workloads(render(PRODUCTION)) if pod.name == "clamd"]
    mounts = {mount["mountPath"]: mount.get("subPath") for mount in clamd.container["volumeMounts"]}
    assert "/etc/clamav" not in mounts
    for file in ("clamd.conf", "freshclam.conf"):
        assert mounts[f"/etc/clamav/{file}"] == file


@pytest.mark.parametrize("folder", OVERLAYS)
def test_the_namespace_enforces_restricted_pods(folder):
    [namespace] = of_kind(render(folder), "Namespace")
    labels = namespace["metadata"]["labels"]
    assert labels["pod-security.kubernetes.io/enforce"] == "restricted"
    assert re.fullmatch(r"v1\.\d+", labels["pod-security.kubernetes.io/enforce-version"])


@pytest.mark.parametrize("folder", ["base", *OVERLAYS])
def test_what_no_policy_names_is_denied(folder):
    deny = named(render(folder), "NetworkPolicy")["default-deny"]["spec"]
    assert deny == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


def test_a_release_takes_nothing_away_before_its_successor_is_ready():
    for name, deployment in named(render(PRODUCTION), "Deployment").items():
        # If new pods must be ready for a while before an old one stops, all of them start at once.
        surge = "100%" if deployment["spec"].get("minReadySeconds") else 1
        assert deployment["spec"]["strategy"]["rollingUpdate"] == {"maxUnavailable": 0, "maxSurge": surge}, name


def test_production_has_two_of_each_or_more_and_spreads_them():
    objects = render(PRODUCTION)
    least = {name: fewest for name, (fewest, _) in copies(objects).items()}
    for found in of_kind(objects, "StatefulSet"):
        least[found["metadata"]["name"]] = found["spec"]["replicas"]
    # Not jobs, nor pods of telemetry, whose outage harms no visitor.
    others = {"setup", "sweep", "backup", "signatures", "collector", "broker-exporter"}
    serving = {pod.name: pod for pod in workloads(objects) if pod.name not in others}
    assert set(least) == set(named(objects, "PodDisruptionBudget")) == set(serving)
    assert min(least.values()) >= 2
    for name, pod in serving.items():
        spread = {found["topologyKey"]: found["whenUnsatisfiable"] for found in pod.pod["topologySpreadConstraints"]}
        # A broker's volume stays in its zone, so a bad first spread would stay, too.
        must = "DoNotSchedule" if name == "nats" else "ScheduleAnyway"
        assert spread == {"kubernetes.io/hostname": must, "topology.kubernetes.io/zone": must}, name


def test_the_broker_and_the_gateway_of_production_go_last():
    objects = render(PRODUCTION)
    [priority] = of_kind(objects, "PriorityClass")
    assert priority["value"] > 0
    chosen = {pod.name: pod.pod["priorityClassName"] for pod in workloads(objects) if "priorityClassName" in pod.pod}
    assert chosen == dict.fromkeys(["gateway", "nats"], priority["metadata"]["name"])


def test_the_small_profile_is_small():
    objects = render(SMALL)
    pods = {pod.name: pod for pod in workloads(objects)}
    jobs = {found["metadata"]["name"] for found in of_kind(objects, "Job", "CronJob")}
    assert jobs == {"setup", "sweep", "backup"}
    # One job at a time.
    assert len(pods) - len(jobs) + 1 <= 7
    assert {found["spec"]["replicas"] for found in of_kind(objects, "Deployment", "StatefulSet")} == {1}
    millicores, mebibytes = requests(objects)
    assert millicores <= 500 and mebibytes <= 1024
    assert pods["nats"].container["resources"]["requests"]["memory"] == "256Mi"
    # No kinds of other operators, except those of the Gateway API.
    groups = {found["apiVersion"].split("/")[0] for found in objects}
    assert {group for group in groups if "." in group and not group.endswith(".k8s.io")} == set()
    assert of_kind(objects, "HorizontalPodAutoscaler") == []
    assert {path: led for path, led in routes(objects).items() if led != ("gateway", 80)} == {}


def test_the_page_of_capacity_says_what_the_profiles_request():
    page = (ROOT / "docs/capacity.md").read_text()
    for name, folder in (("small", SMALL), ("production", PRODUCTION)):
        objects = render(folder)
        millicores, mebibytes = requests(objects)
        jobs = len(of_kind(objects, "Job", "CronJob"))
        pods = sum(started(objects).values()) - jobs
        row = f"| `{name}` | {pods} | {jobs} | {millicores / 1000:.2f} | {mebibytes / 1024:.1f} |"
        assert row in page, row


def test_applying_the_tree_again_undoes_no_scaling():
    objects = render(PRODUCTION)
    for name in copies(objects):
        assert "replicas" not in named(objects, "Deployment")[name]["spec"], name
