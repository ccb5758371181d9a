"""Builds each image by its Dockerfile's last stages and starts it: non-root, on a root that it can only read.

    contents_test.py <folder of built programs> [--weigh] [-k <part of a test's name>]…

The programs are already built, on this machine, so the base image is made from this machine's Debian packages; nothing is pulled.
--weigh holds programs and images against their budgets, which only release builds keep. Wants buildah, podman, runc, and root's rights.
"""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.request
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = Path(sys.argv[1]).resolve()
WEIGH = "--weigh" in sys.argv
FILTER = [argument for argument in sys.argv[2:] if argument != "--weigh"]

LARGEST_PROGRAM_MB = 25
LARGEST_IMAGE_MB = 40

# Stands in for gcr.io/distroless/base-nossl-debian13.
BASE_PACKAGES = ["ca-certificates", "libc6", "tzdata"]
LEFT_OUT = re.compile(r"/usr/share/(doc|lintian|locale|man)/|/s?bin/")
BASE = """FROM scratch
COPY . /
ENV PATH=/usr/local/bin:/usr/bin SSL_CERT_FILE=/etc/ssl/certs/ca-certificates.crt
"""
TITLES = re.search(r'variable "TITLES" \{(.*?)\n\}', (ROOT / "docker-bake.hcl").read_text(), re.DOTALL)[1]
# Every image that is published.
IMAGES = re.findall(r'^ +([a-z-]+) += "', TITLES, re.MULTILINE)
# What serves without being told anything.
SERVERS = [name for name in IMAGES if name == "gateway" or name.startswith("web-")]
# As root in a machine or a container without systemd, too.
CONTAINERS = """[containers]
default_ulimits = ["nofile=1024:1024", "nproc=1024:1024"]
[engine]
cgroup_manager = "cgroupfs"
runtime = "runc"
"""
STORAGE = """[storage]
driver = "overlay"
graphroot = "{0}/graph"
runroot = "{0}/run"
"""


def run(*command, check=True):
    done = subprocess.run(command, cwd=ROOT, env=os.environ, capture_output=True, text=True, timeout=300)
    assert not check or done.returncode == 0, f"{command}: {done.stderr}"
    return done


def podman(*arguments, check=True):
    return run("podman", *arguments, check=check)


def build(image, dockerfile, context, *options):
    run("buildah", "build", "--quiet", "--tag", f"localhost/{image}", "--file", dockerfile, *options, context)


def base_files(folder):
    """The packages' files without programs, so without a shell; merged directories as Debian has them."""
    for name in ("bin", "lib", "lib64"):
        (folder / "usr" / name).mkdir(parents=True)
        (folder / name).symlink_to(f"usr/{name}")
    (folder / "tmp").mkdir()
    for listed in run("dpkg", "--listfiles", *BASE_PACKAGES).stdout.splitlines():
        path = Path(listed)
        if path.is_dir() or LEFT_OUT.search(listed) or not path.exists():
            continue
        target = folder / listed.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target, follow_symlinks=False)
    (folder / "etc/ssl/certs").mkdir(parents=True)
    shutil.copy2("/etc/ssl/certs/ca-certificates.crt", folder / "etc/ssl/certs")


def built_programs(folder):
    """What the stage `build` leaves."""
    release = folder / "src/target/platform/release"
    release.mkdir(parents=True)
    for name in ["web", *(name for name in IMAGES if not name.startswith("web-"))]:
        os.link(PROGRAMS / name, release / name)
    shutil.copy2(run("gcc", "-print-file-name=libgcc_s.so.1").stdout.strip(), folder)


def built_site(folder):
    """What the stage `site` leaves."""
    shutil.copytree(ROOT / "frontends/dist.split", folder / "src/frontends/dist.split")


def build_images(scratch):
    stages = {"base": base_files, "build": built_programs, "site": built_site}
    for name, fill in stages.items():
        (scratch / name).mkdir()
        fill(scratch / name)
    (scratch / "Dockerfile").write_text(BASE)
    build("base", scratch / "Dockerfile", scratch / "base")
    for image in ["web", *IMAGES]:
        file, base, stage = ("web", "SERVER=localhost/web", "site") if image.startswith("web-") else ("rust", "RUNTIME=localhost/base", "build")
        options = ["--target", image, "--build-arg", base, "--build-context", f"{stage}={scratch / stage}"]
        build(image, ROOT / f"images/{file}.Dockerfile", ROOT, *options)


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
        (scratch / "containers.conf").write_text(CONTAINERS)
        (scratch / "storage.conf").write_text(STORAGE.format(scratch))
        os.environ |= {"CONTAINERS_CONF": f"{scratch}/containers.conf", "CONTAINERS_STORAGE_CONF": f"{scratch}/storage.conf"}
        build_images(scratch)

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
                program = (PROGRAMS / ("web" if image.startswith("web-") else image)).stat().st_size / 1e6
                whole = int(podman("image", "inspect", "--format={{.Size}}", f"localhost/{image}").stdout) / 1e6
                print(f"{image:12} program {program:5.1f} MB, image {whole:5.1f} MB", file=sys.stderr)
                if WEIGH:
                    self.assertLessEqual(program, LARGEST_PROGRAM_MB)
                    self.assertLessEqual(whole, LARGEST_IMAGE_MB)


if __name__ == "__main__":
    if os.geteuid() != 0:
        os.execvp("sudo", ["sudo", "--non-interactive", sys.executable, *sys.argv])
    unittest.main(argv=[sys.argv[0], *FILTER], verbosity=2)
