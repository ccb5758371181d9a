"""The tree renders to valid objects, and keeps to the policies of checkov."""

import base64
import json
import re
import socket
import subprocess
import sys
import textwrap
import time
import urllib.error
import urllib.request
from functools import cache
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import jsonschema
import kubernetes_validate
import pytest
import referencing
import yaml
from tree import (
    DRILL,
    EXAMPLES,
    EXTERNAL_SECRETS,
    K8S,
    OVERLAYS,
    POLICIES,
    PRODUCTION,
    RENDERED,
    RESTORE,
    ROOT,
    SMALL,
    Workload,
    built,
    changed_production,
    free_ports,
    named,
    nats_server,
    of_kind,
    published,
    released,
    render,
    render_text,
    render_with,
    tool,
    workloads,
)

SCHEMAS = K8S / "tests/schemas"
# The oldest version that we support, and the newest that has a schema.
VERSIONS = ("1.30.0", kubernetes_validate.latest_version())
# Components that no overlay uses.
TAKEN_BY_TESTS = [Path(path).name for path in yaml.safe_load((K8S / "tests/with-others/kustomization.yaml").read_text())["components"]]

# Documented combinations: components left out of production, and components added.
COMBINATIONS = [
    (("certificates",), ()),
    (("tls", "certificates"), ()),
    (("tls", "certificates"), ("canary",)),
    (("virus-scanner",), ()),
    (("autoscaling",), ()),
    ((), ("canary", "synthetic-check")),
]
PROFILES = ["overlays/small", "overlays/production"]


@pytest.mark.parametrize("folder", ["base", *PROFILES, *RENDERED, RESTORE, DRILL, *EXAMPLES])
def test_it_renders_to_valid_objects(folder):
    assert unknown_kinds(render(folder), VERSIONS) == set()


@pytest.mark.parametrize("component", TAKEN_BY_TESTS)
def test_production_renders_to_valid_objects_with_one_component_more(component):
    """One by one, because the component ingress removes all routes from the overlay tests/with-others."""
    assert unknown_kinds(render_with([component])) == set()


@pytest.mark.parametrize("policy", POLICIES)
def test_production_renders_to_valid_objects_with_an_example_policy(policy):
    assert unknown_kinds(render_with(policy=policy)) == set()


@pytest.mark.parametrize(("without", "with_more"), COMBINATIONS, ids=lambda components: "+".join(components) or "nothing")
def test_production_is_valid_in_documented_combinations(without, with_more):
    assert unknown_kinds(render_combination(without, with_more)) == set()


@cache
def render_combination(without, with_more):
    with TemporaryDirectory() as copy:

        def leave_out(profile):
            before = profile["components"]
            profile["components"] = [path for path in before if Path(path).name not in without]
            assert len(profile["components"]) == len(before) - len(without)

        def add(overlay):
            overlay["components"] = [f"../../components/{name}" for name in with_more]

        return changed_production(Path(copy), leave_out, add)


def unknown_kinds(objects, versions=VERSIONS[-1:]):
    """Kinds without a schema. Fails if an object of another kind is invalid."""
    return {found["kind"] for found in objects if not is_known(json.dumps(found), versions)}


@cache
def is_known(text, versions):
    """Whether a schema exists. Fails if the object is invalid. Cached, because most objects are in every combination."""
    found = json.loads(text)
    try:
        for version in versions:
            validator(version, found["kind"], found["apiVersion"]).validate(found)
    except FileNotFoundError:
        return False
    return True


@cache
def validator(version, kind, api_version):
    """Our schema, or the strict one of kubernetes-validate. Cached, because the package reads it again for each object."""
    if (ours := SCHEMAS / f"{kind}.yaml").exists():
        return jsonschema.Draft202012Validator(schema(ours))
    schemas = Path(kubernetes_validate.__file__).parent / f"kubernetes-json-schema/v{version}-local-strict"
    group = re.sub(r"^([^./]*)(?:\.[^/]*)?/", r"\1-", api_version)
    theirs = json.loads((schemas / f"{kind.lower()}-{group}.json").read_text())
    return jsonschema.Draft202012Validator(theirs, registry=definitions(schemas / "_definitions.json"))


