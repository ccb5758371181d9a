"""Collector, alerts, probes and dashboards fit together."""

import json
import re
from urllib.parse import urlsplit

import pytest
import yaml
from tree import K8S, OVERLAYS, PRODUCTION, changed_production, named, of_kind, render, workloads

OBSERVABILITY = K8S / "components/observability"
# Limit of annotations, where `kubectl apply` keeps the last manifest.
LARGEST_ANNOTATION = 256 * 1024


def objects():
    return render(PRODUCTION)


def config():
    """Configuration of the collector."""
    maps = [found["data"] for found in of_kind(objects(), "ConfigMap")]
    [text] = [data["collector.conf.yaml"] for data in maps if "collector.conf.yaml" in data]
    return yaml.safe_load(text)


def test_prometheus_has_the_names_that_dashboards_and_alerts_use():
    prometheus = config()["exporters"]["prometheus"]
    assert prometheus["translation_strategy"] == "UnderscoreEscapingWithSuffixes"
    assert not {"namespace", "const_labels", "add_metric_suffixes"} & set(prometheus)


def test_every_signal_comes_in_by_otlp_and_goes_on():
    pipelines = config()["service"]["pipelines"]
    assert {name: pipeline["exporters"] for name, pipeline in pipelines.items()} == {
        "metrics": ["prometheus"],
        "traces": ["otlp_grpc"],
        "logs": ["otlp_http"],
    }
    assert all(pipeline["receivers"] == ["otlp"] for pipeline in pipelines.values())
    assert all(pipeline["processors"][0] == "memory_limiter" for pipeline in pipelines.values())


@pytest.mark.parametrize("folder", OVERLAYS)
def test_each_pod_that_sends_telemetry_names_itself(folder):
    """Otherwise two gateways would write to one series, and overwrite each other's counts."""
    pods = workloads(render(folder))
    sending = [pod for pod in pods if any(name.startswith("telemetry-") for name in pod.maps)]
    assert {"gateway", "notifier"} <= {pod.name for pod in sending}
    for pod in sending:
        assert pod.settings["OTEL_RESOURCE_ATTRIBUTES"] == "service.instance.id=$(POD_NAME)", pod.name
        assert pod.settings["POD_NAME"]["fieldRef"]["fieldPath"] == "metadata.name", pod.name
        # A variable is expanded only if it is defined before.
        order = [variable["name"] for variable in pod.container["env"]]
        assert order.index("POD_NAME") < order.index("OTEL_RESOURCE_ATTRIBUTES"), pod.name


def test_prometheus_scrapes_the_ports_of_the_collector():
    [collector] = [pod for pod in workloads(objects()) if pod.name == "collector"]
    told = config()
    ports = collector.ports
    assert told["exporters"]["prometheus"]["endpoint"] == f"0.0.0.0:{ports['metrics']}"
    assert told["receivers"]["otlp"]["protocols"]["grpc"]["endpoint"] == f"0.0.0.0:{ports['otlp']}"
    assert told["extensions"]["health_check"]["endpoint"] == f"0.0.0.0:{ports['health']}"
    [reader] = told["service"]["telemetry"]["metrics"]["readers"]
    own = reader["pull"]["exporter"]["prometheus"]
    assert own["port"] == ports["own-metrics"]
    # The alert TelemetryIsMissing uses the collector's documented names, without `_total`.
    assert all(own[f"without_{what}"] is True for what in ("type_suffix", "units", "scope_info"))
    monitor = named(objects(), "PodMonitor")["site"]
    asked = {endpoint["port"]: endpoint for endpoint in monitor["spec"]["podMetricsEndpoints"]}
    assert set(asked) == {"metrics", "own-metrics"}
    # Otherwise every service would be the job `collector`.
    assert asked["metrics"]["honorLabels"] is True
    assert monitor["spec"]["selector"]["matchLabels"].items() <= collector.labels.items()


def test_prometheus_scrapes_every_broker_server_through_the_exporter():
    pods = {pod.name: pod for pod in workloads(objects())}
    exporter = pods["broker-exporter"]
    monitor = named(objects(), "PodMonitor")["broker"]["spec"]
    assert monitor["selector"]["matchLabels"].items() <= exporter.labels.items()
    assert [endpoint["port"] for endpoint in monitor["podMetricsEndpoints"]] == list(exporter.ports) == ["metrics"]
    broker = named(objects(), "StatefulSet")["nats"]["spec"]
    names = [f"nats-{number}" for number in range(broker["replicas"])]
    port = pods["nats"].ports["monitor"]
    asked = [argument for argument in exporter.container["args"] if "," in argument]
    assert asked == [f"{name},http://{name}.{broker['serviceName']}:{port}" for name in names]


