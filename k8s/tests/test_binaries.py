"""Manifests fit the programs: settings, ports, probes, secrets, grace periods."""

import os
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest
from tree import (
    DRILL,
    EXTERNAL_SECRETS,
    OVERLAYS,
    PRODUCTION,
    RENDERED,
    RESTORE,
    ROOT,
    ROUTED,
    SMALL,
    Workload,
    issued,
    named,
    of_kind,
    render,
    render_with,
    routes,
    secrets,
    workloads,
)

BINARIES = Path(os.environ.get("BINARIES", ROOT / "target/debug"))
PROGRAMS = {"gateway", "contact", "newsletter", "careers", "notifier", "sitectl", "web"}
# Variables that our code does not read: for the OpenTelemetry SDK, or parts of other values.
NOT_SETTINGS = {"OTEL_RESOURCE_ATTRIBUTES", "POD_NAME", "RUN"}
# Cache time of CoreDNS in the configuration that Kubernetes documents.
DNS_SECONDS = 30
# Time to send the last telemetry after the drain.
FLUSH_SECONDS = 5


class Settings:
    """Settings of a program, from its `--help`."""

    def __init__(self, help_text):
        usage = help_text.split("Usage:")[1].split("\n")[0]
        flags = set(re.findall(r"--[a-z0-9-]+", usage))
        options, _, secrets = help_text.split("Options:")[1].partition("\nSecrets, ")
        blocks = re.split(r"\n +(?=--)", options)
        self.known, self.required, self.of_this_host, self.defaults = set(), set(), set(), {}
        for block in blocks:
            found = re.search(r"\[env: ([A-Z0-9_]+)", block)
            if not found:
                continue
            name = found[1]
            self.known.add(name)
            if default := re.search(r"\[default: ([^\]]*)\]", block):
                self.defaults[name] = default[1]
            if re.match(r" *(--[a-z0-9-]+)", block)[1] in flags:
                self.required.add(name)
            if re.search(r"\[default: [^\]]*(127\.0\.0\.1|localhost)", block):
                self.of_this_host.add(name)
        for name, file, required in re.findall(r"\n  ([A-Z0-9_]+), ([A-Z0-9_]+)( \[required\])?", secrets):
            self.known |= {name, file}
            if required:
                self.required.add(name)


@cache
def settings(program, arguments):
    binary = BINARIES / program
    assert binary.exists(), f"{binary} is not built; run: cargo build --bins"
    command = [binary, *arguments, "--help"]
    told = subprocess.run(command, env={}, capture_output=True, text=True, check=True, timeout=20)
    return Settings(told.stdout)


def program_of(pod):
    """The program in a pod's image: all front ends' images have `web`, and the gateway's image may have the pages, too."""
    return "web" if pod.image.startswith("web-") else pod.image.removesuffix("-pages")


def settings_of(pod):
    return settings(program_of(pod), tuple(pod.container.get("args", [])))


def given(pod):
    """Settings of the image, overridden by those of the pod."""
    [stage] = source(rf"FROM runtime AS {program_of(pod)}\n(.*?)ENTRYPOINT", "images/rust.Dockerfile")
    return dict(re.findall(r"^ENV (\w+)=(.*)$", stage, re.MULTILINE)) | pod.settings


def ours(folder):
    return [found for found in workloads(render(folder)) if program_of(found) in PROGRAMS]


def servers(folder):
    return [pod for pod in ours(folder) if "LISTEN" in given(pod)]


def each(found):
    return [pytest.param(folder, pod, id=f"{folder}/{pod.name}") for folder in OVERLAYS for pod in found(folder)]


def source(pattern, file):
    """Matches of a pattern in our code; at least one."""
    found = re.findall(pattern, (ROOT / file).read_text(), re.DOTALL)
    assert found, f"{file} has no {pattern}"
    return found


def test_every_program_runs_somewhere():
    for folder in OVERLAYS:
        # The gateway of a small installation serves the pages.
        assert {program_of(pod) for pod in ours(folder)} == (PROGRAMS if folder == PRODUCTION else PROGRAMS - {"web"})


@pytest.mark.parametrize(("folder", "pod"), each(ours))
def test_each_setting_is_known_to_its_program(folder, pod):
    names = set(given(pod)) - NOT_SETTINGS
    assert names - settings_of(pod).known == set()
    for name in names:
        assert name.removesuffix("_FILE") == name or name.removesuffix("_FILE") not in names, f"{name} is given twice"


