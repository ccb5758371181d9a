"""The network lets through what was designed, and nothing else."""

import re
from urllib.parse import urlsplit

import pytest
import yaml
from flows import OTHERS, TABLE, VARIANTS, flows, table
from tree import of_kind, render, render_with

DNS = "pods in namespace kubernetes.io/metadata.name=kube-system, k8s-app=kube-dns"
WAY_IN = "pods in namespace site/way-in=true"
MONITORING = "pods in namespace kubernetes.io/metadata.name=monitoring"
KEDA = "pods in namespace kubernetes.io/metadata.name=keda, app=keda-operator"
OUTSIDE = "outside the cluster"
# Nobody's, until an overlay says whose (RFC 5737).
NAMED = "addresses 192.0.2.0/24"

WEB = ["web-shell", "web-blog", "web-careers"]
SERVICES = [("contact", 50051), ("newsletter", 50052), ("careers", 50053)]
KEEPING_FILES = ["careers", "notifier", "setup", "sweep"]
TELLING = ["gateway", "contact", "newsletter", "careers", "notifier", *WEB]
# What visitors reach.
DOORS = ["gateway", *WEB]


def designed(everywhere, stores):
    """The flows of every overlay, and those to where it stores and sends."""
    return (
        {(WAY_IN, door, "8080/TCP") for door in DOORS}
        | {("gateway", service, f"{port}/TCP") for service, port in SERVICES}
        # The page of a form that was refused, for a browser without our scripts.
        | {("gateway", "web-shell", "8080/TCP")}
        | {(client, "nats", "4222/TCP") for client in [*dict(SERVICES), "notifier", "setup", "sweep"]}
        | {("nats", "nats", "6222/TCP")}
        | {(pod, DNS, f"53/{protocol}") for pod in everywhere for protocol in ("UDP", "TCP")}
        | stores
    )


LOCAL = designed(
    [*TELLING, "setup", "sweep", "nats", "s3", "mail"],
    {(client, "s3", "9000/TCP") for client in KEEPING_FILES} | {("notifier", "mail", "1025/TCP")},
)
EVERYWHERE = [*TELLING, "setup", "sweep", "backup", "nats", "collector", "broker-exporter", "clamd", "signatures"]
PRODUCTION = designed(
    EVERYWHERE,
    # S3, and webhooks too where the notifier calls.
    {(client, OUTSIDE, "443/TCP") for client in [*KEEPING_FILES, "backup"]}
    | {("notifier", OUTSIDE, "587/TCP"), ("backup", "nats", "4222/TCP")}
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


# What a component adds to production's flows, and what it takes from them.
CHANGES = {
    "ingress-from-cilium": ({("Cilium's ingress", door, "8080/TCP") for door in DOORS}, set()),
    "ingress-from-addresses": ({(NAMED, door, "8080/TCP") for door in DOORS}, set()),
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
    # The notifier's way to webhooks is one to the store, too, and so are those to the bucket of backups.
    "private-s3": (
        {(client, NAMED, "443/TCP") for client in [*KEEPING_FILES, "backup"]},
        {("careers", OUTSIDE, "443/TCP")},
    ),
    "private-webhooks": ({("notifier", NAMED, "443/TCP")}, set()),
    "synthetic-check": (
        {("synthetic-check", OUTSIDE, f"{port}/TCP") for port in (443, 993)}
        # A load balancer's address of the same cluster leads to the Gateway's pods at once.
        | {("synthetic-check", WAY_IN, f"{port}/TCP") for port in (443, 8443, 10443)}
        | {("synthetic-check", DNS, f"53/{protocol}") for protocol in ("UDP", "TCP")},
        set(),
    ),
}


def test_a_local_demo_has_the_designed_flows_only():
    assert flows(render("overlays/local")) == LOCAL


def test_production_has_the_designed_flows_only():
    assert flows(render("overlays/production")) == PRODUCTION


@pytest.mark.parametrize("component", VARIANTS + OTHERS)
def test_a_component_changes_the_designed_flows_only(component):
    added, taken = CHANGES[component]
    assert taken <= PRODUCTION
    assert flows(render_with([component])) == PRODUCTION - taken | added


def test_the_base_lets_no_visitor_in():
    """Whoever reaches the gateway may claim any visitor's address, so an overlay says who does."""
    assert {(source, pod) for source, pod, _ in flows(render("base")) if pod in DOORS} == {("gateway", "web-shell")}


def test_the_collector_reaches_where_it_sends_what():
    maps = [found.get("data", {}) for found in of_kind(render("overlays/production"), "ConfigMap")]
    [text] = [data["collector.conf.yaml"] for data in maps if "collector.conf.yaml" in data]
    [backends] = [data for data in maps if "TRACES" in data]
    assert set(re.findall(r"\$\{env:(\w+)\}", text)) == set(backends)
    for address in map(urlsplit, backends.values()):
        assert address.hostname.endswith(".monitoring")
        assert ("collector", MONITORING, f"{address.port}/TCP") in PRODUCTION
    told = yaml.safe_load(text)
    exporters = {signal: pipeline["exporters"] for signal, pipeline in told["service"]["pipelines"].items()}
    # Tempo has no place for logs, and Loki takes OTLP by HTTP only.
    assert (exporters["traces"], exporters["logs"]) == (["otlp_grpc"], ["otlp_http"])
    assert told["exporters"]["otlp_grpc"] == {"endpoint": "${env:TRACES}", "tls": {"insecure": True}}
    assert told["exporters"]["otlp_http"] == {"endpoint": "${env:LOGS}"}


def test_the_generated_table_of_flows_is_current():
    assert TABLE.read_text() == table(), "run: cargo xtask generate"
