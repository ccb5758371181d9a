"""`sitectl preflight` says what a cluster lacks that the overlay needs. The real kubectl asks an API server that answers as upstream's do;
for variants a stub of kubectl has the same answers."""

import copy
import json
import re
import subprocess
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from urllib.parse import urlsplit

import pytest
import yaml
from test_binaries import BINARIES
from tree import K8S, Workload, copies, of_kind, render, render_text, render_with, tool

PRODUCTION = "overlays/production"
CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
GATEWAY = "/apis/gateway.networking.k8s.io/v1/namespaces/gateways/gateways/public"
STORE = "/apis/external-secrets.io/v1/clustersecretstores/site"
CLASSES = "/apis/storage.k8s.io/v1/storageclasses"
METRICS = "/apis/metrics.k8s.io/v1beta1"


def milli(cpu):
    return int(cpu.removesuffix("m")) if cpu.endswith("m") else 1000 * int(cpu)


def mebi(memory):
    number, unit = re.fullmatch(r"(\d+)(Mi|Gi)", memory).groups()
    return int(number) * {"Mi": 1, "Gi": 1024}[unit]


def requests(objects, number_of, *kinds):
    """CPU and memory that so many copies of each workload ask for."""
    total = [0, 0]
    for found in of_kind(objects, *kinds):
        written = found["spec"].get("replicas")
        least, most = copies(objects).get(found["metadata"]["name"], (written, written))
        asked = Workload(found, objects).container["resources"]["requests"]
        number = number_of(found, least, most)
        total = [total[0] + number * milli(asked["cpu"]), total[1] + number * mebi(asked["memory"])]
    return tuple(total)


