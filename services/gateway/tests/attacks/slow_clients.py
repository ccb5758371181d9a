"""Has slowhttptest keep connections of a running stack busy with next to nothing, while an honest visitor asks.

    STACK_FILE=target/stack.json python slow_clients.py

Fails where the visitor is not answered, or a slow connection is not ended.
"""

import re
import subprocess
from dataclasses import dataclass

from stack import Stack, Visitor, report

CONNECTIONS = 200
# What the visitor's slowest answer but one in a hundred may take.
P99 = 0.25
# What slowhttptest says where the server has ended all of them before the time is over.
ENDED = "No open connections left"


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
]


def slowhttptest(attack, url):
    """What it counts at its end, and why it ended."""
    command = ["slowhttptest", *attack.arguments, "-c", str(CONNECTIONS), "-r", "100", "-p", "3", "-l", str(attack.seconds), "-u", url]
    done = subprocess.run(command, capture_output=True, text=True, timeout=attack.seconds + 60, check=False)
    return re.sub(r"\x1b\[[0-9;]*m", "", done.stdout)


def run(attack, name, address, page, target):
    visitor = Visitor(address, page)
    visitor.start()
    said = slowhttptest(attack, f"http://{address[0]}:{address[1]}{target}")
    slowest = visitor.stop()
    what = f"{name}, slow {attack.name}"
    print(f"{what}: {len(visitor.seconds)} answers, p99 {slowest * 1000:.0f} ms; {said.strip().splitlines()[-1].strip()}")
    if visitor.failures:
        yield f"{what}: the visitor is not served: {visitor.failures[:3]}"
    if slowest > P99:
        yield f"{what}: the visitor waits {slowest:.2f} s"
    if ENDED not in said:
        yield f"{what}: slow connections are not ended: {said[-400:]}"


def main():
    stack = Stack()
    names = [name for name in ("gateway", "web-shell") if name in stack.info["services"]]
    stack.remember(names)
    faults = []
    for name in names:
        page, form = ("/api/openapi.json", "/api/contact") if name == "gateway" else ("/", "/")
        for attack in ATTACKS:
            faults += run(attack, name, stack.address(name), page, form if attack.name == "body" else page)
    report(faults + list(stack.faults()))


main()
