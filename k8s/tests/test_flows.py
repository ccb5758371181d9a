"""The network lets through what was designed, and nothing else."""

import re
from urllib.parse import urlsplit

import yaml
from flows import TABLE, flows, table
from tree import of_kind, render

DNS = "pods in namespace kubernetes.io/metadata.name=kube-system, k8s-app=kube-dns"
WAY_IN = "pods in namespace site/way-in=true"
MONITORING = "pods in namespace kubernetes.io/metadata.name=monitoring"
KEDA = "pods in namespace kubernetes.io/metadata.name=keda, app=keda-operator"
OUTSIDE = "outside the cluster"

WEB = ["web-shell", "web-blog", "web-careers"]
SERVICES = [("contact", 50051), ("newsletter", 50052), ("careers", 50053)]
KEEPING_FILES = ["careers", "notifier", "setup", "sweep"]
TELLING = ["gateway", "contact", "newsletter", "careers", "notifier", *WEB]


def designed(everywhere, stores):
    """The flows of every overlay, and those to where it stores and sends."""
    return (
        {(WAY_IN, door, "8080/TCP") for door in ["gateway", *WEB]}
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
PRODUCTION = designed(
    [*TELLING, "setup", "sweep", "backup", "nats", "collector", "clamd"],
    # S3, and webhooks too where the notifier calls.
    {(client, OUTSIDE, "443/TCP") for client in [*KEEPING_FILES, "backup"]}
    | {("notifier", OUTSIDE, "587/TCP"), ("backup", "nats", "4222/TCP")}
    # Résumés, and the signatures of viruses.
    | {("careers", "clamd", "3310/TCP"), ("clamd", OUTSIDE, "443/TCP")}
    | {(client, "collector", "4317/TCP") for client in TELLING}
    # Traces, and logs.
    | {("collector", MONITORING, port) for port in ("4317/TCP", "3100/TCP")}
    | {(MONITORING, "gateway", "8090/TCP")}
    | {(MONITORING, "collector", port) for port in ("8888/TCP", "8889/TCP")}
    | {(KEDA, "nats", "8222/TCP")},
)


def test_a_local_demo_has_the_designed_flows_only():
    assert flows(render("overlays/local")) == LOCAL


def test_production_has_the_designed_flows_only():
    assert flows(render("overlays/production")) == PRODUCTION


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


def test_the_published_table_is_that_of_the_manifests():
    assert TABLE.read_text() == table(), "Renew it: cargo xtask k8s --write"
