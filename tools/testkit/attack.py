"""Attacks a running stack through the Caddy of docs/proxy.md, while visitors with other addresses send contact forms.

Fails if a form fails, or if the 99th percentile during an attack is above the limit. `cargo xtask attack` calls it.
"""

import http.client
import itertools
import json
import math
import os
import re
import socket
import ssl
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[2]
STACK = json.loads(Path(os.environ["STACK_FILE"]).read_text())
LOGS = Path(STACK["logs"])
HOST = "127.0.0.1"
SECONDS = 20
FORMS_PER_SECOND = 5
P99_LIMIT_MS = 250
START_SECONDS = 30
NUMBERS = itertools.count(1)

with socket.socket() as unused:
    unused.bind((HOST, 0))
    PORT = unused.getsockname()[1]
SITE = f"https://{HOST}:{PORT}"

# A real attacker has its own processors, so this attack gets only the processor time that the site leaves.
ATTACKER = ["nice", "-n", "19"]
SLOW = [*ATTACKER, "slowhttptest", "-c", "1000", "-r", "100", "-i", "5", "-l", str(SECONDS)]
FAST = [*ATTACKER, "h2load"]
ATTACKS = {
    "none": ["true"],
    "slow headers": [*SLOW, "-H", "-u", SITE],
    "slow body": [*SLOW, "-B", "-s", "60000", "-f", "application/json", "-u", f"{SITE}/api/contact"],
    "slow read": [*SLOW, "-X", "-k", "3", "-u", SITE],
    # 100 connections a second.
    "connections": [*FAST, "--h1", "-c", str(100 * SECONDS), "-n", str(100 * SECONDS), "-r", "100", SITE],
    # 300 requests a second. Caddy does not limit requests, so more would keep the processors busy and visitors waiting.
    "HTTP/2 flood": [*FAST, "-c", "30", "-m", "100", "--rps", "10", "-D", str(SECONDS), SITE],
}


def caddyfile(data):
    """The example of docs/proxy.md on our port, in front of the stack's gateway."""
    [text] = re.findall(r"```caddyfile\n(.*?)```", (ROOT / "docs/proxy.md").read_text(), re.DOTALL)
    options = f"admin off\nauto_https disable_redirects\nskip_install_trust\ndefault_bind {HOST}\nstorage file_system {data}\n"
    for example, ours in (
        ("{\n", "{\n" + options),
        ("www.example.com", SITE),
        ("10.0.0.11:8080 10.0.0.12:8080", STACK["site"]),
    ):
        assert example in text, f"docs/proxy.md has no {example!r}"
        text = text.replace(example, ours, 1)
    return text


@contextmanager
def proxy():
    """Runs Caddy, and returns TLS settings that trust its authority."""
    with tempfile.TemporaryDirectory() as folder:
        file, data = Path(folder) / "Caddyfile", Path(folder) / "data"
        file.write_text(caddyfile(data))
        command = [ROOT / "target/tools/caddy", "run", "--adapter", "caddyfile", "--config", file]
        with (LOGS / "caddy.log").open("w") as log, subprocess.Popen(command, stderr=log) as caddy:
            try:
                yield trust(data / "pki/authorities/local/root.crt")
            finally:
                caddy.terminate()


def trust(authority):
    """Waits until Caddy has made its certificates and proxies a form."""
    deadline = time.monotonic() + START_SECONDS
    while True:
        try:
            tls = ssl.create_default_context(cafile=authority)
            send_form(tls, 0)
            return tls
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.2)


def send_form(tls, visitor):
    """Sends a form over a new connection from the visitor's address. Returns the milliseconds until it was accepted."""
    started = time.monotonic()
    address = (f"127.0.0.{2 + visitor % 250}", 0)
    connection = http.client.HTTPSConnection(HOST, PORT, timeout=10, source_address=address, context=tls)
    form = {"name": "Ada Lovelace", "email": f"ada.{visitor}@example.org", "message": "Do you have cameras?"}
    try:
        connection.request("POST", "/api/contact", json.dumps(form), {"Content-Type": "application/json"})
        answer = connection.getresponse()
        if answer.status != 200:
            raise ConnectionError(f"{answer.status} {answer.read()}")
    finally:
        connection.close()
    return (time.monotonic() - started) * 1000


def try_attack(name, command, visitors, tls, log):
    """Sends forms at a fixed rate while the command runs, and prints a row. Returns what went wrong."""
    attacker = subprocess.Popen(command, stdout=log, stderr=log)
    forms = []
    for _ in range(SECONDS * FORMS_PER_SECOND):
        forms.append(visitors.submit(send_form, tls, next(NUMBERS)))
        time.sleep(1 / FORMS_PER_SECOND)
    failures = [f"{name}: {form.exception()}" for form in forms if form.exception()]
    times = sorted(math.inf if form.exception() else form.result() for form in forms)
    p50, p99 = (times[math.ceil(len(times) * share) - 1] for share in (0.5, 0.99))
    print(f"| {name} | {len(forms)} | {len(failures)} | {p50:.0f} | {p99:.0f} |", flush=True)
    if p99 > P99_LIMIT_MS:
        failures.append(f"{name}: the 99th percentile is above {P99_LIMIT_MS} ms")
    if attacker.wait() != 0:
        failures.append(f"{name}: {command} failed, see {log.name}")
    return failures


def main():
    with proxy() as tls, ThreadPoolExecutor(64) as visitors, (LOGS / "attackers.log").open("w") as log:
        print("| attack | forms | failed | p50 ms | p99 ms |\n|---|---:|---:|---:|---:|", flush=True)
        failures = [failure for attack in ATTACKS.items() for failure in try_attack(*attack, visitors, tls, log)]
    sys.exit("\n".join(failures) or 0)


main()