def test_probes_call_the_site_outside_and_forms_inside():
    probes = {name: found["spec"] for name, found in named(objects(), "Probe").items()}
    targets = {name: probe["targets"]["staticConfig"]["static"] for name, probe in probes.items()}
    [notifier] = [pod for pod in workloads(objects()) if pod.name == "notifier"]
    site = notifier.settings["SITE_URL"]
    gateway = named(objects(), "Service")["gateway"]["metadata"]["namespace"]
    assert targets == {
        "outside": [f"{site}/", f"{site}/api/openapi.json"],
        "forms": [f"http://gateway.{gateway}.svc:8090/readyz"],
    }
    assert {probe["jobName"] for probe in probes.values()} == set(re.findall(r'probe_success{job="([\w-]+)"}', all_alerts()))
    probers = {name: probe["prober"]["url"] for name, probe in probes.items()}
    assert re.fullmatch(r"[\w.-]+\.monitoring:\d+", probers["forms"]), "the policy gateway-health lets in that namespace alone"
    assert "monitoring" not in probers["outside"] and "invalid" not in probers["outside"]


def all_alerts():
    return (OBSERVABILITY / "alerts/site.yaml").read_text()


def alerts(rule):
    return [entry for group in rule["spec"]["groups"] for entry in group["rules"] if "alert" in entry]


def rule_on_file():
    """The rules that the Rust test extracts for promtool."""
    file = (OBSERVABILITY / "alerts/site.yaml").read_text()
    return {"spec": yaml.safe_load(re.sub(r"^  ", "", file.split("\nspec:\n")[1], flags=re.MULTILINE))}


def test_prometheus_gets_the_rules_that_promtool_tests():
    [rule] = of_kind(objects(), "PrometheusRule")
    tested = rule_on_file()
    # An overlay sets the address of the runbook.
    for entry in alerts(tested):
        entry["annotations"]["runbook_url"] = runbook() + entry["annotations"]["runbook_url"].removeprefix("docs/runbook.md")
    assert rule["spec"] == tested["spec"]
    names = [entry["alert"] for entry in alerts(rule)]
    # More would be causes, which belong in the runbook's section of their symptom.
    assert 0 < len(names) == len(set(names)) <= 20


def test_alerts_take_of_what_others_measure_what_is_in_this_namespace(tmp_path):
    elsewhere = changed_production(tmp_path, change_on_top=lambda overlay: overlay.update(namespace="elsewhere"))
    [rule] = of_kind(elsewhere, "PrometheusRule")
    [installation] = [group["rules"] for group in rule["spec"]["groups"] if group["name"] == "installation"]
    expressions = {entry["record"]: entry["expr"] for entry in installation}
    assert "http://gateway.elsewhere.svc:8090/readyz" in str(named(elsewhere, "Probe")["forms"])
    assert expressions["site:namespace:info"] == 'label_replace(vector(1), "namespace", "elsewhere", "", "")'


def test_each_rule_keeps_installations_apart():
    """Without the namespace, one installation would hide another's failure, or alert under its name."""
    expressions = [entry["expr"] for group in rule_on_file()["spec"]["groups"] for entry in group["rules"]]
    # All installations share nodes and zones.
    for expression in (found for found in expressions if "kube_node_labels" not in found):
        assert set(re.findall(r"\b(?:by|on) \((\w+)", expression)) <= {"namespace"}, expression
        assert not re.search(r"\babsent\(|\b(?:sum|max|min|count|group)\b(?! by \()", expression), expression


def runbook():
    """Address of the runbook in production's overlay."""
    text = (K8S / PRODUCTION / "kustomization.yaml").read_text()
    [address] = re.findall(r"- RUNBOOK=(\S+)", text)
    return address


def test_alerts_link_to_the_runbook():
    """A path in a repository is no link in a mail."""
    [rule] = of_kind(objects(), "PrometheusRule")
    for entry in alerts(rule):
        address = urlsplit(entry["annotations"]["runbook_url"])
        assert (address.scheme, bool(address.hostname)) == ("https", True), entry["alert"]
        assert address.path.endswith("/docs/runbook.md"), entry["alert"]
        assert address.fragment == entry["alert"].lower()
    # The ConfigMap `watched` is for kustomize only.
    assert [name for name in named(objects(), "ConfigMap") if name.startswith("watched")] == []


def example():
    """The example configuration of Alertmanager."""
    return yaml.safe_load((OBSERVABILITY / "alertmanager.example.yaml").read_text())