@cache
def definitions(file):
    return (referencing.Resource.from_contents(json.loads(file.read_text())) @ referencing.Registry()).crawl()


@cache
def schema(file):
    return yaml.safe_load(file.read_text())


@pytest.mark.parametrize("file", sorted(SCHEMAS.iterdir()), ids=lambda file: file.stem)
def test_our_schemas_are_strict_and_name_their_source(file):
    """Version and source say what to compare at an update."""
    ours = schema(file)
    jsonschema.Draft202012Validator.check_schema(ours)
    version = ours["properties"]["apiVersion"]["const"]
    assert ours["properties"]["kind"]["const"] == file.stem
    head = file.read_text().split("$schema:")[0]
    assert f" {version}," in head and "The whole:" in head and "https://" in head
    loose = [path for path, found in objects_within(ours) if "properties" in found and found.get("additionalProperties") is not False]
    assert loose == []


def objects_within(found, path=""):
    """Parts of a schema that describe an object, with their paths."""
    if isinstance(found, dict):
        if found.get("type") == "object":
            yield path, found
        for key, below in found.items():
            yield from objects_within(below, f"{path}/{key}")


def parts_of_overlays():
    """YAML of docs/ that an operator writes into an overlay."""
    for page in sorted((ROOT / "docs").glob("*.md")):
        for block in re.findall(r"^ *```yaml\n(.*?)^ *```$", page.read_text(), re.MULTILINE | re.DOTALL):
            [*found] = yaml.safe_load_all(textwrap.dedent(block))
            if set(found[0]) <= {"components", "patches", "configMapGenerator"}:
                yield pytest.param(found[0], id=f"{page.stem}-{len(block)}")


@pytest.mark.parametrize("part", list(parts_of_overlays()))
def test_what_a_page_writes_into_an_overlay_renders(part):
    components = [Path(path).name for path in part.get("components", [])]
    targets = [patch["target"] for patch in part["patches"]]
    objects = render_with(components, part["patches"])
    assert unknown_kinds(objects) == set()
    # Kustomize accepts a patch whose target does not exist.
    for target in targets:
        there = [found["metadata"]["name"] for found in of_kind([*objects, *render(RESTORE)], target["kind"])]
        assert target.get("name", there[0]) in there


def test_every_component_is_rendered_by_some_overlay():
    taken = "\n".join((K8S / folder / "kustomization.yaml").read_text() for folder in [*PROFILES, *RENDERED, RESTORE])
    components = [folder.name for folder in (K8S / "components").iterdir()]
    assert components
    assert [name for name in components if f"components/{name}\n" not in taken] == []


def test_the_readme_says_of_each_component_when_to_take_it():
    listed = re.findall(r"^\| `([\w-]+)` \| .+ \|$", (K8S / "README.md").read_text().split("| component |")[1].split("\n\n")[0], re.MULTILINE)
    assert sorted(listed) == sorted(folder.name for folder in (K8S / "components").iterdir())
    assert len(listed) <= 14


def test_no_policy_is_broken_and_no_exception_goes_without_its_reason(tmp_path):
    """Each different object once, wherever it is rendered."""
    objects = [found for folder in [*RENDERED, RESTORE, DRILL] for found in render(folder)]
    different = {json.dumps(found, sort_keys=True): found for found in objects}
    manifest = tmp_path / "rendered.yaml"
    manifest.write_text("---\n".join(f"{text}\n" for text in different))
    command = [sys.executable, tool("checkov"), "--file", manifest, "--framework", "kubernetes", "--output", "json", "--skip-download"]
    checked = subprocess.run(command, capture_output=True, text=True, timeout=300)
    report = json.loads(checked.stdout)
    results = report["results"]
    failed = [f"{check['check_id']} {check['check_name']}: {check['resource']}" for check in results["failed_checks"]]
    assert failed == []
    assert report["summary"]["passed"] > 1000
    assert report["summary"]["parsing_errors"] == 0
    for skipped in results["skipped_checks"]:
        assert len(skipped["check_result"]["suppress_comment"]) > 20, skipped["resource"]


