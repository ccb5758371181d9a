"""The stack that is attacked: where its servers are, and what must hold of them whatever they are sent."""

import http.client
import json
import os
import sys
import threading
import time
from pathlib import Path
from urllib.parse import urlsplit

# What a process may hold beyond what it held before, and how long it may take to give the rest back.
KEPT_BYTES = 32_000_000
GIVEN_BACK = 30.0
SHOWN_FAULTS = 40


class Stack:
    """A running stack, by the file that STACK_FILE names, or by standard input."""

    def __init__(self):
        source = os.environ.get("STACK_FILE")
        self.info = json.loads(Path(source).read_text() if source else sys.stdin.read())
        self.resident_before = {}

    def url(self, name):
        """The address of a service."""
        return self.info["services"][name]

    def address(self, name):
        """Its host and port."""
        url = urlsplit(self.url(name))
        return url.hostname, url.port

    def resident_bytes(self, name):
        """How much memory it holds (proc(5))."""
        status = Path(f"/proc/{self.info['pids'][name]}/status").read_text()
        line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) * 1024

    def sockets(self, name):
        """How many sockets it has open (proc(5))."""
        files = Path(f"/proc/{self.info['pids'][name]}/fd").iterdir()
        return sum(link.startswith("socket:") for link in map(_link, files))

    def remember(self, names):
        """Notes what they hold before an attack."""
        self.resident_before = {name: self.resident_bytes(name) for name in names}

    def faults(self):
        """Who keeps memory that an attack took, and who panicked."""
        for name, before in self.resident_before.items():
            deadline = time.monotonic() + GIVEN_BACK
            while (now := self.resident_bytes(name)) > before + KEPT_BYTES and time.monotonic() < deadline:
                time.sleep(0.5)
            print(f"{name}: {before / 1e6:.1f} MB resident before, {now / 1e6:.1f} MB after")
            if now > before + KEPT_BYTES:
                yield f"{name} keeps {now} bytes, {before} before"
        for log in Path(self.info["logs"]).iterdir():
            for line in log.read_text(errors="replace").splitlines():
                if "panicked" in line:
                    yield f"{log.name}: {line}"


def _link(path):
    """What an open file is; nothing where it was closed meanwhile."""
    try:
        return os.readlink(path)
    except OSError:
        return ""


class Visitor(threading.Thread):
    """An honest visitor, who asks for a page again and again, each time over a connection of its own."""

    PAUSE = 0.1
    PATIENCE = 10.0

    def __init__(self, address, path):
        super().__init__(daemon=True)
        self.address, self.path = address, path
        self.seconds, self.failures = [], []
        self.stopping = threading.Event()

    def run(self):
        while not self.stopping.wait(self.PAUSE):
            self.ask()

    def ask(self):
        started = time.monotonic()
        connection = http.client.HTTPConnection(*self.address, timeout=self.PATIENCE)
        try:
            connection.request("GET", self.path)
            answer = connection.getresponse()
            answer.read()
            if answer.status != 200:
                self.failures.append(f"status {answer.status}")
        except (OSError, http.client.HTTPException) as error:
            self.failures.append(repr(error))
        finally:
            connection.close()
        self.seconds.append(time.monotonic() - started)

    def stop(self):
        """Ends it; the slowest answer but one in a hundred."""
        self.stopping.set()
        self.join()
        return sorted(self.seconds)[int(len(self.seconds) * 0.99) - 1] if self.seconds else float("inf")


def report(faults):
    """Ends the program: with 1 and the faults, where there are some."""
    if faults:
        sys.exit("\n".join([f"{len(faults)} faults:", *faults[:SHOWN_FAULTS]]))