@pytest.mark.parametrize(("folder", "pod"), each(ours))
def test_each_required_setting_is_given(folder, pod):
    """Required: without a default, or with an address of a developer's machine as the default."""
    names = {name.removesuffix("_FILE") for name in given(pod)}
    assert (settings_of(pod).required | settings_of(pod).of_this_host) - names == set()


@pytest.mark.parametrize(("folder", "pod"), each(ours))
def test_each_setting_can_be_given(folder, pod):
    """An overlay can give it in a map whose readers all know the setting, or as a file of a Secret."""
    taking = {name: [other for other in ours(folder) if name in other.maps] for name in pod.maps}
    for name in settings_of(pod).known - set(given(pod)):
        if name.endswith("_FILE"):
            assert name.removesuffix("_FILE") in given(pod) or pod.secret_files(), name
        elif f"{name}_FILE" not in settings_of(pod).known:
            knowing = [all(name in settings_of(other).known for other in others) for others in taking.values()]
            assert any(knowing), f"no map of {pod.name} can hold {name}"


def test_production_gives_what_a_company_needs_beyond_what_starts():
    pods = {pod.name: given(pod) for pod in ours(PRODUCTION)}
    for name, settings in pods.items():
        assert "OTEL_EXPORTER_OTLP_ENDPOINT" in settings or name in ("setup", "sweep", "backup")
    # Without these, the brand's example addresses would get the mails.
    addresses = {"MAIL_FROM", "SALES_TO", "RECRUITERS_TO", "OPERATOR_TO"}
    [notifier] = [pod for pod in ours(SMALL) if pod.name == "notifier"]
    assert addresses <= set(pods["notifier"]) & set(given(notifier))
    needed = {"SMTP_HOST", "SMTP_PORT", "SMTP_USER", "SMTP_PASSWORD_FILE", "SITE_URL", "WEBHOOKS_FILE"}
    assert needed <= set(pods["notifier"])
    assert pods["notifier"]["SMTP_TLS"] != "none"
    assert pods["notifier"]["SITE_URL"].startswith("https://")
    assert pods["careers"]["S3_ENDPOINT"].startswith("https://")
    assert "CLAMD" in pods["careers"]
    assert pods["gateway"]["VISITOR_ADDRESS_FROM"] != "connection"


@pytest.mark.parametrize("folder", OVERLAYS)
def test_old_pods_stay_until_gateways_find_new_ones(folder):
    [interval] = source(r"LOOKUP_INTERVAL: Duration = Duration::from_secs\((\d+)\);", "services/gateway/src/forwarding/balanced.rs")
    [gateway] = [pod for pod in ours(folder) if pod.name == "gateway"]
    for name in ("CONTACT_URL", "NEWSLETTER_URL", "CAREERS_URL"):
        [host, port] = re.fullmatch(r"https?://(.+):(\d+)", given(gateway)[name]).groups()
        service = named(render(folder), "Service")[host]["spec"]
        assert service["clusterIP"] == "None", f"{host} is one address, and calls stay with one pod"
        [pod] = [pod for pod in ours(folder) if service["selector"].items() <= pod.labels.items()]
        assert pod.ports[service["ports"][0]["targetPort"]] == int(port)
        deployment = named(render(folder), "Deployment")[pod.name]["spec"]
        assert deployment["minReadySeconds"] > DNS_SECONDS + int(interval)


@pytest.mark.parametrize("folder", [PRODUCTION, EXTERNAL_SECRETS, RESTORE])
def test_production_speaks_tls_between_pods_by_names_that_certificates_have(folder):
    objects = render(folder)
    certificates = {found["spec"]["secretName"]: found["spec"] for found in of_kind(objects, "Certificate")}
    called = []
    for pod in ours(folder):
        settings = pod.settings
        for address in filter(None, settings.get("NATS_URL", "").split(",")):
            called.append((address, pod.secret_files()[settings["NATS_CA_FILE"].rpartition("/")[0]]))
        if endpoint := settings.get("OTEL_EXPORTER_OTLP_ENDPOINT"):
            file = settings["OTEL_EXPORTER_OTLP_CERTIFICATE"]
            called.append((endpoint, pod.secret_files()[file.rpartition("/")[0]]))
        called += [(settings[name], f"{name.split('_')[0].lower()}-tls") for name in settings if re.match("(CON|NEWS|CAR).*_URL", name)]
    assert called
    for address, secret in called:
        scheme, host = re.fullmatch(r"(\w+)://([a-z-]+):\d+", address).groups()
        assert scheme in ("nats", "https")
        assert host in certificates[secret]["dnsNames"], address
    # Only the gateway has a client certificate of the services' authority, and it cannot serve with it.
    clients = {name for name, spec in certificates.items() if "client auth" in spec.get("usages", [])}
    assert clients == {"gateway-tls", "nats-routes"}
    assert {certificates[name]["issuerRef"]["name"] for name in clients} == {"site-ca", "nats-routes-ca"}
    assert "server auth" not in certificates["gateway-tls"]["usages"]