@pytest.mark.parametrize("folder", OVERLAYS)
def test_the_broker_takes_its_configuration_and_syncs_every_write(folder, tmp_path):
    objects = render(folder)
    broker = named(objects, "StatefulSet")["nats"]
    texts = Workload(broker, objects).configuration
    routes = route_certificates(tmp_path / "routes")
    for name, text in texts.items():
        # Any certificate with its key will do.
        text = re.sub("/etc/nats-(routes|tls)/", f"{routes}/", text)
        (tmp_path / name).write_text(text)
    container = Workload(broker, objects).container
    password = "p0123"
    environment = {
        variable["name"]: variable.get("value", password).replace("$(NATS_ROUTES_PASSWORD)", password)
        for variable in container["env"]
    }
    command = [nats_server(), "-t", "--config", tmp_path / "nats.conf"]
    tested = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=20)
    assert tested.returncode == 0, tested.stderr
    assert "\n  sync_interval: always\n" in texts["nats.conf"]
    # The single server of a local demo must not wait for others.
    servers = broker["spec"]["replicas"]
    assert texts["cluster.conf"].count("$NATS_ROUTE_") == (servers if servers > 1 else 0)


def test_a_damaged_stream_or_a_lost_majority_restarts_no_server_of_the_broker(tmp_path):
    """The server is only unready: clients still reach it by the name `nats-nodes`."""
    [container] = named(render(PRODUCTION), "StatefulSet")["nats"]["spec"]["template"]["spec"]["containers"]
    paths = {name: container[f"{name}Probe"]["httpGet"]["path"] for name in ("startup", "liveness", "readiness")}
    damaged = tmp_path / "damaged/jetstream/$G/streams/DAMAGED"
    damaged.mkdir(parents=True)
    (damaged / "meta.inf").write_text("damaged")
    routes = [f"nats://127.0.0.1:{port}" for port in free_ports(2)]
    for name, options in {
        "damaged": [],
        "alone": ["--cluster_name", "site", "--cluster", "nats://127.0.0.1:-1", "--routes", ",".join(routes)],
    }.items():
        client, monitor = free_ports(2)
        command = [nats_server(), "--name", name, "--addr", "127.0.0.1", "--port", str(client), "--http_port", str(monitor)]
        command += ["--jetstream", "--store_dir", tmp_path / name, *options]
        with subprocess.Popen(command, stderr=subprocess.DEVNULL) as server:
            try:
                answers = {probe: status(f"http://127.0.0.1:{monitor}{path}") for probe, path in paths.items()}
            finally:
                server.kill()
        assert answers == {"startup": 200, "liveness": 200, "readiness": 503}, name


def status(url):
    """Status of a server, once it listens."""
    deadline = time.monotonic() + 20
    while True:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                return answer.status
        except urllib.error.HTTPError as refused:
            return refused.code
        except OSError:
            assert time.monotonic() < deadline, "it does not listen"
            time.sleep(0.1)


def route_certificates(folder):
    """Certificate of the broker's routes, as an operator makes it."""
    script = K8S / "components/nats/route-certificates.sh"
    subprocess.run(["sh", script, folder], check=True, capture_output=True, timeout=60)
    return folder


