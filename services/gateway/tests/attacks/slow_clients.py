"""Has slowhttptest keep connections of a running stack busy with next to nothing, while an honest visitor asks.

    STACK_FILE=target/stack.json python slow_clients.py

Fails where the visitor is not answered, or a slow connection is not ended.
"""

import re
import subprocess
import threading
from dataclasses import dataclass

from stack import Stack, Visitor, report

CONNECTIONS = 200
# What the visitor's slowest answer but one in a hundred may take.
P99 = 0.25
# What slowhttptest says where the server has ended all of them before the time is over.
ENDED = "No open connections left"
# The visitor's connections, and what the server has open for itself.
OTHER_SOCKETS = 20


@dataclass
class Attack:
    """A kind of slowness, the arguments that make it, and within how many seconds the server must have ended it."""

    name: str
    arguments: list
    seconds: int


ATTACKS = [
    # Ten seconds for the head of a request.
    Attack("headers", ["-H", "-i", "2", "-x", "16"], 30),
    # Fifteen seconds for a form.
    Attack("body", ["-B", "-i", "2", "-x", "16", "-s", "8192", "-f", "application/json"], 30),
    # A minute for some of an answer: ten answers on each connection, of which five bytes a second are taken.
    Attack("reading", ["-X", "-k", "10", "-n", "1", "-z", "5", "-w", "256", "-y", "512"], 90),
]


class OpenSockets(threading.Thread):
    """Counts the sockets of a server, twice a second."""

    def __init__(self, stack, name):
        super().__init__(daemon=True)
        self.stack, self.name = stack, name
        self.counts = [stack.sockets(name)]
        self.stopping = threading.Event()

    def run(self):
        while not self.stopping.wait(0.5):
            self.counts.append(self.stack.sockets(self.name))

    def stop(self):
        """Ends it; how many there were before the attack, at the most, and shortly before its end."""
        self.stopping.set()
        self.join()
        return self.counts[0], max(self.counts), self.counts[-2:][0]


def slowhttptest(attack, url):
    """What it counts at its end, and why it ended."""
    command = ["slowhttptest", *attack.arguments, "-c", str(CONNECTIONS), "-r", "100", "-p", "3", "-l", str(attack.seconds), "-u", url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=attack.seconds + 60, check=False)
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)


def run(attack, stack, name, page, target):
    address = stack.address(name)
    visitor, sockets = Visitor(address, page), OpenSockets(stack, name)
    visitor.start()
    sockets.start()
    said = slowhttptest(attack, f"http://{address[0]}:{address[1]}{target}")
    before, most, at_the_end = sockets.stop()
    slowest = visitor.stop()
    what = f"{name}, slow {attack.name}"
    print(f"{what}: {len(visitor.seconds)} answers, p99 {slowest * 1000:.0f} ms; {said.strip().splitlines()[-1].strip()}")
    if visitor.failures:
        yield f"{what}: the visitor is not served: {visitor.failures[:3]}"
    if slowest > P99:
        yield f"{what}: the visitor waits {slowest:.2f} s"
    if most < before + CONNECTIONS // 2:
        yield f"{what}: there were {most} sockets at the most, so nothing was tried: {said[-400:]}"
    # A reader does not see the end before it has read what the system still has for it.
    is_ended = at_the_end <= before + OTHER_SOCKETS if attack.name == "reading" else ENDED in said
    if not is_ended:
        yield f"{what}: slow connections are not ended, {at_the_end} sockets are open: {said[-400:]}"


def main():
    stack = Stack()
    names = [name for name in ("gateway", "web-shell") if name in stack.info["services"]]
    stack.remember(names)
    faults = []
    for name in names:
        page, form = ("/api/openapi.json", "/api/contact") if name == "gateway" else ("/", None)
        for attack in ATTACKS:
            target = form if attack.name == "body" else page
            # A front end's server takes no body: it says so and closes before one is slow.
            if target:
                faults += run(attack, stack, name, page, target)
    report(faults + list(stack.faults()))


main()
