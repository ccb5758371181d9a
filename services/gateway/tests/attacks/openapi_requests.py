"""Has Schemathesis send a running stack what its OpenAPI document allows, and what it does not.

    STACK_FILE=target/stack.json python openapi_requests.py --max-examples 100 --seed 7

Arguments go on to Schemathesis. Fails where an answer is not as the document says, or is the server's fault.
"""

import os
import subprocess
import sys
from pathlib import Path

from stack import Stack, report

HERE = Path(__file__).parent
DOCUMENT = HERE.parents[3] / "docs/openapi.json"


def main():
    stack = Stack()
    stack.remember(["gateway", "contact", "newsletter", "careers"])
    schemathesis = Path(sys.executable).with_name("schemathesis")
    command = [schemathesis, "--config-file", HERE / "schemathesis.toml", "run", DOCUMENT, "--url", stack.url("gateway")]
    hooks = os.environ | {"SCHEMATHESIS_HOOKS": str(HERE / "openapi_hooks.py")}
    # It leaves what it remembers where it runs.
    folder = Path(stack.info["logs"]).parent
    done = subprocess.run([*map(str, command), *sys.argv[1:]], stdout=sys.stderr, env=hooks, cwd=folder, check=False)
    faults = [] if done.returncode == 0 else ["Schemathesis found what stands above"]
    report(faults + list(stack.faults()))


main()
