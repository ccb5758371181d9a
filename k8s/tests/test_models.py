"""Custom resources match their makers' Go types.

The packages in tools/pins/kubernetes-models are generated from the makers' sources. TypeScript refuses unknown
fields, as the API server's strict validation does. The packages' own check refuses wrong values.
"""

import json
import re
import subprocess
from copy import deepcopy
from functools import cache

from test_rendering import COMBINATIONS, SCHEMAS, TAKEN_BY_TESTS, render_combination
from tree import DRILL, EXAMPLES, POLICIES, RENDERED, RESTORE, ROOT, of_kind, render, render_with

MODELS = ROOT / "target/tools/kubernetes-models"
# The package of each API group.
PACKAGES = {
    "argoproj.io": "argo-cd",
    "cert-manager.io": "cert-manager",
    "cilium.io": "cilium",
    "external-secrets.io": "external-secrets",
    "gateway.networking.k8s.io": "gateway-api",
    "keda.sh": "keda",
    "kustomize.toolkit.fluxcd.io": "flux-cd",
    "monitoring.coreos.com": "prometheus-operator",
    "policies.kyverno.io": "kyverno",
    "source.toolkit.fluxcd.io": "flux-cd",
}
BROKEN = [
    ("HTTPRoute", ["spec", "parentRef"], [], "'\"parentRef\"' does not exist"),
    ("HTTPRoute", ["spec", "rules", 0, "timeouts", "requests"], "15s", "'\"requests\"' does not exist"),
    ("HTTPRoute", ["spec", "rules", 0, "backendRefs", 0, "port"], "80", "must be integer"),
    ("HTTPRoute", ["spec", "rules", 0, "backendRefs", 0, "port"], 70000, "must be <= 65535"),
    ("HTTPRoute", ["spec", "rules", 0, "matches", 0, "path", "type"], "Prefix", "must be equal to one of"),
    ("Gateway", ["spec", "listeners", 0, "hostnames"], ["www.example.com"], "'\"hostnames\"' does not exist"),
    ("ExternalSecret", ["spec", "data", 0, "remoteRef", "keys"], "site", "'\"keys\"' does not exist"),
    ("ExternalSecret", ["spec", "secretStoreRef", "name"], 1, "must be string"),
    ("ScaledObject", ["spec", "minReplicas"], 1, "'\"minReplicas\"' does not exist"),
    ("ScaledObject", ["spec", "triggers", 0, "metadata", "lagThreshold"], 5, "must be string"),
    ("PodMonitor", ["spec", "podMetricsEndpoints", 0, "honourLabels"], True, "'\"honourLabels\"' does not exist"),
    ("PodMonitor", ["spec", "podMetricsEndpoints", 0, "honorLabels"], "true", "must be boolean"),
    ("Probe", ["spec", "prober", "host"], "here", "'\"host\"' does not exist"),
    ("PrometheusRule", ["spec", "groups", 0, "rules", 0, "expression"], "up", "'\"expression\"' does not exist"),
    ("PrometheusRule", ["spec", "groups", 0, "interval"], "soon", "must match pattern"),
    ("Certificate", ["spec", "dnsName"], [], "'\"dnsName\"' does not exist"),
    ("Certificate", ["spec", "isCA"], "true", "must be boolean"),
    ("Issuer", ["spec", "selfsigned"], {}, "'\"selfsigned\"' does not exist"),
    ("Application", ["spec", "syncPolicy", "automatic"], {}, "'\"automatic\"' does not exist"),
    ("Kustomization", ["spec", "pruned"], True, "'\"pruned\"' does not exist"),
    ("GitRepository", ["spec", "uri"], "here", "'\"uri\"' does not exist"),
    ("ImageValidatingPolicy", ["spec", "attestor"], [], "'\"attestor\"' does not exist"),
    ("CiliumNetworkPolicy", ["spec", "endpoints"], {}, "'\"endpoints\"' does not exist"),
]
VALUES = """
import { readFileSync } from "node:fs";

for (const [number, [module, found]] of JSON.parse(readFileSync("objects.json", "utf8")).entries()) {
  const model = (await import(module))[found.kind];
  try {
    new model(found).validate();
  } catch (error) {
    console.log(`${number}: ${error.message}`);
  }
}
"""