@pytest.mark.parametrize(("folder", "pod"), each(lambda folder: workloads(render(folder))))
def test_pods_mount_only_the_authority_of_other_secrets(folder, pod):
    for volume in pod.pod.get("volumes", []):
        secret = volume.get("secret", {}).get("secretName", "")
        own = f"{pod.name}-tls"
        if secret in issued(render(folder)) and secret not in (own, "nats-routes"):
            assert [item["key"] for item in volume["secret"]["items"]] == ["ca.crt"], f"{pod.name}: {secret}"


def test_a_scanner_scans_every_resume_whole_and_for_as_long_as_is_waited():
    config = named(render(PRODUCTION), "ConfigMap")
    [text] = [found["data"]["clamd.conf"] for name, found in config.items() if name.startswith("clamd-")]
    limits = dict(re.findall(r"^(\w+) (\d+)M?$", text, re.MULTILINE))
    [megabytes] = source(r"MAX_BYTES: u64 = (\d+) \* 1024 \* 1024", "services/careers/src/resume/mod.rs")
    assert all(int(limits[name]) > int(megabytes) for name in ("StreamMaxLength", "MaxFileSize", "MaxScanSize"))
    [longest] = source(r"SCAN_TIMEOUT: Duration = Duration::from_secs\((\d+)\)", "services/careers/src/scanner.rs")
    assert int(limits["MaxScanTime"]) > int(longest) * 1000


@pytest.mark.parametrize(("folder", "pod"), each(lambda folder: workloads(render(folder))))
def test_each_secret_that_is_read_has_that_key(folder, pod):
    assert {key for secret, key in keys_read(pod) if key not in secrets(render(folder)).get(secret, {})} == set()


def keys_read(pod):
    """Keys that a pod reads, as (secret, key)."""
    for name, value in pod.settings.items():
        if isinstance(value, dict) and "secretKeyRef" in value:
            yield value["secretKeyRef"]["name"], value["secretKeyRef"]["key"]
        elif name.endswith(("_FILE", "_CERTIFICATE")):
            folder, _, key = value.rpartition("/")
            yield pod.secret_files().get(folder, f"no secret in {folder}"), key
    # The broker's configuration names its files.
    text = "".join(pod.configuration.values())
    for folder, secret in pod.secret_files().items():
        yield from ((secret, key) for key in re.findall(rf"_file: {folder}/([^/\n]+)\n", text))


@pytest.mark.parametrize("folder", OVERLAYS)
def test_no_secret_is_kept_that_nobody_reads(folder):
    objects = render(folder)
    kept = {(secret, key) for secret, keys in secrets(objects).items() for key in keys}
    assert kept - {read for pod in workloads(objects) for read in keys_read(pod)} == set()


def listening(pod):
    addresses = {name: value for name, value in given(pod).items() if name in ("LISTEN", "HEALTH_LISTEN")}
    return {name: int(address.removeprefix("0.0.0.0:")) for name, address in addresses.items()}


@pytest.mark.parametrize(("folder", "pod"), each(servers))
def test_probes_call_ports_and_paths_of_the_program(folder, pod):
    ports = listening(pod)
    assert sorted(ports.values()) == sorted(pod.ports.values())
    assert len(pod.probes) == 3
    healths = {"", *source(r'pub const LIVE: &str = "(\w+)"', "crates/service/src/health.rs")}
    for probe in pod.probes:
        if "grpc" in probe:
            # A kubelet has no certificate for a port with mutual TLS.
            assert probe["grpc"]["port"] == (ports["HEALTH_LISTEN"] if "GRPC_CA_FILE" in given(pod) else ports["LISTEN"])
            assert probe["grpc"].get("service", "") in healths
        else:
            # On its own port, a probe passes during a flood of visitors.
            assert pod.ports[probe["httpGet"]["port"]] == ports["HEALTH_LISTEN"] != ports["LISTEN"]
            assert probe["httpGet"]["path"] in source(r'\.route\("(/[a-z]+z)"', "crates/service/src/http_health.rs")