def test_each_server_of_the_broker_is_found_under_a_name_that_its_certificate_has(tmp_path):
    broker = named(render(PRODUCTION), "StatefulSet")["nats"]["spec"]
    [container] = broker["template"]["spec"]["containers"]
    routes = [variable["value"] for variable in container["env"] if variable["name"].startswith("NATS_ROUTE_")]
    hosts = [f"nats-{number}.{broker['serviceName']}" for number in range(broker["replicas"])]
    assert routes == [f"nats://route:$(NATS_ROUTES_PASSWORD)@{host}:6222" for host in hosts]
    cluster = (K8S / "components/nats/cluster.conf").read_text()
    assert "\n    user: route\n" in cluster and "\n    verify: true\n" in cluster
    folder = route_certificates(tmp_path)
    authority = (folder / "ca.crt").read_text()
    # A second run renews the certificate, and keeps the authority.
    route_certificates(folder)
    assert (folder / "ca.crt").read_text() == authority
    for host, purpose in product(hosts, ["sslserver", "sslclient"]):
        proven = ["openssl", "verify", "-purpose", purpose, "-verify_hostname", host, "-CAfile", "ca.crt", "tls.crt"]
        subprocess.run(proven, cwd=folder, check=True, capture_output=True, timeout=60)


def test_the_scanner_takes_its_configuration_and_finds_what_it_is_told(tmp_path):
    maps = named(render(PRODUCTION), "ConfigMap")
    [config] = [found["data"]["clamd.conf"] for name, found in maps.items() if name.startswith("clamd-")]
    # One signature of ours, and no file outside this folder.
    (tmp_path / "signatures").mkdir()
    (tmp_path / "signatures/test.ndb").write_text(f"Test.Virus:0:*:{b'a virus to the test'.hex()}\n")
    (tmp_path / "tmp").mkdir()
    [port] = free_ports(1)
    for there, here in [
        ("TCPSocket 3310", f"TCPSocket {port}\nTCPAddr 127.0.0.1"),
        ("/var/lib/clamav", str(tmp_path / "signatures")),
        ("/tmp/clamd.sock", str(tmp_path / "clamd.sock")),
        ("TemporaryDirectory /tmp", f"TemporaryDirectory {tmp_path / 'tmp'}"),
    ]:
        assert there in config
        config = config.replace(there, here)
    (tmp_path / "clamd.conf").write_text(config)
    command = [ROOT / "target/tools/clamd", "--foreground", "--config-file", tmp_path / "clamd.conf"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) as clamd:
        try:
            # As the image's clamdcheck.sh asks.
            assert ask(clamd, port, b"PING") == b"PONG\n"
            assert ask(clamd, port, in_stream(b"%PDF-1.7 nothing")) == b"stream: OK\0"
            assert b"Test.Virus.UNOFFICIAL FOUND" in ask(clamd, port, in_stream(b"%PDF-1.7 a virus to the test"))
        finally:
            clamd.terminate()


@pytest.mark.parametrize(
    ("days", "is_fresh"), [([0, 0], True), ([3, 1], True), ([5, 5], False), ([0, 5], False), ([None, None], False)]
)
def test_signatures_are_fresh_where_every_scanner_has_those_of_the_last_days(days, is_fresh, tmp_path):
    """The answers are like those of clamd/session.c (Cisco-Talos/clamav). Without ClamAV's signatures, they have no date."""
    objects = render(PRODUCTION)
    [job] = [pod for pod in workloads(objects) if pod.name == "signatures"]
    for number, age in enumerate(days):
        made = "" if age is None else time.strftime("/27790/%a %b %e 08:35:29 %Y", time.gmtime(time.time() - age * 86400))
        (tmp_path / f"answer-{number}").write_text(f"ClamAV 1.5.3{made}\n")
    # Two scanners answer in turn, as behind a service.
    turns = tmp_path / "turns"
    turns.touch()
    netcat = tmp_path / "nc"
    netcat.write_text(f'#!/bin/sh\necho "$@ $(cat)" >> {turns}\ncat {tmp_path}/answer-$(($(wc -l < {turns}) % 2))\n')
    netcat.chmod(0o755)
    script = tmp_path / "signatures.sh"
    script.write_text(job.configuration["signatures.sh"])
    address = job.container["command"][2:]
    path = f"{tmp_path}:/usr/bin:/bin"
    asked = subprocess.run(["sh", script, *address], env={"PATH": path}, capture_output=True, text=True, timeout=60)
    assert (asked.returncode == 0) == is_fresh, asked.stdout + asked.stderr
    assert set(turns.read_text().splitlines()) == {f"-w 10 {' '.join(address)} nVERSION"}


