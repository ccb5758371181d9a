"""The broker tells what its exporter makes the metrics of that alerts ask for, and tells it when it has no majority."""

import json
import re
import socket
import subprocess
import time
import urllib.error
import urllib.request
from contextlib import ExitStack

import pytest
from tree import ROOT, free_ports, nats_server

CONFIG = """
server_name: nats-{number}
listen: 127.0.0.1:{client}
http: 127.0.0.1:{monitor}
jetstream {{ store_dir: "{folder}", max_file_store: 64MB }}
cluster {{ name: site, listen: 127.0.0.1:{route}, routes: [{routes}] }}
"""


class Cluster:
    """Three servers, without passwords."""

    def __init__(self, folder, running):
        ports = free_ports(9)
        clients, self.monitors, routes = ports[:3], ports[3:6], ports[6:]
        self.client = clients[0]
        self.servers = []
        for number in range(3):
            config = folder / f"nats-{number}.conf"
            config.write_text(
                CONFIG.format(
                    number=number,
                    client=clients[number],
                    monitor=self.monitors[number],
                    route=routes[number],
                    routes=", ".join(f"nats://127.0.0.1:{port}" for port in routes),
                    folder=folder / f"data-{number}",
                )
            )
            command = [nats_server(), "--config", config]
            server = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            running.callback(server.kill)
            self.servers.append(server)

    def ask(self, number, path):
        """What a server says, whatever the status; the exporter does not look at that either."""
        try:
            with urllib.request.urlopen(f"http://127.0.0.1:{self.monitors[number]}/{path}", timeout=5) as answer:
                return json.load(answer)
        except urllib.error.HTTPError as error:
            return json.load(error)
        except OSError:
            return {}

    def publish(self, subject, text):
        """The answer to a message."""
        with socket.create_connection(("127.0.0.1", self.client), timeout=10) as line, line.makefile("rwb") as wire:
            wire.write(b'CONNECT {"verbose":false}\r\nSUB answers 1\r\n')
            wire.write(f"PUB {subject} answers {len(text)}\r\n{text}\r\n".encode())
            wire.flush()
            while not (told := wire.readline()).startswith(b"MSG"):
                assert told, "the server hung up"
            return json.loads(wire.read(int(told.split()[-1])))


def eventually(what, true):
    deadline = time.monotonic() + 60
    while not (found := true()):
        assert time.monotonic() < deadline, f"not within a minute: {what}"
        time.sleep(0.2)
    return found


@pytest.fixture
def cluster(tmp_path):
    with ExitStack() as running:
        started = Cluster(tmp_path, running)
        eventually("all are well", lambda: all(started.ask(number, "healthz").get("status") == "ok" for number in range(3)))
        yield started


def numbers(told, prefix="gnatsd_varz"):
    """The names that the exporter makes of numbers, `objectToMetrics` of its collector/collector.go."""
    for key, value in told.items():
        if isinstance(value, dict):
            yield from numbers(value, f"{prefix}_{key}")
        elif isinstance(value, int | float):
            yield f"{prefix}_{key}"


def copies(cluster, number):
    """Last sequence and leader of each stream, where collector/jsz.go of the exporter takes them from."""
    accounts = cluster.ask(number, "jsz?streams=true").get("account_details", [])
    streams = [stream for account in accounts for stream in account.get("stream_detail", [])]
    return {stream["name"]: (stream["state"]["last_seq"], stream["cluster"].get("leader", "")) for stream in streams}


def leader(cluster, number):
    return cluster.ask(number, "jsz?streams=true").get("meta_cluster", {}).get("leader", "")


def test_the_broker_tells_what_alerts_ask_its_exporter_for(cluster):
    asked = re.findall(r"`(gnatsd_varz_\w+)`", (ROOT / "docs/telemetry.md").read_text())
    assert asked
    assert set(asked) <= set(numbers(cluster.ask(0, "varz")))
    stream = {"name": "SITE", "subjects": ["site.>"], "num_replicas": 3, "storage": "file", "max_bytes": 4000}
    stream |= {"discard": "new"}
    assert "error" not in cluster.publish("$JS.API.STREAM.CREATE.SITE", json.dumps(stream))
    eventually("an event is stored", lambda: cluster.publish("site.event", "one").get("seq"))
    led = eventually("every copy has it", lambda: one_of([copies(cluster, number).get("SITE") for number in range(3)]))
    assert led[0] >= 1 and led[1] in {"nats-0", "nats-1", "nats-2"}
    assert {leader(cluster, number) for number in range(3)} <= {"nats-0", "nats-1", "nats-2"}
    assert cluster.ask(0, "jsz").get("disabled", False) is False
    # One that is left knows no leader, and says that it is not well.
    for server in cluster.servers[1:]:
        server.kill()
    eventually("the broker has no leader", lambda: not leader(cluster, 0))
    eventually("the stream has none", lambda: copies(cluster, 0)["SITE"] == (led[0], ""))
    assert cluster.ask(0, "healthz")["status"] == "unavailable"


def one_of(alike):
    return alike[0] if alike[0] and len(set(alike)) == 1 else None
