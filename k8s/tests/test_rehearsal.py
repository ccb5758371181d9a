"""The short form of the rehearsal: the overlay `production` as processes, in the networks that its policies leave."""

import re
import subprocess

from tree import ROOT


def test_production_comes_up_takes_the_three_forms_and_refuses_every_other_flow():
    command = [ROOT / "target/debug/rehearsal", "--short"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert re.search(r"^started: \d+ pods ready", said, re.MULTILINE), said
    assert "forms: a sign-up, a message and an application accepted, and their mails read" in said, said
    refused = re.search(r"^flows: .* (\d+) refused$", said, re.MULTILINE)
    assert refused and int(refused[1]) > 500, said