@pytest.mark.parametrize(("folder", "pod"), each(servers))
def test_an_outage_of_the_broker_restarts_nothing(folder, pod):
    """A restart would not help. The overall health and /readyz report the outage."""
    for probe in (pod.container["livenessProbe"], pod.container["startupProbe"]):
        assert probe.get("grpc", {}).get("service") == "live" or probe["httpGet"]["path"] == "/livez"


def grace(pod):
    return int(given(pod).get("GRACE_SECONDS", settings_of(pod).defaults["GRACE_SECONDS"]))


@pytest.mark.parametrize(("folder", "pod"), each(servers))
def test_the_grace_period_covers_the_drain(folder, pod):
    before = pod.container.get("lifecycle", {}).get("preStop", {}).get("sleep", {}).get("seconds", 0)
    assert pod.pod["terminationGracePeriodSeconds"] >= before + grace(pod) + FLUSH_SECONDS
    # A pod behind a service must wait until its callers know that it stops.
    is_called = any(pod.labels.items() >= service["spec"]["selector"].items() for service in services(folder).values())
    assert (before > 0) == is_called


@pytest.mark.parametrize("folder", OVERLAYS)
def test_careers_stops_after_gateways_that_send_uploads(folder):
    """If all stop at once, careers must receive for as long as a gateway sends."""
    pods = {pod.name: pod for pod in servers(folder)}
    [storing] = source(r"const STORING_SECONDS: u64 = (\d+);", "services/careers/src/settings.rs")
    assert grace(pods["careers"]) - int(storing) >= grace(pods["gateway"])


def test_a_local_stack_waits_for_the_longest_drain():
    [waited] = source(r"const STOP_TIMEOUT: Duration = Duration::from_secs\((\d+)\)", "tools/testkit/src/child_process.rs")
    assert int(waited) >= max(grace(pod) for pod in servers("overlays/local")) + FLUSH_SECONDS


@pytest.mark.parametrize("folder", OVERLAYS)
def test_shared_secrets_come_from_one_place(folder):
    there = secrets(render(folder))
    kept = {(pod.name, key): there[secret][key] for pod in workloads(render(folder)) for secret, key in keys_read(pod)}
    assert all(kept[name, "person-key"] == kept["setup", "person-key"] for name in ("contact", "newsletter", "careers"))
    assert kept["newsletter", "token-key"] == kept["notifier", "token-key"]
    assert kept["notifier", "webhooks"] == kept["setup", "webhooks"]
    for pod in ours(folder):
        if user := pod.settings.get("NATS_USER"):
            assert kept[pod.name, "nats-password"] == kept["nats", f"{user}-password"], pod.name


def services(folder):
    return named(render(folder), "Service")


@pytest.mark.parametrize("folder", RENDERED)
def test_each_service_leads_to_ports_that_pods_have(folder):
    pods = workloads(render(folder))
    for name, service in services(folder).items():
        behind = [pod for pod in pods if pod.labels.items() >= service["spec"]["selector"].items()]
        assert len(behind) == 1, name
        assert {port["targetPort"] for port in service["spec"]["ports"]} <= set(behind[0].ports), name


@pytest.mark.parametrize(("folder", "pod"), each(ours))
def test_each_address_in_the_namespace_belongs_to_a_service(folder, pod):
    told = {
        **pod.settings,
        "SMTP": f"smtp://{pod.settings.get('SMTP_HOST')}:{pod.settings.get('SMTP_PORT')}",
        "CLAMD": f"tcp://{pod.settings.get('CLAMD')}",
    }
    values = [part for value in told.values() if isinstance(value, str) for part in value.split(",")]
    addresses = [re.fullmatch(r"\w+://([a-z0-9-]+):(\d+)", value) for value in values]
    inside = [(found[1], int(found[2])) for found in addresses if found and found[1] != "localhost"]
    # A front end's server calls only the collector, which a local demo lacks.
    assert inside or program_of(pod) == "web", "no address was found"
    for host, port in inside:
        assert port in [found["port"] for found in services(folder)[host]["spec"]["ports"]]


@pytest.mark.parametrize("folder", ROUTED)
def test_each_path_leads_to_its_front_end_or_the_gateway(folder):
    cluster = routes(render(folder))
    # An upload has its own rule only for its timeout.
    assert cluster.pop("/api/career-application", ("gateway", 80)) == cluster["/api"]
    pages = {"/": "web-shell", "/remotes/blog": "web-blog", "/remotes/careers": "web-careers"}
    assert cluster == {"/api": ("gateway", 80)} | {
        path: ("gateway" if folder == SMALL else server, 80) for path, server in pages.items()
    }
    for name, port in cluster.values():
        assert port in [found["port"] for found in services(folder)[name]["spec"]["ports"]]