def test_custom_resources_match_their_makers_types(tmp_path):
    """Also checks broken objects, which must fail."""
    objects = of_others()
    # At least one object of each kind that we have a schema for.
    assert {found["kind"] for found in objects} == {file.stem for file in SCHEMAS.iterdir()} == {kind for kind, *_ in BROKEN}
    wrong = complaints([broken(objects, *case[:3]) for case in BROKEN] + objects, tmp_path)
    assert [case for number, case in enumerate(BROKEN) if case[3] not in wrong.pop(number, "")] == []
    names = {number: f"{found['kind']} {found['metadata']['name']}" for number, found in enumerate(objects, start=len(BROKEN))}
    assert {names[number]: said for number, said in wrong.items()} == {}


@cache
def of_others():
    """Every rendered custom resource, without duplicates."""
    trees = [render(folder) for folder in ["base", *RENDERED, RESTORE, DRILL, *EXAMPLES]]
    trees += [render_with([name]) for name in TAKEN_BY_TESTS]
    trees += [render_with(policy=name) for name in POLICIES]
    trees += [render_combination(*combination) for combination in COMBINATIONS]
    schemas = {file.stem for file in SCHEMAS.iterdir()}
    different = {json.dumps(found) for objects in trees for found in objects if found["kind"] in schemas}
    return [json.loads(text) for text in sorted(different)]


def broken(objects, kind, path, value):
    """The first object of a kind with this path, changed to have this value there."""
    for found in of_kind(objects, kind):
        changed = part = deepcopy(found)
        try:
            for step in path[:-1]:
                part = part[step]
        except KeyError:
            continue
        part[path[-1]] = value
        return changed
    raise AssertionError(f"no {kind} has {path[:-1]}")


def complaints(objects, folder):
    """Errors of the objects, by index."""
    (folder / "node_modules").symlink_to(MODELS / "node_modules")
    modules = [module(found) for found in objects]
    typed = [
        f'const object{number}: import("{where}").I{found["kind"]} = {json.dumps(found)};'
        for number, (where, found) in enumerate(zip(modules, objects, strict=True))
    ]
    (folder / "objects.ts").write_text("\n".join([*typed, "export {};"]))
    (folder / "objects.json").write_text(json.dumps(list(zip(modules, objects, strict=True))))
    (folder / "values.mjs").write_text(VALUES)
    options = ["--noEmit", "--pretty", "false", "--strict", "--skipLibCheck", "--module", "preserve", "--target", "es2022"]
    # tsc exits with 1 if it finds errors.
    types = run(["node_modules/.bin/tsc", *options, "objects.ts"], folder, 0, 1)
    values = run(["node", "values.mjs"], folder, 0)
    wrong = {}
    for line, said in re.findall(r"^objects\.ts\((\d+),.*?: (.*(?:\n .*)*)", types, re.MULTILINE):
        wrong[int(line) - 1] = wrong.get(int(line) - 1, "") + said + "\n"
    for number, said in re.findall(r"^(\d+): (.*)", values, re.MULTILINE):
        wrong[int(number)] = wrong.get(int(number), "") + said + "\n"
    # All output was parsed.
    assert bool(wrong) == bool(types.strip() or values.strip()), types + values
    return wrong


def module(found):
    group, version = found["apiVersion"].split("/")
    return f"@kubernetes-models/{PACKAGES[group]}/{group}/{version}/{found['kind']}"


def run(command, folder, *codes):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=120)
    assert done.returncode in codes, done.stdout + done.stderr
    return done.stdout
