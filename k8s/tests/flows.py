"""Flows that the network policies allow. As a program, it writes docs/operations-flows.md."""

from ipaddress import ip_network

from tree import POLICIES, ROOT, of_kind, render, render_with, workloads

PROFILES = ["overlays/local", "overlays/small", "overlays/production"]
# Components with calls of their own.
COMPONENTS = ["synthetic-check"]
TABLE = ROOT / "docs/operations-flows.md"
HEAD = """# Network policies: who may call whom

Worked out from the network policies of `k8s/`, which deny everything else. Do not edit: `cargo xtask generate`
writes it. A test compares the manifests with the design (`k8s/tests/test_flows.py`).
"""
CHANGES_HEAD = """
## What policies and components change of production

Which policies of `k8s/examples/network-policies` a cluster wants: [operations](operations.md#network-policies). Addresses within
192.0.2.0/24 are nobody's (RFC 5737): an overlay puts its own in their place.

| policy or component | flows | from | to | port |
|---|---|---|---|---|
"""


def flows(objects):
    """Allowed flows as (from, to, port). Between two pods, both sides must allow a flow."""
    policies = of_kind(objects, "NetworkPolicy") + [as_network_policy(found) for found in of_kind(objects, "CiliumNetworkPolicy")]
    pods = workloads(objects)
    leaving = {flow for pod in pods for flow in one_side(policies, pod, pods, "Egress")}
    arriving = {flow for pod in pods for flow in one_side(policies, pod, pods, "Ingress")}
    names = {pod.name for pod in pods}
    half_open = {(a, b, port) for a, b, port in leaving ^ arriving if {a, b} <= names}
    assert not half_open, f"only one side allows: {sorted(half_open)}"
    return leaving | arriving


def as_network_policy(cilium):
    """A policy of Cilium as a NetworkPolicy. Knows only the fields that ours use."""
    spec = cilium["spec"]
    assert set(spec) == {"endpointSelector", "ingress"}, f"unknown to us: {set(spec)}"
    rules = []
    for rule in spec["ingress"]:
        assert set(rule) == {"fromEntities", "toPorts"}, f"unknown to us: {set(rule)}"
        ports = [{**port, "port": int(port["port"])} for entry in rule["toPorts"] for port in entry["ports"]]
        rules.append({"from": [{"entity": name} for name in rule["fromEntities"]], "ports": ports})
    return {"spec": {"podSelector": spec["endpointSelector"], "policyTypes": ["Ingress"], "ingress": rules}}


def one_side(policies, pod, pods, direction):
    """Flows that the policies of one pod allow in a direction."""
    rules_key, peers_key = ("egress", "to") if direction == "Egress" else ("ingress", "from")
    mine = [
        policy["spec"]
        for policy in policies
        if direction in policy["spec"]["policyTypes"] and selects(policy["spec"]["podSelector"], pod.labels)
    ]
    assert mine, f"nothing limits the {direction} of {pod.name}"
    for rule in (rule for spec in mine for rule in spec.get(rules_key, [])):
        # An empty list would allow every peer, or every port.
        assert rule.get(peers_key) and rule.get("ports"), f"a rule of {pod.name} names no peers or no ports"
        for peer in (name for peer in rule[peers_key] for name in peers(peer, pods)):
            for port in rule["ports"]:
                number = f"{port['port']}/{port.get('protocol', 'TCP')}"
                yield (pod.name, peer, number) if direction == "Egress" else (peer, pod.name, number)


def peers(peer, pods):
    """Names of a rule's peers: our pods by name, others by address or labels."""
    if "ipBlock" in peer:
        block = peer["ipBlock"]
        if ip_network(block["cidr"]).prefixlen > 0:
            return [f"addresses {block['cidr']}"]
        assert block.get("except"), "an address block leaves private addresses open"
        return ["outside the cluster"]
    if "entity" in peer:
        return [f"Cilium's {peer['entity']}"]
    if "namespaceSelector" in peer:
        labels = [*told(peer["namespaceSelector"]), *told(peer.get("podSelector", {}))]
        return [f"pods in namespace {', '.join(labels)}"]
    return [pod.name for pod in pods if selects(peer["podSelector"], pod.labels)]


def told(selector):
    return [f"{key}={value}" for key, value in selector.get("matchLabels", {}).items()]


def selects(selector, labels):
    exact = selector.get("matchLabels", {})
    listed = selector.get("matchExpressions", [])
    assert all(expression["operator"] == "In" for expression in listed), f"unknown to us: {listed}"
    return all(labels.get(key) == value for key, value in exact.items()) and all(
        labels.get(expression["key"]) in expression["values"] for expression in listed
    )


def changed(name):
    """Production with an example policy, or a component."""
    return render_with([name]) if name in COMPONENTS else render_with(policy=name)


def changed_by(name):
    """Flows that a policy or a component adds to production, and flows that it removes."""
    before, after = rows_of(render("overlays/production")), rows_of(changed(name))
    return after - before, before - after


def table():
    """The page: a table for each profile, and one of what policies and components change."""
    parts = [HEAD]
    for overlay in PROFILES:
        rows = "".join(f"| {a} | {b} | {port} |\n" for a, b, port in sorted(rows_of(render(overlay))))
        parts.append(f"\n## {overlay.split('/')[-1]}\n\n| from | to | port |\n|---|---|---|\n{rows}")
    parts.append(CHANGES_HEAD)
    for name in POLICIES + COMPONENTS:
        added, taken = changed_by(name)
        for change, rows in (("more", added), ("no more", taken)):
            parts += [f"| `{name}` | {change} | {a} | {b} | {port} |\n" for a, b, port in sorted(rows)]
    return "".join(parts)


def rows_of(objects):
    """Flows, with one row for those of every pod."""
    found = flows(objects)
    everybody = {pod.name for pod in workloads(objects)}
    for _, target, port in set(found):
        alike = {(name, target, port) for name in everybody}
        if alike <= found:
            found = found - alike | {("every pod", target, port)}
    return found


if __name__ == "__main__":
    TABLE.write_text(table())