def test_each_severity_has_a_receiver():
    """Severities as in kube-prometheus, https://runbooks.prometheus-operator.dev."""
    rule = rule_on_file()
    found = {entry["alert"]: severities(entry, rule) for entry in alerts(rule)}
    assert all(found.values()) and set().union(*found.values()) == {"critical", "warning"}
    route = example()["route"]
    taken = {matcher: way["receiver"] for way in route["routes"] for matcher in way["matchers"]}
    assert set(taken) == {"severity = critical", "severity = warning"}
    assert len(set(taken.values())) == len(taken)
    assert {route["receiver"], *taken.values()} <= {receiver["name"] for receiver in example()["receivers"]}


def severities(alert, rule):
    """Severities in an alert's labels, its expression, and the labels of recorded series that it uses."""
    entries = [entry for group in rule["spec"]["groups"] for entry in group["rules"]]
    taken = [entry for entry in entries if entry.get("record") == alert["expr"]]
    labels = [entry.get("labels", {}) for entry in [alert, *taken]]
    found = {each["severity"] for each in labels if "severity" in each}
    return found | set(re.findall(r'"severity", "(\w+)"', alert["expr"]))


def test_only_a_critical_alert_silences_others():
    names = {entry["alert"] for entry in alerts(rule_on_file())}
    [of_one_alert, of_the_broker] = example()["inhibit_rules"]
    assert {"alertname", "namespace"} <= set(of_one_alert["equal"])
    assert of_the_broker["equal"] == ["namespace"]
    assert all("severity = critical" in rule["source_matchers"] for rule in (of_one_alert, of_the_broker))
    assert of_one_alert["target_matchers"] == ["severity = warning"]
    [source] = re.findall(r"alertname = (\w+)", str(of_the_broker["source_matchers"]))
    [targets] = re.findall(r'alertname =~ "([\w|]+)"', str(of_the_broker["target_matchers"]))
    assert source not in targets.split("|") and {source, *targets.split("|")} <= names


@pytest.mark.parametrize(
    ("level", "budget"), [("accept_errors", "0.001"), ("delivery_errors", "0.01")], ids=["accept", "deliver"]
)
def test_a_service_level_is_watched_by_four_pairs_of_windows(level, budget):
    """https://sre.google/workbook/alerting-on-slos, table 5-8, and the least number of failures in the long window."""
    [rule] = of_kind(objects(), "PrometheusRule")
    rules = [entry for group in rule["spec"]["groups"] for entry in group["rules"]]
    recorded = {entry["record"]: entry["expr"] for entry in rules if "record" in entry}
    found, least = {}, {}
    over = rf"site:{level}:ratio_rate(\w+) > ([\d.]+) \* {budget}"
    at_least = rf"(?: and site:{level}:increase(\w+) >= (\d+))?"
    parts = [found for entry in rules for found in re.findall(r'(.+?), "severity", "(\w+)"', entry["expr"])]
    for expression, severity in parts:
        for long, times, short, also, within, floor in re.findall(rf"\({over} and {over}{at_least}\)", expression):
            assert times == also
            found[float(times)] = (long, short, severity)
            if floor:
                assert within == long
                least[long] = int(floor)
    assert found == {
        14.4: ("1h", "5m", "critical"),
        6: ("6h", "30m", "critical"),
        3: ("1d", "2h", "warning"),
        1: ("3d", "6h", "warning"),
    }
    assert least == {"1h": 5, "6h": 10}
    windows = {window for long, short, _ in found.values() for window in (long, short)}
    names = [(f"ratio_rate{window}", window) for window in windows]
    names += [(f"increase{window}", window) for window in least]
    for name, window in names:
        assert set(re.findall(r"\[(\w+)\]", recorded[f"site:{level}:{name}"])) == {window}


def test_grafana_gets_every_dashboard():
    dashboards = named(objects(), "ConfigMap")["site-dashboards"]
    assert dashboards["metadata"]["labels"]["grafana_dashboard"] == "1"
    files = {f"site-{file.name}": file.read_text() for file in (OBSERVABILITY / "dashboards").iterdir()}
    assert files
    assert dashboards["data"] == files
    ids = [json.loads(text)["uid"] for text in files.values()]
    assert len(set(ids)) == len(ids)
    assert len(json.dumps(dashboards)) < LARGEST_ANNOTATION


def test_a_dashboard_shows_the_chosen_installation():
    for file in (OBSERVABILITY / "dashboards").iterdir():
        dashboard = json.loads(file.read_text())
        assert [variable["name"] for variable in dashboard["templating"]["list"]] == ["datasource", "namespace"], file
        queries = [target["expr"] for panel in dashboard["panels"] for target in panel["targets"]]
        assert all(query.count("{") == query.count('{namespace="$namespace"') > 0 for query in queries), file
