"""Network policies allow the designed flows and no other."""

import re
from urllib.parse import urlsplit

import pytest
import yaml
from flows import COMPONENTS, TABLE, changed, flows, table
from tree import POLICIES, of_kind, render
from tree import PRODUCTION as EXAMPLE

DNS = "pods in namespace kubernetes.io/metadata.name=kube-system, k8s-app=kube-dns"
WAY_IN = "pods in namespace site/way-in=true"
MONITORING = "pods in namespace kubernetes.io/metadata.name=monitoring"
KEDA = "pods in namespace kubernetes.io/metadata.name=keda, app=keda-operator"
OUTSIDE = "outside the cluster"
# Placeholder (RFC 5737), which an overlay replaces.
NAMED = "addresses 192.0.2.0/24"

WEB = ["web-shell", "web-blog", "web-careers"]
SERVICES = [("contact", 50051), ("newsletter", 50052), ("careers", 50053)]
KEEPING_FILES = ["careers", "notifier", "setup", "sweep"]
TELLING = ["gateway", "contact", "newsletter", "careers", "notifier", *WEB]
# Pods that visitors reach.
DOORS = ["gateway", *WEB]


def designed(everywhere, others):
    """Flows that every overlay has, and these others."""
    return (
        {(WAY_IN, "gateway", "8080/TCP")}
        | {("gateway", service, f"{port}/TCP") for service, port in SERVICES}
        | {(client, "nats", "4222/TCP") for client in [*dict(SERVICES), "notifier", "setup", "sweep"]}
        | {("nats", "nats", "6222/TCP")}
        | {(pod, DNS, f"53/{protocol}") for pod in everywhere for protocol in ("UDP", "TCP")}
        # S3, and the notifier's webhooks.
        | {(client, OUTSIDE, "443/TCP") for client in KEEPING_FILES}
        | {("notifier", OUTSIDE, f"{port}/TCP") for port in (465, 587, 2525)}
        | others
    )


BACKUP = {("backup", OUTSIDE, "443/TCP"), ("backup", "nats", "4222/TCP")}
PROGRAMS = ["gateway", *dict(SERVICES), "notifier", "setup", "sweep", "nats"]
LOCAL = designed(
    [*PROGRAMS, "s3", "mail"],
    {(client, "s3", "9000/TCP") for client in KEEPING_FILES} | {("notifier", "mail", "1025/TCP")},
)
SMALL = designed([*PROGRAMS, "backup"], BACKUP)
EVERYWHERE = [*TELLING, "setup", "sweep", "backup", "nats", "collector", "broker-exporter", "clamd", "signatures"]
PRODUCTION = designed(
    EVERYWHERE,
    BACKUP
    | {(WAY_IN, page, "8080/TCP") for page in WEB}
    # The page of a form that was refused, for a browser without our scripts.
    | {("gateway", "web-shell", "8080/TCP")}
    # Résumés, and the signatures of viruses.
    | {(client, "clamd", "3310/TCP") for client in ("careers", "signatures")}
    | {("clamd", OUTSIDE, "443/TCP")}
    | {(client, "collector", "4317/TCP") for client in TELLING}
    # Traces, and logs.
    | {("collector", MONITORING, port) for port in ("4317/TCP", "3100/TCP")}
    | {(MONITORING, "gateway", "8090/TCP")}
    | {(MONITORING, "collector", port) for port in ("8888/TCP", "8889/TCP")}
    | {("broker-exporter", "nats", "8222/TCP"), (MONITORING, "broker-exporter", "7777/TCP")}
    | {(KEDA, "nats", "8222/TCP")},
)



def dns(name, port):
    return {(pod, name, f"{port}/{protocol}") for pod in EVERYWHERE for protocol in ("UDP", "TCP")}


# What a policy or a component adds to production's flows, and what it takes from them.
CHANGES = {
    "ingress-from-cilium": ({("Cilium's ingress", door, "8080/TCP") for door in DOORS}, set()),
    "ingress-from-addresses": (
        {(NAMED, door, "8080/TCP") for door in DOORS},
        {(WAY_IN, door, "8080/TCP") for door in DOORS},
    ),
    "dns-node-local": (
        dns("addresses 169.254.20.10/32", 53)
        | dns("addresses 192.0.2.53/32", 53)
        | dns("pods in namespace kubernetes.io/metadata.name=kube-system, k8s-app=node-local-dns", 53),
        set(),
    ),
    "dns-openshift": (
        dns(
            "pods in namespace kubernetes.io/metadata.name=openshift-dns, dns.operator.openshift.io/daemonset-dns=default",
            5353,
        ),
        dns(DNS, 53),
    ),
    # Only careers loses public addresses: the others still need webhooks or the bucket of backups.
    "private-s3": (
        {(client, NAMED, "443/TCP") for client in [*KEEPING_FILES, "backup"]},
        {("careers", OUTSIDE, "443/TCP")},
    ),
    "private-webhooks": ({("notifier", NAMED, "443/TCP")}, set()),
    "synthetic-check": (
        {("synthetic-check", OUTSIDE, f"{port}/TCP") for port in (443, 993)}
        # kube-proxy sends calls to a load balancer of this cluster straight to the Gateway's pods.
        | {("synthetic-check", WAY_IN, f"{port}/TCP") for port in (443, 8443, 10443)}
        | {("synthetic-check", DNS, f"53/{protocol}") for protocol in ("UDP", "TCP")},
        set(),
    ),
}


@pytest.mark.parametrize(("profile", "expected"), [("local", LOCAL), ("small", SMALL), ("production", PRODUCTION)])
def test_a_profile_has_the_designed_flows_only(profile, expected):
    assert flows(render(f"overlays/{profile}")) == expected


@pytest.mark.parametrize("name", POLICIES + COMPONENTS)
def test_a_policy_or_component_changes_the_designed_flows_only(name):
    added, taken = CHANGES[name]
    assert taken <= PRODUCTION
    assert flows(changed(name)) == PRODUCTION - taken | added


def test_the_collector_reaches_where_it_sends_what():
    maps = [found.get("data", {}) for found in of_kind(render(EXAMPLE), "ConfigMap")]
    [text] = [data["collector.conf.yaml"] for data in maps if "collector.conf.yaml" in data]
    [backends] = [data for data in maps if "TRACES" in data]
    assert set(re.findall(r"\$\{env:(\w+)\}", text)) == set(backends)
    for address in map(urlsplit, backends.values()):
        assert address.hostname.endswith(".monitoring")
        assert ("collector", MONITORING, f"{address.port}/TCP") in PRODUCTION
    told = yaml.safe_load(text)
    exporters = {signal: pipeline["exporters"] for signal, pipeline in told["service"]["pipelines"].items()}
    # Tempo takes no logs, and Loki takes OTLP by HTTP only.
    assert (exporters["traces"], exporters["logs"]) == (["otlp_grpc"], ["otlp_http"])
    assert told["exporters"]["otlp_grpc"] == {"endpoint": "${env:TRACES}", "tls": {"insecure": True}}
    assert told["exporters"]["otlp_http"] == {"endpoint": "${env:LOGS}"}


def test_the_generated_table_of_flows_is_current():
    assert TABLE.read_text() == table(), "run: cargo xtask generate"
