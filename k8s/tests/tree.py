"""Renders the tree, and reads it for the tests."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
from contextlib import ExitStack
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import yaml

ROOT = Path(__file__).parents[2]
K8S = ROOT / "k8s"
# A company's overlays of the two profiles.
SMALL = "examples/overlay-small"
PRODUCTION = "examples/overlay-production"
# Overlays that are applied as they are.
OVERLAYS = ["overlays/local", SMALL, PRODUCTION]
# Production with secrets from a secret store.
EXTERNAL_SECRETS = "tests/external-secrets"
# With these, each component is rendered once at least.
RENDERED = [*OVERLAYS, EXTERNAL_SECRETS, "tests/with-others"]
# Overlays that visitors reach by a Gateway or an Ingress, not by a port-forward.
ROUTED = RENDERED[1:]
# Production's overlay, with the job that restores a backup in place of the services.
RESTORE = "tests/restore"
DRILL = "overlays/drill"
EXAMPLE_GATEWAY = "examples/gateway"
# Examples that are applied by themselves, each into a namespace of its own.
EXAMPLES = sorted(
    f"examples/{file.parent.name}"
    for file in (K8S / "examples").glob("*/kustomization.yaml")
    if not file.parent.name.startswith("overlay-")
)
# Files that an overlay takes for its cluster's network.
POLICIES = sorted(file.stem for file in (K8S / "examples/network-policies").iterdir())
POD_OWNERS = ("Deployment", "StatefulSet", "Job", "CronJob")


def tool(name):
    return Path(sys.executable).parent / name


def nats_server():
    """The server that `NATS_SERVER` names, that `cargo xtask` fetched, or that is in the PATH."""
    ours = ROOT / "target/tools/nats-server"
    return os.environ.get("NATS_SERVER") or (ours if ours.exists() else shutil.which("nats-server"))


@cache
def render_text(folder):
    command = [tool("kubectl"), "kustomize", K8S / folder]
    rendered = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert rendered.returncode == 0, f"{folder} does not render: {rendered.stderr}"
    assert not rendered.stderr, f"{folder} renders with a warning: {rendered.stderr}"
    return rendered.stdout


@cache
def render(folder):
    # libyaml's loader is ten times as fast.
    return [found for found in yaml.load_all(render_text(folder), Loader=yaml.CSafeLoader) if found]


def render_with(components=(), patches=(), policy=None, over=PRODUCTION):
    """Production with these components and patches, as a company adds them, and a policy of examples/network-policies."""
    return render_overlay(tuple(components), json.dumps(patches), policy, over)


@cache
def render_overlay(components, patches, policy, over):
    with TemporaryDirectory() as folder:
        tree = os.path.relpath(K8S, Path(folder).resolve())
        kustomization = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "namespace": "site",
            "resources": [f"{tree}/{over}"],
            "components": [f"{tree}/components/{name}" for name in components],
            "patches": json.loads(patches),
        }
        if policy:
            text = (K8S / f"examples/network-policies/{policy}.yaml").read_text()
            (Path(folder) / "policy.yaml").write_text(text)
            # Only Cilium's is a policy of its own; the others patch one of the base.
            part = "resources" if "kind: CiliumNetworkPolicy" in text else "patches"
            kustomization[part].append("policy.yaml" if part == "resources" else {"path": "policy.yaml"})
        (Path(folder) / "kustomization.yaml").write_text(json.dumps(kustomization))
        return render(folder)


def changed_production(folder, change=lambda profile: None, change_on_top=lambda overlay: None):
    """A company's overlay of production in a copy of the tree, where the profile or the overlay on top was changed."""
    for part in ("k8s", "crates/broker/nats"):
        shutil.copytree(ROOT / part, folder / part)
    for place, change_it in (("overlays/production", change), (PRODUCTION, change_on_top)):
        file = folder / "k8s" / place / "kustomization.yaml"
        kustomization = yaml.safe_load(file.read_text())
        change_it(kustomization)
        file.write_text(yaml.safe_dump(kustomization))
    return render(folder / "k8s" / PRODUCTION)


def copies(objects):
    """Fewest and most pods of each autoscaled deployment."""
    specs = [found["spec"] for found in of_kind(objects, "HorizontalPodAutoscaler", "ScaledObject")]
    return {
        spec["scaleTargetRef"]["name"]: (
            spec.get("minReplicas") or spec["minReplicaCount"],
            spec.get("maxReplicas") or spec["maxReplicaCount"],
        )
        for spec in specs
    }


def started(objects):
    """The pods of each workload at first; a job has one while it runs."""
    least = {name: fewest for name, (fewest, _) in copies(objects).items()}
    return {
        found["metadata"]["name"]: least.get(found["metadata"]["name"], found["spec"].get("replicas", 1))
        for found in of_kind(objects, *POD_OWNERS)
    }


def requests(objects):
    """Millicores and mebibytes that all of these pods request together."""
    count = started(objects)
    asked = [(count[pod.name], pod.container["resources"]["requests"]) for pod in workloads(objects)]
    scale = {"Mi": 1, "Gi": 1024}
    return (
        sum(number * int(found["cpu"].removesuffix("m")) for number, found in asked),
        sum(number * int(found["memory"][:-2]) * scale[found["memory"][-2:]] for number, found in asked),
    )


