"""Runs Schemathesis against a running stack, with requests that its OpenAPI document allows and requests that it forbids.

    STACK_FILE=target/stack.json python openapi_requests.py --max-examples 100

Passes its arguments to Schemathesis. Fails if an answer contradicts the document or is a server error, or if a program panics.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
DOCUMENT = HERE.parents[3] / "docs/openapi.json"

stack = json.loads(Path(os.environ["STACK_FILE"]).read_text())
logs = Path(stack["logs"])
schemathesis = Path(sys.executable).with_name("schemathesis")
command = [schemathesis, "--config-file", HERE / "schemathesis.toml", "run", DOCUMENT, "--url", stack["services"]["gateway"]]
hooks = os.environ | {"SCHEMATHESIS_HOOKS": str(HERE / "openapi_hooks.py")}
# Schemathesis writes a database to its working directory.
done = subprocess.run([*map(str, command), *sys.argv[1:]], env=hooks, cwd=logs.parent, check=False)
panics = [line for log in logs.iterdir() for line in log.read_text(errors="replace").splitlines() if "panicked" in line]
sys.exit("\n".join(panics) or done.returncode)