def test_a_route_lets_an_upload_take_its_time():
    route = named(render(PRODUCTION), "HTTPRoute")["site"]
    rules = {match["path"]["value"]: rule for rule in route["spec"]["rules"] for match in rule["matches"]}
    [upload] = source(r"UPLOAD_TIMEOUT: Duration = Duration::from_secs\((\d+)\)", "services/gateway/src/router.rs")
    assert int(rules["/api/career-application"]["timeouts"]["request"].removesuffix("s")) > int(upload)


def test_keda_scales_a_deployment_that_there_is():
    [scaled] = of_kind(render(PRODUCTION), "ScaledObject")
    assert scaled["spec"]["scaleTargetRef"]["name"] in named(render(PRODUCTION), "Deployment")


def test_keda_asks_the_broker_of_our_namespace():
    objects = render(PRODUCTION)
    broker = named(objects, "StatefulSet")["nats"]
    place = f"{broker['spec']['serviceName']}.{broker['metadata']['namespace']}.svc.cluster.local"
    port = Workload(broker, objects).ports["monitor"]
    [scaled] = of_kind(objects, "ScaledObject")
    for trigger in scaled["spec"]["triggers"]:
        assert trigger["metadata"]["natsServerMonitoringEndpoint"] == f"{place}:{port}"


@pytest.mark.parametrize("folder", OVERLAYS)
def test_every_user_of_the_broker_has_a_password(folder):
    broker = next(pod for pod in workloads(render(folder)) if pod.name == "nats")
    wanted = re.findall(r"\$(NATS_[A-Z0-9_]+)", "\n".join(broker.configuration.values()))
    assert {name for name in broker.settings if name.startswith("NATS_")} == set(wanted)
    users = source(r"user: (\w+),", "crates/broker/nats/users.conf")
    for pod in ours(folder):
        assert pod.settings.get("NATS_USER", "operator") in users


@pytest.mark.parametrize("folder", OVERLAYS)
def test_the_sweep_is_no_dry_run(folder):
    [sweep] = [pod for pod in workloads(render(folder)) if pod.name == "sweep"]
    assert sweep.container["args"] == ["sweep", "--yes"]


def test_nothing_else_writes_during_a_restore():
    objects = render(RESTORE)
    pods = {pod.name: pod for pod in workloads(objects)}
    # The broker, the scanner, which stores no data, and the job.
    assert set(pods) == {"nats", "clamd", "restore"}
    restore = pods["restore"]
    # The operator starts it.
    assert named(objects, "Job")["restore"]["spec"]["suspend"] is True
    assert restore.container["args"][0] == "restore" and restore.container["args"][-1] == "--yes"
    # It is the job `setup`, patched, and keeps its settings.
    known = settings_of(restore).known | settings("sitectl", ("setup",)).known
    assert set(given(restore)) - NOT_SETTINGS - known == set()
    assert settings_of(restore).required - {name.removesuffix("_FILE") for name in given(restore)} == set()


def test_what_is_restored_comes_from_where_the_backup_goes():
    [backup] = [pod for pod in workloads(render(PRODUCTION)) if pod.name == "backup"]
    [restore] = [pod for pod in workloads(render(RESTORE)) if pod.name == "restore"]
    [drill] = workloads(render(DRILL))
    for name in ("BACKUP_S3_ENDPOINT", "BACKUP_S3_REGION", "BACKUP_S3_BUCKET"):
        assert backup.settings[name] == restore.settings[name] == drill.settings[name], name
    # The backup job cannot decrypt: the identity is in another Secret.
    assert "BACKUP_IDENTITY_FILE" not in backup.settings
    assert restore.settings["BACKUP_IDENTITY_FILE"] == "/identity/identity"
    assert restore.secret_files()["/identity"] == "backup-identity"


def test_a_drill_has_all_settings_of_a_restore():
    [drill] = workloads(render(DRILL))
    assert set(given(drill)) - settings_of(drill).known == set()
    assert settings_of(drill).required - {name.removesuffix("_FILE") for name in given(drill)} == set()
    assert drill.settings["NATS_URL"] == "nats://127.0.0.1:4222" and drill.settings["S3_ENDPOINT"] == "http://127.0.0.1:9000"
    images = {container["image"].split("@")[0].split(":")[0] for container in drill.pod["initContainers"]}
    assert images == {"nats", "versity/versitygw"}