def surge(found, least, _most):
    """Pods of a new release that start beside the former ones."""
    value = found["spec"].get("strategy", {}).get("rollingUpdate", {}).get("maxSurge", "25%")
    return value if isinstance(value, int) else -(-least * int(value.removesuffix("%")) // 100)


def condition(name, status="True"):
    return {"conditions": [{"type": name, "status": status, "reason": name, "lastTransitionTime": "2026-11-20T12:00:00Z"}]}


def node(name, cpu="4", memory="16Gi"):
    return {
        "metadata": {"name": name, "labels": {"kubernetes.io/hostname": name}},
        "spec": {},
        "status": {"allocatable": {"cpu": cpu, "memory": memory, "pods": "110"}} | condition("Ready"),
    }


def pod(name, on, cpu, memory):
    container = {"name": name, "resources": {"requests": {"cpu": cpu, "memory": memory}}}
    return {"metadata": {"name": name, "namespace": "kube-system"}, "spec": {"nodeName": on, "containers": [container]}}


def listed(kind, *items):
    return {"kind": f"{kind}List", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": list(items)}


def labelled(name, **labels):
    return {"metadata": {"name": name, "labels": {"kubernetes.io/metadata.name": name} | labels}}


def good_cluster():
    """What the API server of a cluster answers that has all that production needs, by path."""
    answers = {
        "/version": {"major": "1", "minor": "34", "gitVersion": "v1.34.1"},
        "/api/v1/nodes": listed("Node", node("one"), node("two"), node("three", memory="16390188Ki")),
        "/api/v1/pods": listed("Pod", pod("proxy", "one", "250m", "512Mi"), pod("proxy", "two", "250m", "512Mi")),
        "/api/v1/namespaces": listed(
            "Namespace",
            *(labelled(name) for name in ("kube-system", "monitoring", "keda")),
            labelled("gateways", **{"site/way-in": "true"}),
        ),
        CLASSES: listed(
            "StorageClass",
            {"metadata": {"name": "fast", "annotations": {"storageclass.kubernetes.io/is-default-class": "true"}}},
            {"metadata": {"name": "slow"}},
        ),
        f"{CRDS}/httproutes.gateway.networking.k8s.io": {
            "metadata": {"annotations": {"gateway.networking.k8s.io/bundle-version": "v1.4.0"}}
        },
        GATEWAY: {
            "metadata": {"name": "public", "namespace": "gateways"},
            "spec": {
                "listeners": [
                    {"name": name, "port": port, "allowedRoutes": {"namespaces": {"from": "All"}}}
                    for name, port in (("http", 80), ("https", 443))
                ]
            },
            "status": condition("Programmed"),
        },
        STORE: {"metadata": {"name": "site"}, "status": condition("Ready")},
    }
    kinds = {"metrics.k8s.io/v1beta1": {"PodMetrics", "NodeMetrics"}}
    for found in render(PRODUCTION):
        kinds.setdefault(found["apiVersion"], set()).add(found["kind"])
    for version, known in kinds.items():
        path = f"/apis/{version}" if "/" in version else f"/api/{version}"
        resources = [{"name": kind.lower() + "s", "kind": kind, "namespaced": True, "verbs": ["get"]} for kind in known]
        answers[path] = {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": version, "resources": resources}
    return answers


def status(code, reason):
    """How an API server refuses (`meta/v1.Status`)."""
    return {"kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure", "reason": reason, "message": reason, "code": code}


class Cluster:
    def __init__(self, answers, folder):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                answer = answers.get(urlsplit(self.path).path, status(404, "NotFound"))
                body = json.dumps(answer).encode()
                self.send_response(answer.get("code", 200))
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        Thread(target=self.server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{self.server.server_address[1]}"
        config = {
            "apiVersion": "v1",
            "kind": "Config",
            "clusters": [{"name": "tried", "cluster": {"server": address}}],
            "contexts": [{"name": "tried", "context": {"cluster": "tried", "user": "tried"}}],
            "users": [{"name": "tried", "user": {}}],
        }
        self.config = folder / "config"
        self.config.write_text(json.dumps(config))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()


# Answers of this folder by their paths, with `,` for each `/`.
STUB = r"""#!/bin/sh
cd "${0%/*}"
case "$*" in kustomize*) exec cat overlay ;; esac
for path; do :; done
file=$(printf %s "${path%%\?*}" | tr / ,)
[ -e "$file.refused" ] && { cat "$file.refused" >&2; exit 1; }
[ -e "$file" ] && exec cat "$file"
echo 'Error from server (NotFound): the server could not find the requested resource' >&2
exit 1
"""


def stub_of_kubectl(answers, folder):
    (folder / "overlay").write_text(render_text(PRODUCTION))
    for path, answer in answers.items():
        file = path.replace("/", ",")
        if "code" in answer:
            (folder / f"{file}.refused").write_text(f"Error from server ({answer['reason']}): {answer['message']}\n")
        else:
            (folder / file).write_text(json.dumps(answer))
    stub = folder / "kubectl"
    stub.write_text(STUB)
    stub.chmod(0o755)
    return stub


def preflight(answers, folder, overlay=K8S / PRODUCTION):
    """Its exit code, and its findings by what they are about."""
    return preflight_by(stub_of_kubectl(answers, folder), folder / "config", folder, overlay)


def preflight_by(kubectl, config, folder, overlay=K8S / PRODUCTION):
    command = [BINARIES / "sitectl", "preflight", overlay, "--context", "tried", "--kubectl", kubectl, "--json"]
    environment = {"KUBECONFIG": str(config), "PATH": "/usr/bin:/bin", "HOME": str(folder)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.stdout, done.stderr
    told = json.loads(done.stdout)
    assert told["ok"] is (done.returncode == 0)
    return done.returncode, {finding["what"]: finding for finding in told["findings"]}


def test_a_cluster_that_has_everything_is_told_so(tmp_path):
    with Cluster(good_cluster(), tmp_path) as cluster:
        code, findings = preflight_by(tool("kubectl"), cluster.config, tmp_path)
    assert (code, {finding["verdict"] for finding in findings.values()}) == (0, {"ok"}), findings
    workloads = ("Deployment", "StatefulSet")
    for number_of in (lambda _, least, most: least, lambda _, least, most: most):
        cpu, memory = requests(render(PRODUCTION), number_of, *workloads)
        assert f"{cpu}m CPU and {memory}Mi" in findings["room"]["says"]
    cpu, memory = requests(render(PRODUCTION), surge, "Deployment")
    assert f"{cpu}m CPU and {memory}Mi more while all are rolled out" in findings["room"]["says"]
    versions = {found["apiVersion"] for found in render(PRODUCTION)}
    assert versions | {"metrics.k8s.io/v1beta1"} <= set(findings)
    assert {name for name in findings if name.startswith("Gateway ")} == {
        f"Gateway gateways/public, listener {listener}" for listener in ("http", "https")
    }
    assert "4 volumes" not in findings["default storage class"]["says"]
    assert "for 5 volumes" in findings["default storage class"]["says"]


def without(path):
    return lambda answers: answers.pop(path)


def put(path, value):
    return lambda answers: answers.__setitem__(path, value)


def change(path, how):
    return lambda answers: how(answers[path])


@pytest.mark.parametrize(
    ("harm", "what", "says", "todo"),
    [
        (put("/version", {"gitVersion": "v1.29.4"}), "Kubernetes", "v1.29.4", "upgrade it to 1.30"),
        (change("/api/v1/nodes", lambda nodes: nodes["items"].pop()), "nodes", "2 take pods, and 3 are needed", "add nodes"),
        (
            change("/api/v1/nodes", lambda nodes: nodes["items"][0]["spec"].update(unschedulable=True)),
            "nodes",
            "2 take pods",
            "add nodes",
        ),
        (
            change("/api/v1/nodes", lambda nodes: nodes["items"][0]["status"].update(condition("Ready", "False"))),
            "nodes",
            "2 take pods",
            "add nodes",
        ),
        (
            put("/api/v1/nodes", listed("Node", *(node(name, cpu="500m") for name in "abc"))),
            "room",
            "1500m CPU",
            "add nodes",
        ),
        (
            put("/api/v1/nodes", listed("Node", *(node(name, memory="1Gi") for name in "abcdefghij"))),
            "largest pod",
            "clamd asks for 100m CPU and 2048Mi, which no node has free",
            "larger node",
        ),
        (without(METRICS), "metrics.k8s.io/v1beta1", "not there", "install metrics-server"),
        # An APIService whose server is away.
        (
            lambda answers: answers.update({METRICS: status(503, "ServiceUnavailable")}),
            "metrics.k8s.io/v1beta1",
            "(ServiceUnavailable)",
            "may be away",
        ),
        (change(CLASSES, lambda classes: classes["items"].pop(0)), "default storage class", "there is none", "annotate one"),
        (without("/apis/keda.sh/v1alpha1"), "keda.sh/v1alpha1", "not there", "install KEDA 2"),
        (without("/apis/external-secrets.io/v1"), "external-secrets.io/v1", "not there", "External Secrets 0.16"),
        (
            change("/apis/monitoring.coreos.com/v1", lambda group: group["resources"].clear()),
            "monitoring.coreos.com/v1",
            "PodMonitor, Probe, PrometheusRule is not known",
            "Prometheus operator",
        ),
        (
            put(
                f"{CRDS}/httproutes.gateway.networking.k8s.io",
                {"metadata": {"annotations": {"gateway.networking.k8s.io/bundle-version": "v1.1.0"}}},
            ),
            "release of the Gateway API",
            "v1.1.0",
            "install 1.2 or newer",
        ),
        (without(GATEWAY), "Gateway gateways/public, listener https", "not there", "k8s/examples/gateway"),
        (
            change(GATEWAY, lambda gateway: gateway["spec"]["listeners"].pop(1)),
            "Gateway gateways/public, listener https",
            "no such listener",
            "add it",
        ),
        (
            change(GATEWAY, lambda gateway: gateway["spec"]["listeners"][1].pop("allowedRoutes")),
            "Gateway gateways/public, listener https",
            "routes of its own namespace alone",
            "those of the namespace site",
        ),
        (
            change(GATEWAY, lambda gateway: gateway["status"].update(condition("Programmed", "False"))),
            "Gateway gateways/public, listener https",
            "not programmed",
            "kubectl describe",
        ),
        (
            change("/api/v1/namespaces", lambda namespaces: namespaces["items"].pop()),
            "namespace of the network policies, site/way-in=true",
            "no namespace has it",
            "kubectl label namespace <whose pods call> site/way-in=true",
        ),
        (without(STORE), "ClusterSecretStore site", "not there", "make it"),
        (
            change(STORE, lambda store: store["status"].update(condition("Ready", "False"))),
            "ClusterSecretStore site",
            "not ready",
            "kubectl describe",
        ),
    ],
)
def test_what_a_cluster_lacks_is_told_with_what_to_do(harm, what, says, todo, tmp_path):
    answers = copy.deepcopy(good_cluster())
    harm(answers)
    code, findings = preflight(answers, tmp_path)
    finding = findings[what]
    assert (code, finding["verdict"]) == (1, "wrong"), findings
    assert "ClusterSecretStore site" in findings, "the rest is looked at, too"
    assert says in finding["says"] and todo in finding["todo"], finding


def test_less_room_than_autoscalers_may_ask_for_is_a_warning(tmp_path):
    answers = good_cluster() | {"/api/v1/nodes": listed("Node", *(node(name, cpu="850m", memory="8Gi") for name in "abc"))}
    code, findings = preflight(answers, tmp_path)
    assert (code, findings["room"]["verdict"]) == (0, "warning"), findings["room"]


def test_less_room_than_a_release_asks_for_is_a_warning(tmp_path):
    answers = good_cluster() | {"/api/v1/nodes": listed("Node", *(node(name, cpu="660m", memory="8Gi") for name in "abc"))}
    code, findings = preflight(answers, tmp_path)
    assert (code, findings["room"]["verdict"]) == (0, "warning"), findings["room"]
    assert "a release waits for room" in findings["room"]["todo"]


def test_what_may_not_be_read_is_a_warning(tmp_path):
    with Cluster(good_cluster() | {"/api/v1/nodes": status(403, "Forbidden")}, tmp_path) as cluster:
        code, findings = preflight_by(tool("kubectl"), cluster.config, tmp_path)
    assert (code, findings["nodes"]["verdict"]) == (0, "warning"), findings
    assert "you may not read it" in findings["nodes"]["says"]


def test_pull_secrets_are_those_that_the_overlay_names(tmp_path):
    patch = "apiVersion: v1\nkind: Each\nmetadata: { name: each }\nimagePullSecrets: [{ name: registry }]\n"
    rendered = tmp_path / "rendered.yaml"
    rendered.write_text(yaml.safe_dump_all(render_with([], [{"target": {"kind": "ServiceAccount"}, "patch": patch}])))
    path = "/api/v1/namespaces/site/secrets/registry"
    for answer, verdict, says in (
        (None, "wrong", "not there"),
        ({"type": "Opaque"}, "wrong", "of the type Opaque"),
        ({"type": "kubernetes.io/dockerconfigjson"}, "ok", "there"),
    ):
        answers = good_cluster() | ({path: answer} if answer else {})
        _, findings = preflight(answers, tmp_path, rendered)
        found = findings["pull secret site/registry"]
        assert found["verdict"] == verdict and says in found["says"], found


def test_a_cluster_that_does_not_answer_is_said_in_a_sentence(tmp_path):
    with Cluster({}, tmp_path) as cluster:
        pass
    command = [BINARIES / "sitectl", "preflight", K8S / PRODUCTION, "--kubectl", tool("kubectl")]
    environment = {"KUBECONFIG": str(cluster.config), "PATH": "/usr/bin:/bin", "HOME": str(tmp_path)}
    command += ["--context", "tried"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1 and not done.stdout
    assert done.stderr.startswith("the cluster cannot be asked for /version") and done.stderr.count("\n") == 1, done.stderr
