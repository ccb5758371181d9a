"""Sends a running stack what no honest client sends over HTTP/2, and looks how the servers bear it.

    STACK_FILE=target/stack.json python broken_frames.py --mutations 1000 --seed 7

Fails, and names the cases, where a server panics, keeps a connection for longer than its deadlines, answers 5xx, INTERNAL or
UNKNOWN, keeps memory, or serves nobody afterwards.
"""

import argparse
import random
import time
from concurrent.futures import ThreadPoolExecutor

from connection import Connection, block, data, headers, hello
from frame_cases import CASES, Server
from grpc_cases import CALLS, CONTACT, SUBMIT, SUBSCRIBE, SUBSCRIBER, fields_of, message
from mutations import Mutation
from stack import Stack, report

AT_ONCE = 16


def servers_of(stack):
    get = [(":method", "GET"), (":scheme", "http"), (":path", "/api/openapi.json"), (":authority", "site")]
    post = [(":method", "POST"), (":scheme", "http"), (":path", "/api/newsletter"), (":authority", "site")]
    form = [*post, ("content-type", "application/json")]
    check = fields_of("/grpc.health.v1.Health/Check")
    requests = {
        "gateway": (get, b"", form, b'{"email":"ada@example.org"}'),
        "contact": (check, message(b""), fields_of(SUBMIT), message(CONTACT)),
        "newsletter": (check, message(b""), fields_of(SUBSCRIBE), message(SUBSCRIBER)),
        "careers": (check, message(b""), check, message(b"\x0a\x04live")),
    }
    return [Server(name, stack.address(name), *requests[name]) for name in requests]


def works_of(servers, mutations, seed):
    for server in servers:
        is_gateway = server.name == "gateway"
        yield from ((server, case) for case in CASES if is_gateway or not case.gateway_only)
    by_name = {server.name: server for server in servers}
    for call in CALLS:
        service = call.path[1:].partition(".")[0]
        yield by_name.get(service, by_name["contact"]), call
    for number in range(mutations):
        for server in servers:
            yield server, Mutation(random.Random(f"{seed} {server.name} {number}"), number)


def run(work):
    server, case = work
    try:
        faults = case.run(server)
    except OSError as error:
        faults = [f"no connection: {error}"]
    return [f"{server.name}: {case.section}, {case.name}: {fault}" for fault in faults]


def honest_request(server):
    with Connection(server.address) as connection:
        connection.send(hello(), headers(1, block(*server.fields), not server.body))
        if server.body:
            connection.send(data(1, server.body))
        connection.settle([1])
        return [] if connection.outcome.is_taken(1) else [f"{server.name}: an honest request is not answered"]


def main():
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--mutations", type=int, default=100)
    options.add_argument("--seed", type=int, default=1)
    options = options.parse_args()
    stack = Stack()
    servers = servers_of(stack)
    faults = [fault for server in servers for fault in honest_request(server)]
    stack.remember(server.name for server in servers)
    started = time.monotonic()
    # The longest cases come first.
    works = sorted(works_of(servers, options.mutations, options.seed), key=lambda work: -getattr(work[1], "seconds", 0))
    with ThreadPoolExecutor(AT_ONCE) as pool:
        faults += [fault for found in pool.map(run, works) for fault in found]
    print(f"{len(works)} broken conversations in {time.monotonic() - started:.0f} s, seed {options.seed}")
    faults += [fault for server in servers for fault in honest_request(server)]
    report(faults + list(stack.faults()))


main()