def test_the_scanner_is_asked_where_it_listens():
    objects = render(PRODUCTION)
    [job] = [pod for pod in workloads(objects) if pod.name == "signatures"]
    name, port = job.container["command"][2:]
    assert int(port) in [found["port"] for found in named(objects, "Service")[name]["spec"]["ports"]]


def in_stream(content):
    return b"zINSTREAM\0" + len(content).to_bytes(4) + content + bytes(4)


def ask(program, port, question):
    """The answer of a program, once it listens."""
    deadline = time.monotonic() + 20
    while True:
        try:
            with socket.create_connection(("127.0.0.1", port), timeout=20) as line:
                line.sendall(question)
                return b"".join(iter(lambda: line.recv(1024), b""))
        except ConnectionRefusedError:
            assert program.poll() is None, program.stdout.read()
            assert time.monotonic() < deadline, "it does not listen"
            time.sleep(0.1)


def test_nothing_secret_is_in_the_repository():
    for folder in ("base", *PROFILES, EXTERNAL_SECRETS):
        assert of_kind(render(folder), "Secret") == []
    for folder in (SMALL, PRODUCTION):
        for secret in of_kind(render(folder), "Secret"):
            values = [base64.b64decode(value).decode() for value in secret["data"].values()]
            assert all("example" in value or value == "[]" for value in values), secret["metadata"]["name"]


def test_a_changed_secret_restarts_its_pods():
    """A Secret's name has a hash of its content, so a change also changes the pods."""
    for folder in OVERLAYS:
        names = [secret["metadata"]["name"] for secret in of_kind(render(folder), "Secret")]
        assert names and all(re.search(r"-[a-z0-9]{10}$", name) for name in names), names


def test_a_local_demo_runs_locally_built_images():
    images = {pod.image: pod.container["image"] for pod in workloads(render("overlays/local"))}
    ours = {pod.image for pod in workloads(render(SMALL)) if pod.container["image"].startswith("registry.example/")}
    assert {name: images[name] for name in ours} == {name: built(name) for name in ours}


def test_every_image_that_is_published_runs_somewhere():
    images = {pod.container["image"] for folder in (SMALL, PRODUCTION) for pod in workloads(render(folder))}
    assert {f"registry.example/site/{name}:example" for name in published()} <= images


def as_a_component(overlay, kustomization, images):
    """The artifact `images` of .github/workflows/release.yml."""
    component = {"apiVersion": "kustomize.config.k8s.io/v1alpha1", "kind": "Component", "images": images}
    (overlay / "images").mkdir()
    (overlay / "images/kustomization.yaml").write_text(json.dumps(component))
    kustomization["components"] = ["images"]


def by_hand(_, kustomization, images):
    """By `kustomize edit set image`."""
    given = {image["name"]: image for image in images}
    kustomization["images"] = [given.get(image["name"], image) for image in kustomization["images"]]


@pytest.mark.parametrize("way", [as_a_component, by_hand])
def test_a_release_brings_its_digests_to_production(way, tmp_path):
    digests = {image["name"]: f"{image['newName']}@{image['digest']}" for image in released()}
    on_top = tmp_path / "k8s" / PRODUCTION
    objects = changed_production(tmp_path, change_on_top=lambda overlay: way(on_top, overlay, released()))
    for pod in workloads(objects):
        tag = pod.container["image"]
        assert tag == digests.get(pod.image, tag) and "registry.example" not in tag


def test_dependabot_watches_all_images_of_others():
    updates = yaml.safe_load((ROOT / ".github/dependabot.yml").read_text())["updates"]
    [watched] = [update["directories"] for update in updates if update["package-ecosystem"] == "docker"]
    # Our images have no tag here.
    tagged = re.compile(r"^ +image: \S+:\S+$", re.MULTILINE)
    naming = [file for file in (K8S / "components").rglob("*.yaml") if tagged.search(file.read_text())]
    assert naming
    assert {f"/{file.parent.relative_to(ROOT)}" for file in naming} <= set(watched)
