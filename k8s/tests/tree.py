"""The rendered tree, and what the tests ask of it."""

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
OVERLAYS = ["overlays/local", "overlays/production"]
# Every way the tree is put together: with these, each component is rendered once at least.
RENDERED = [*OVERLAYS, "tests/with-others"]
# Production's, with the job that brings a backup back in place of all that works.
RESTORE = "tests/restore"
# What restores the newest backup once a month, in a namespace of its own.
DRILL = "overlays/drill"
# A Gateway, for a cluster that has none.
EXAMPLE_GATEWAY = "examples/gateway"
# What is applied by itself, each into a namespace of its own.
EXAMPLES = sorted(f"examples/{folder.name}" for folder in (K8S / "examples").iterdir())
POD_OWNERS = ("Deployment", "StatefulSet", "Job", "CronJob")


def tool(name):
    """A program of the environment that runs us."""
    return Path(sys.executable).parent / name


def nats_server():
    """The server that a chore fetched, or that the tests in Rust would take."""
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
    """Every object of the tree."""
    # libyaml's loader is ten times as fast.
    return [found for found in yaml.load_all(render_text(folder), Loader=yaml.CSafeLoader) if found]


def render_with(components, patches=()):
    """Production with these components, as an overlay of a company's own takes them."""
    return render_overlay(tuple(components), json.dumps(patches))


@cache
def render_overlay(components, patches):
    with TemporaryDirectory() as folder:
        tree = os.path.relpath(K8S, Path(folder).resolve())
        kustomization = {
            "apiVersion": "kustomize.config.k8s.io/v1beta1",
            "kind": "Kustomization",
            "namespace": "site",
            "resources": [f"{tree}/overlays/production"],
            "components": [f"{tree}/components/{name}" for name in components],
            "patches": json.loads(patches),
        }
        (Path(folder) / "kustomization.yaml").write_text(json.dumps(kustomization))
        return render(folder)


def changed_production(folder, change):
    """Production of a copy of the tree, whose kustomization was changed."""
    for part in ("k8s", "crates/broker/nats"):
        shutil.copytree(ROOT / part, folder / part)
    production = folder / "k8s/overlays/production"
    file = production / "kustomization.yaml"
    kustomization = yaml.safe_load(file.read_text())
    change(kustomization)
    file.write_text(yaml.safe_dump(kustomization))
    return render(production)


def copies(objects):
    """The least and the most copies of each deployment that is scaled."""
    specs = [found["spec"] for found in of_kind(objects, "HorizontalPodAutoscaler", "ScaledObject")]
    return {
        spec["scaleTargetRef"]["name"]: (
            spec.get("minReplicas") or spec["minReplicaCount"],
            spec.get("maxReplicas") or spec["maxReplicaCount"],
        )
        for spec in specs
    }


def published():
    """The images that docker-bake.hcl builds, by the names it gives them where nothing else is said."""
    bake = (ROOT / "docker-bake.hcl").read_text()
    [titles] = re.findall(r'variable "TITLES" \{(.*?)\n\}', bake, re.DOTALL)
    [registry] = re.findall(r'variable "REGISTRY" \{\s+default = "(.*?)"', bake)
    [version] = re.findall(r'variable "VERSION" \{\s+default = "(.*?)"', bake)
    return {name: f"{registry}/{name}:{version}" for name in re.findall(r"^    ([a-z-]+) +=", titles, re.MULTILINE)}


def released():
    """Those images as a release names them, whose digests are told apart by their numbers."""
    return [
        {"name": name, "newName": f"ghcr.io/owner/repository/{name}", "digest": f"sha256:{number:064x}"}
        for number, name in enumerate(published(), start=1)
    ]


def free_ports(count):
    """Ports that nobody uses now."""
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


def of_kind(objects, *kinds):
    return [found for found in objects if found["kind"] in kinds]


def named(objects, kind):
    """The objects of a kind by name."""
    return {found["metadata"]["name"]: found for found in of_kind(objects, kind)}


def routes(objects):
    """The service and port that each path leads to, with all that lies below it; a path alone is told by `=`."""
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
    """What starts pods, or is one, with its one container."""

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
        """The image's own name: `contact` of `registry.example/site/contact@sha256:…`."""
        return self.container["image"].split("@")[0].split("/")[-1].split(":")[0]

    @property
    def ports(self):
        """Its ports by name."""
        return {port["name"]: port["containerPort"] for port in self.container["ports"]}

    @property
    def maps(self):
        """The names of the ConfigMaps that it takes as settings."""
        return [source["configMapRef"]["name"] for source in self.container.get("envFrom", [])]

    @property
    def settings(self):
        """Its environment: a text, or the reference that stands in place of one."""
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
        """The text of the files that it has from ConfigMaps, by name."""
        found = {}
        for volume in self.pod.get("volumes", []):
            for source in [volume, *volume.get("projected", {}).get("sources", [])]:
                if "configMap" in source:
                    found |= self._maps[source["configMap"]["name"]]["data"]
        return found

    def secret_files(self):
        """The Secrets it has as files, by the folder they are in."""
        volumes = {volume["name"]: volume for volume in self.pod.get("volumes", [])}
        mounts = self.container.get("volumeMounts", [])
        secrets = {mount["mountPath"]: volumes.get(mount["name"], {}).get("secret") for mount in mounts}
        return {folder: secret["secretName"] for folder, secret in secrets.items() if secret}


def workloads(objects):
    return [Workload(found, objects) for found in of_kind(objects, *POD_OWNERS)]


def secrets(objects):
    """The keys of each Secret, with the value, or with the place that it is fetched from, or with who issues it."""
    here = {name: secret["data"] for name, secret in named(objects, "Secret").items()}
    fetched = {
        secret["spec"]["target"]["name"]: {key["secretKey"]: key["remoteRef"] for key in secret["spec"]["data"]}
        for secret in of_kind(objects, "ExternalSecret")
    }
    return here | fetched | issued(objects)


def issued(objects):
    """The Secrets that cert-manager fills, but those of authorities, which it alone reads."""
    certificates = [found["spec"] for found in of_kind(objects, "Certificate") if not found["spec"].get("isCA")]
    files = ("tls.crt", "tls.key", "ca.crt")
    return {spec["secretName"]: dict.fromkeys(files, spec["issuerRef"]["name"]) for spec in certificates}
