"""Starts each image as non-root, with a read-only root.

    contents_test.py <folder of built programs> [--weigh] [-k <part of a test's name>]…

--weigh checks the sizes of programs and images. Only release builds keep within the budgets.
"""

import json
import os
import shutil
import socket
import sys
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

from engine import IMAGES, PROGRAMS, ROOT, build_images, podman, use_engine

BUILT = Path(sys.argv[1]).resolve()
WEIGH = "--weigh" in sys.argv
FILTER = [argument for argument in sys.argv[2:] if argument != "--weigh"]

LARGEST_PROGRAM_MB = 25
LARGEST_IMAGE_MB = 40

# Images that serve without any setting.
SERVERS = [name for name in IMAGES if name.startswith("gateway") or name.startswith("web-")]

def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def await_health(address):
    deadline = time.monotonic() + 15
    while True:
        try:
            return urllib.request.urlopen(address, timeout=5).status
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


class Contents(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = Path(tempfile.mkdtemp(prefix="images-", dir=ROOT / "target"))
        cls.addClassCleanup(shutil.rmtree, scratch)
        use_engine(scratch)
        build_images(scratch, BUILT)

    def test_every_program_runs_with_nothing_but_its_image(self):
        for image in IMAGES:
            with self.subTest(image=image):
                told = podman("run", "--rm", "--read-only", "--network=none", f"localhost/{image}", "--help")
                self.assertIn("Usage:", told.stdout)

    def test_every_image_is_for_a_user_without_rights_and_has_no_shell(self):
        for image in IMAGES:
            with self.subTest(image=image):
                [config] = json.loads(podman("image", "inspect", f"localhost/{image}").stdout)
                self.assertEqual(config["Config"]["User"], "65532:65532")
                refused = podman("run", "--rm", "--network=none", "--entrypoint=sh", f"localhost/{image}", check=False)
                self.assertIn("executable file not found", refused.stderr)

    def test_a_server_answers_for_its_health_and_ends_on_sigterm(self):
        for image in SERVERS:
            with self.subTest(image=image):
                health = f"127.0.0.1:{free_port()}"
                settings = [f"--env=LISTEN=127.0.0.1:{free_port()}", f"--env=HEALTH_LISTEN={health}"]
                podman("run", "--detach", "--name", image, "--read-only", "--cap-drop=all", "--network=host", *settings, f"localhost/{image}")
                try:
                    self.assertEqual(await_health(f"http://{health}/livez"), 200)
                    podman("stop", "--time=30", image)
                    self.assertEqual(podman("wait", image).stdout.strip(), "0", podman("logs", image).stderr)
                finally:
                    podman("rm", "--force", image)

    def test_the_builder_is_sent_nothing_that_git_does_not_keep(self):
        kept_back = (ROOT / ".dockerignore").read_text().splitlines()
        sent = {line[1:] for line in kept_back if line.startswith("!")}
        self.assertNotIn(".git", sent)
        for ignored in (ROOT / ".gitignore").read_text().splitlines():
            path = ignored.strip("/")
            # .gitignore matches a bare name in any folder. .dockerignore needs `**/` for that.
            if "/" not in ignored.rstrip("/"):
                path = f"**/{path}"
            if Path(path).parts[0] in {"**", *sent}:
                self.assertIn(path, kept_back)

    def test_programs_and_images_are_small(self):
        for image in IMAGES:
            with self.subTest(image=image):
                name = image if image in PROGRAMS else "web" if image.startswith("web-") else "gateway"
                program = (BUILT / name).stat().st_size / 1e6
                whole = int(podman("image", "inspect", "--format={{.Size}}", f"localhost/{image}").stdout) / 1e6
                print(f"{image:12} program {program:5.1f} MB, image {whole:5.1f} MB", file=sys.stderr)
                if WEIGH:
                    self.assertLessEqual(program, LARGEST_PROGRAM_MB)
                    self.assertLessEqual(whole, LARGEST_IMAGE_MB)


if __name__ == "__main__":
    if os.geteuid() != 0:
        os.execvp("sudo", ["sudo", "--non-interactive", sys.executable, *sys.argv])
    unittest.main(argv=[sys.argv[0], *FILTER], verbosity=2)
