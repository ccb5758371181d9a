"""The broker reports the numbers that alerts use."""

import json
import re
import subprocess
import time
import urllib.request

from tree import K8S, free_ports, nats_server


def numbers(told, prefix="gnatsd_varz"):
    """Metric names, as the exporter derives them (`objectToMetrics` in its collector/collector.go)."""
    for key, value in told.items():
        if isinstance(value, dict):
            yield from numbers(value, f"{prefix}_{key}")
        elif isinstance(value, int | float):
            yield f"{prefix}_{key}"


def varz(port):
    for _ in range(300):
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/varz", timeout=5) as answer:
                return json.load(answer)
        except OSError:
            time.sleep(0.2)
    raise TimeoutError("the broker does not start")


def test_the_broker_reports_the_numbers_that_alerts_use(tmp_path):
    asked = set(re.findall(r"gnatsd_varz_\w+", (K8S / "components/observability/alerts/site.yaml").read_text()))
    client, monitor = free_ports(2)
    command = [nats_server(), "--addr", "127.0.0.1", "--port", str(client), "--http_port", str(monitor)]
    server = subprocess.Popen([*command, "--jetstream", "--store_dir", tmp_path], stderr=subprocess.DEVNULL)
    try:
        assert asked and asked <= set(numbers(varz(monitor)))
    finally:
        server.kill()
