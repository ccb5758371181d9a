"""`sitectl preflight` names the values that a company must fill in."""

import json
import subprocess

from test_binaries import BINARIES
from tree import K8S, PRODUCTION, tool


def preflight(*arguments):
    command = [BINARIES / "sitectl", "preflight", *arguments, "--kubectl", tool("kubectl")]
    return subprocess.run(command, env={"PATH": "/usr/bin:/bin"}, capture_output=True, text=True, timeout=120)


def test_placeholders_of_production_are_named():
    done = preflight(K8S / PRODUCTION, "--json")
    assert done.returncode == 1, done.stderr
    found = {finding["what"] for finding in json.loads(done.stdout)["findings"]}
    wanted = {"https://s3.example.com", "https://www.example.com", "smtp.example.com", "sales@example.com"}
    assert wanted | {"registry.example/site/gateway:example"} <= found


def test_an_overlay_that_does_not_render_gets_one_sentence(tmp_path):
    done = preflight(tmp_path)
    assert done.returncode == 1 and not done.stdout
    assert "does not render" in done.stderr and done.stderr.count("\n") == 1, done.stderr
