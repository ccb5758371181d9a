"""Builds images of finished programs with buildah, and runs podman, without pulling anything.

The base image and those of others (NATS, Caddy, an S3 server) are made from this machine's Debian packages and programs, under the
names in the Dockerfiles and compose.yaml. Needs root.
"""

import os
import re
import shutil
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

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
# Images of one program. The other images are a program with pages.
PROGRAMS = [name for name in IMAGES if not name.startswith("web-") and name != "gateway-pages"]
# Works for root without systemd, too, on a machine or in a container.
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


def run(*command, check=True, **options):
    done = subprocess.run(command, env=os.environ, capture_output=True, text=True, **{"cwd": ROOT, "timeout": 300} | options)
    assert not check or done.returncode == 0, f"{command}: {done.stdout[-2000:]}{done.stderr[-4000:]}"
    return done


def podman(*arguments, check=True):
    return run("podman", *arguments, check=check)


def use_engine(scratch):
    """Keeps images and containers of buildah and podman in this folder."""
    (scratch / "containers.conf").write_text(CONTAINERS)
    (scratch / "storage.conf").write_text(STORAGE.format(scratch))
    os.environ |= {"CONTAINERS_CONF": f"{scratch}/containers.conf", "CONTAINERS_STORAGE_CONF": f"{scratch}/storage.conf"}


def build(image, dockerfile, context, *options):
    run("buildah", "build", "--quiet", "--tag", image, "--file", dockerfile, *options, context)


def base_files(folder):
    """The packages' files without programs, so without a shell; merged directories as Debian has them."""
    for name in ("bin", "lib", "lib64"):
        (folder / "usr" / name).mkdir(parents=True)
        (folder / name).symlink_to(f"usr/{name}")
    (folder / "tmp").mkdir()
    (folder / "tmp").chmod(0o1777)
    for listed in run("dpkg", "--listfiles", *BASE_PACKAGES).stdout.splitlines():
        path = Path(listed)
        if path.is_dir() or LEFT_OUT.search(listed) or not path.exists():
            continue
        target = folder / listed.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target, follow_symlinks=False)
    (folder / "etc/ssl/certs").mkdir(parents=True)
    shutil.copy2("/etc/ssl/certs/ca-certificates.crt", folder / "etc/ssl/certs")


def build_images(scratch, programs, registry="localhost", version="latest"):
    """Builds every image by the Dockerfiles' last stages."""
    for name in ("base", "build/src/target/platform/release", "site/src/frontends"):
        (scratch / name).mkdir(parents=True)
    base_files(scratch / "base")
    # What the stage `build` leaves.
    for name in ["web", *PROGRAMS]:
        os.link(programs / name, scratch / "build/src/target/platform/release" / name)
    shutil.copy2(run("gcc", "-print-file-name=libgcc_s.so.1").stdout.strip(), scratch / "build")
    # What the stage `site` leaves.
    for name in ("dist", "dist.split"):
        shutil.copytree(ROOT / "frontends" / name, scratch / "site/src/frontends" / name)
    (scratch / "Dockerfile").write_text(BASE)
    build("localhost/base", scratch / "Dockerfile", scratch / "base")
    # `web` and `gateway` come before the images on top of them.
    for image in ["web", *PROGRAMS, *(name for name in IMAGES if name not in PROGRAMS)]:
        file, stage = ("rust", "build") if image in ["web", *PROGRAMS] else ("web", "site")
        bases = ["RUNTIME=localhost/base", f"SERVER={registry}/web:{version}", f"GATEWAY={registry}/gateway:{version}"]
        options = [option for base in bases for option in ("--build-arg", base)]
        options += ["--target", image, "--build-context", f"{stage}={scratch / stage}"]
        build(f"{registry}/{image}:{version}", ROOT / f"images/{file}.Dockerfile", ROOT, *options)