def published():
    """The images that docker-bake.hcl builds."""
    [titles] = re.findall(r'variable "TITLES" \{(.*?)\n\}', (ROOT / "docker-bake.hcl").read_text(), re.DOTALL)
    return re.findall(r"^    ([a-z-]+) +=", titles, re.MULTILINE)


def built(name):
    """An image's default name in docker-bake.hcl."""
    bake = (ROOT / "docker-bake.hcl").read_text()
    [registry] = re.findall(r'variable "REGISTRY" \{\s+default = "(.*?)"', bake)
    [version] = re.findall(r'variable "VERSION" \{\s+default = "(.*?)"', bake)
    return f"{registry}/{name}:{version}"


def released():
    """The published images as a release names them, each with its own digest."""
    return [
        {"name": name, "newName": f"ghcr.io/owner/repository/{name}", "digest": f"sha256:{number:064x}"}
        for number, name in enumerate(published(), start=1)
    ]


def free_ports(count):
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def of_kind(objects, *kinds):
    return [found for found in objects if found["kind"] in kinds]


def named(objects, kind):
    return {found["metadata"]["name"]: found for found in of_kind(objects, kind)}


def routes(objects):
    """Service and port of each path prefix. `=` marks an exact path."""
    led = {}
    for route in of_kind(objects, "HTTPRoute"):
        for rule in (rule for rule in route["spec"]["rules"] if "backendRefs" in rule):
            [backend] = rule["backendRefs"]
            for match in rule["matches"]:
                sign = {"PathPrefix": "", "Exact": "="}[match["path"]["type"]]
                led[sign + match["path"]["value"]] = (backend["name"], backend["port"])
    for ingress in of_kind(objects, "Ingress"):
        for path in ingress["spec"]["rules"][0]["http"]["paths"]:
            backend = path["backend"]["service"]
            ports = {port["name"]: port["port"] for port in named(objects, "Service")[backend["name"]]["spec"]["ports"]}
            sign = {"Prefix": "", "Exact": "="}[path["pathType"]]
            led[sign + path["path"]] = (backend["name"], ports[backend["port"]["name"]])
    return led


class Workload:
    """An object that starts pods, or a pod, with exactly one container."""

    def __init__(self, found, objects):
        spec = found["spec"].get("jobTemplate", found)["spec"]
        template = spec.get("template", found)
        self.name = found["metadata"]["name"]
        self.labels = template["metadata"]["labels"]
        self.pod = template["spec"]
        [self.container] = self.pod["containers"]
        self._maps = named(objects, "ConfigMap")

    @property
    def image(self):
        """Short name of the image: `contact` of `registry.example/site/contact@sha256:…`."""
        return self.container["image"].split("@")[0].split("/")[-1].split(":")[0]

    @property
    def ports(self):
        return {port["name"]: port["containerPort"] for port in self.container["ports"]}

    @property
    def maps(self):
        """Names of the ConfigMaps in its environment."""
        return [source["configMapRef"]["name"] for source in self.container.get("envFrom", [])]

    @property
    def settings(self):
        """Its environment: values, or references (`valueFrom`)."""
        found = {}
        for name in self.maps:
            found |= self._maps[name]["data"]
        for variable in self.container.get("env", []):
            found[variable["name"]] = variable.get("value", variable.get("valueFrom"))
        return found

    @property
    def probes(self):
        return [probe for name, probe in self.container.items() if name.endswith("Probe")]

    @property
    def configuration(self):
        """Texts of its files from ConfigMaps, by name."""
        found = {}
        for volume in self.pod.get("volumes", []):
            for source in [volume, *volume.get("projected", {}).get("sources", [])]:
                if "configMap" in source:
                    found |= self._maps[source["configMap"]["name"]]["data"]
        return found

    def secret_files(self):
        """Names of its mounted Secrets, by folder."""
        volumes = {volume["name"]: volume for volume in self.pod.get("volumes", [])}
        mounts = self.container.get("volumeMounts", [])
        secrets = {mount["mountPath"]: volumes.get(mount["name"], {}).get("secret") for mount in mounts}
        return {folder: secret["secretName"] for folder, secret in secrets.items() if secret}


def workloads(objects):
    return [Workload(found, objects) for found in of_kind(objects, *POD_OWNERS)]


def secrets(objects):
    """Keys of each Secret, with their value, the place to fetch it from, or its issuer."""
    here = {name: secret["data"] for name, secret in named(objects, "Secret").items()}
    fetched = {
        secret["spec"]["target"]["name"]: {key["secretKey"]: key["remoteRef"] for key in secret["spec"]["data"]}
        for secret in of_kind(objects, "ExternalSecret")
    }
    return here | fetched | issued(objects)


def issued(objects):
    """Secrets that cert-manager fills, except those of authorities, which no pod reads."""
    certificates = [found["spec"] for found in of_kind(objects, "Certificate") if not found["spec"].get("isCA")]
    files = ("tls.crt", "tls.key", "ca.crt")
    return {spec["secretName"]: dict.fromkeys(files, spec["issuerRef"]["name"]) for spec in certificates}
