"""Assembles every image as its Dockerfile says, without an engine, and runs it as a cluster would: in a root of its
own that it can only read, as the user it names, with no variables but the image's.

    contents_test.py <folder of built programs> [--weigh] [-k <part of a test's name>]…

--weigh holds programs and images against their budgets, which only release builds keep. The base image's packages are
taken from this machine, so it has to be Debian's kin; entering another root needs root's rights or a sudo that does
not ask.
"""

import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest
import urllib.error
import urllib.request
from pathlib import Path

from dockerfile_parse import DockerfileParser

ROOT = Path(__file__).resolve().parent.parent
PROGRAMS = Path(sys.argv[1]).resolve()
WEIGH = "--weigh" in sys.argv
FILTER = [argument for argument in sys.argv[2:] if argument != "--weigh"]

LARGEST_PROGRAM_MB = 25
LARGEST_IMAGE_MB = 40

# What gcr.io/distroless/base-nossl-debian13 is made of, its variables and its user.
BASE_PACKAGES = ["base-files", "ca-certificates", "libc6", "media-types", "netbase", "tzdata"]
BASE_VARIABLES = {
    "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
    "SSL_CERT_FILE": "/etc/ssl/certs/ca-certificates.crt",
}
USER = "65532:65532"
LEFT_OUT = re.compile(r"/usr/(share/(doc|lintian|locale|man|ca-certificates)|sbin|lib/tmpfiles.d)/|/etc/update-motd.d/")

# Images that cannot run without being told something, and a setting that they ask for.
ASKS_FOR = {
    "contact": "PERSON_KEY",
    "newsletter": "TOKEN_KEY",
    "careers": "S3_ACCESS_KEY_ID",
    "notifier": "TOKEN_KEY",
    "sitectl": "S3_ACCESS_KEY_ID",
}
# What sitectl is asked to do; the others are not asked.
TASK = {"sitectl": ["setup"]}
COMPRESSED = {"content-encoding": "br", "vary": "accept-encoding"}
PAGE = COMPRESSED | {"content-type": "text/html; charset=utf-8", "cache-control": "no-cache"}
ENTRY = COMPRESSED | {"content-type": "text/javascript; charset=utf-8", "cache-control": "no-cache"}
FOR_EVER = ENTRY | {"cache-control": "public, max-age=31536000, immutable"}
# What an image answers that runs without being told anything: the address, where `*` stands for one of its files, the
# status, and headers.
ANSWERS = {
    "gateway": [("/api/openapi.json", 200, {"content-type": "application/json"}), ("/nothing-here", 404, {})],
    "web-shell": [
        ("/", 200, PAGE),
        ("/about", 200, PAGE),
        ("/favicon.svg", 200, COMPRESSED | {"content-type": "image/svg+xml"}),
        ("/assets/*.js", 200, FOR_EVER),
        ("/nothing-here", 404, PAGE),
        # The remotes are not in it.
        ("/remotes/blog/remoteEntry.js", 404, {}),
    ],
    "web-blog": [
        ("/remotes/blog/remoteEntry.js", 200, ENTRY),
        ("/remotes/blog/assets/*.js", 200, FOR_EVER),
        ("/nothing-here", 404, {"content-length": "0"}),
    ],
    "web-careers": [
        ("/remotes/careers/remoteEntry.js", 200, ENTRY),
        ("/remotes/careers/assets/*.js", 200, FOR_EVER),
        ("/nothing-here", 404, {"content-length": "0"}),
    ],
}
# With every answer of a front end's server.
ALWAYS = {"x-content-type-options": "nosniff", "cross-origin-resource-policy": "same-origin"}


def stages(dockerfile):
    """The stages of a Dockerfile by name: what each is made from, and its instructions."""
    found = {}
    with (ROOT / dockerfile).open("rb") as file:
        for step in DockerfileParser(fileobj=file).structure:
            instruction = step["instruction"]
            if instruction == "FROM":
                words = [word for word in step["value"].split() if not word.startswith("--")]
                found[words[-1]] = (words[0], current := [])
            elif found and instruction != "COMMENT":
                current.append((instruction, step["value"]))
    return found


RUST = stages("images/rust.Dockerfile")
WEB = stages("images/web.Dockerfile")


def layers(name):
    """All instructions of an image from the base image on."""
    base, own = (RUST | WEB)[name]
    if base == "${RUNTIME}":
        return own
    return layers("web" if base == "${SERVER}" else base) + own


IMAGES = [name for name, (base, _) in (RUST | WEB).items() if name != "web" and base in ("runtime", "${SERVER}")]


class Image:
    """An image, assembled in a folder."""

    def __init__(self, name, folder):
        self.folder = folder
        self.variables = dict(BASE_VARIABLES)
        self.user, self.ports, self.entrypoint, self.program = None, [], None, None
        assemble_base(folder)
        for instruction, value in layers(name):
            # Anything else, RUN above all, would need an engine: there is no shell in the image.
            getattr(self, f"on_{instruction.lower()}")(value)

    def on_copy(self, value):
        *options, last = shlex.split(value)
        stage = None
        if options[0].startswith("--from="):
            stage = options.pop(0).removeprefix("--from=")
        target = self.folder / last.lstrip("/")
        for source in options:
            for found in built(stage, source):
                if found.is_dir():
                    shutil.copytree(found, target, dirs_exist_ok=True)
                else:
                    target.mkdir(parents=True, exist_ok=True)
                    shutil.copy2(found, target)
                if found.parent == PROGRAMS:
                    self.program = target / found.name

    def on_env(self, value):
        name, _, value = value.partition("=")
        self.variables[name] = value

    def on_user(self, value):
        self.user = value

    def on_workdir(self, value):
        assert value == "/", value

    def on_expose(self, value):
        self.ports = value.split()

    def on_entrypoint(self, value):
        self.entrypoint = json.loads(value)

    def start(self, arguments, **variables):
        """Starts the image's program in its own root."""
        enter = (
            'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && mount -t tmpfs tmpfs "$0/tmp" && '
            'user="$1" && shift && exec env --ignore-environment "$@"'
        )
        settings = [f"{name}={value}" for name, value in (self.variables | variables).items()]
        chroot = ["chroot", "--userspec", self.user, "--groups", "", self.folder]
        return subprocess.Popen(
            [*as_root(), "unshare", "--mount", "sh", "-c", enter, self.folder, self.user]
            + [*settings, *chroot, *self.entrypoint, *arguments],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def answer(self, *arguments):
        """The exit code and what was said, of a program that ends by itself."""
        program = self.start(arguments)
        said, complained = program.communicate(timeout=20)
        return program.returncode, said + complained

    def address(self, pattern):
        """An address, with one of the image's files where `*` stands."""
        if "*" not in pattern:
            return pattern
        site = self.folder / "site"
        found = sorted(site.glob(pattern.lstrip("/")))
        assert found, f"no file is at {pattern}"
        return f"/{found[0].relative_to(site)}"

    def megabytes(self):
        files = [path for path in self.folder.rglob("*") if path.is_file() and not path.is_symlink()]
        return sum(path.stat().st_size for path in files) / 1e6


def built(stage, source):
    """Where this machine has what a stage of the build has at `source`."""
    if stage == "build" and source == "/libgcc_s.so.1":
        return [Path(output("gcc", "-print-file-name=libgcc_s.so.1"))]
    if stage == "build":
        return [PROGRAMS / source.removeprefix("/src/target/*/release/")]
    found = sorted(ROOT.glob(source.removeprefix("/src/")))
    assert found, f"{source} is not there"
    return found


def assemble_base(folder):
    """The base image: files of packages, and what it adds."""
    for directory in ("usr/bin", "usr/lib", "usr/lib64", "etc/ssl/certs", "home/nonroot", "tmp"):
        (folder / directory).mkdir(parents=True, exist_ok=True)
    for name in ("bin", "lib", "lib64"):
        (folder / name).symlink_to(f"usr/{name}")
    # Not every machine has them all.
    installed = [name for name in BASE_PACKAGES if any(Path("/var/lib/dpkg/info").glob(f"{name}[.:]*list"))]
    for listed in output("dpkg", "--listfiles", *installed).splitlines():
        path = Path(listed)
        if path.is_dir() or LEFT_OUT.match(listed) or not path.exists():
            continue
        target = folder / listed.lstrip("/")
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(path, target, follow_symlinks=False)
    shutil.copy2(BASE_VARIABLES["SSL_CERT_FILE"], folder / "etc/ssl/certs")
    (folder / "etc/passwd").write_text("nonroot:x:65532:65532:nonroot:/home/nonroot:/sbin/nologin\n")
    (folder / "etc/group").write_text("nonroot:x:65532:\n")


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def as_root():
    return [] if os.geteuid() == 0 else ["sudo", "--non-interactive"]


def sent():
    """What the builder gets of the checkout."""
    return {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def ask(address):
    """Status and headers of what a browser gets."""
    request = urllib.request.Request(address, headers={"Accept-Encoding": "gzip, br"})
    try:
        with urllib.request.urlopen(request, timeout=5) as response:
            return response.status, response.headers
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers


def await_health(health):
    """What is answered once something answers there."""
    deadline = time.monotonic() + 15
    while True:
        try:
            return ask(f"{health}/livez")
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.05)


class Contents(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = ROOT / "target/images"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir(parents=True)
        cls.addClassCleanup(shutil.rmtree, scratch)
        cls.images = {name: Image(name, scratch / name) for name in IMAGES}

    def test_every_program_runs_with_nothing_but_its_image(self):
        for name, image in self.images.items():
            with self.subTest(image=name):
                code, said = image.answer("--help")
                self.assertEqual(code, 0, said)
                self.assertIn("Usage:", said)
                self.assertEqual(image.user, USER)

    def test_what_is_exposed_is_what_is_listened_on(self):
        for name, image in self.images.items():
            with self.subTest(image=name):
                names = [name for name in ("LISTEN", "HEALTH_LISTEN") if name in image.variables]
                self.assertEqual([image.variables[name] for name in names], [f"0.0.0.0:{port}" for port in image.ports])
                for name in names:
                    self.assertIn(f"[env: {name}={image.variables[name]}]", image.answer("--help")[1])

    def test_what_is_not_told_is_asked_for_by_name(self):
        for name, image in self.images.items():
            with self.subTest(image=name):
                if name in ASKS_FOR:
                    code, said = image.answer(*TASK.get(name, []))
                    self.assertEqual(code, 2, said)
                    self.assertIn("A setting is missing", said)
                    self.assertIn(ASKS_FOR[name], said)

    def test_what_needs_nothing_serves_and_stops_when_asked(self):
        for name, image in self.images.items():
            with self.subTest(image=name):
                if name not in ASKS_FOR:
                    site, health = f"127.0.0.1:{free_port()}", f"127.0.0.1:{free_port()}"
                    program = image.start([], LISTEN=site, HEALTH_LISTEN=health)
                    try:
                        status, said = await_health(f"http://{health}")
                        self.assertEqual((status, said["content-type"]), (200, "application/json"))
                        for path, status, headers in ANSWERS[name]:
                            expected = headers | (ALWAYS if name.startswith("web-") else {})
                            answered, said = ask(f"http://{site}{image.address(path)}")
                            self.assertEqual(answered, status, path)
                            self.assertEqual({key: said[key] for key in expected}, expected, path)
                            self.assertIsNotNone(said["content-security-policy"], path)
                    finally:
                        # A signal from us would not reach what sudo started.
                        subprocess.run([*as_root(), "kill", "-TERM", str(program.pid)], check=True)
                        said = program.communicate(timeout=30)
                    self.assertEqual(program.returncode, 0, said)

    def test_the_root_cannot_be_written(self):
        image = Image("careers", ROOT / "target/images/careers-with-touch")
        shutil.copy2("/usr/bin/touch", image.folder / "usr/bin/")
        image.entrypoint = ["/usr/bin/touch"]
        code, said = image.answer("/home/nonroot/file")
        self.assertEqual((code, "Read-only file system" in said), (1, True), said)
        self.assertEqual(image.answer("/tmp/file"), (0, ""))

    def test_the_builder_is_sent_all_that_is_copied(self):
        for _, instructions in (RUST | WEB).values():
            for instruction, value in instructions:
                sources = shlex.split(value)[:-1]
                if instruction == "COPY" and not sources[0].startswith("--from="):
                    self.assertLessEqual({Path(source).parts[0] for source in sources}, sent())

    def test_the_builder_has_every_package_of_the_workspace(self):
        for stage in ("recipe", "build"):
            with self.subTest(stage=stage), tempfile.TemporaryDirectory() as folder:
                for instruction, value in RUST[stage][1]:
                    *sources, target = shlex.split(value)
                    if instruction == "COPY" and not sources[0].startswith("--from="):
                        for source in sources:
                            link = Path(folder) / target / (source if target == "./" else "")
                            link.symlink_to(ROOT / source)
                asked = ["cargo", "metadata", "--no-deps", "--offline", "--locked", "--format-version", "1"]
                told = subprocess.run(asked, cwd=folder, capture_output=True, text=True)
                self.assertEqual(told.returncode, 0, told.stderr)

    def test_the_builder_is_sent_nothing_that_git_does_not_keep(self):
        self.assertNotIn(".git", sent())
        kept_back = set((ROOT / ".dockerignore").read_text().splitlines())
        for ignored in (ROOT / ".gitignore").read_text().splitlines():
            path = ignored.strip("/")
            # A name without a folder is meant anywhere, which the builder's list must say.
            if "/" not in ignored.rstrip("/"):
                path = f"**/{path}"
            if Path(path).parts[0] in {"**", *sent()}:
                self.assertIn(path, kept_back)

    def test_all_that_is_published_is_built_and_tested(self):
        bake = (ROOT / "docker-bake.hcl").read_text()
        titles = re.search(r'variable "TITLES" \{(.*?)\n\}', bake, re.DOTALL)[1]
        self.assertEqual(set(re.findall(r'^ +([a-z-]+) += "', titles, re.MULTILINE)), set(IMAGES))
        programs = {name for name, (base, _) in RUST.items() if base == "runtime"}
        self.assertEqual(set(json.loads(re.search(r"image = (\[.*\])", bake)[1])), programs)
        for step in ("chef cook", "auditable build"):
            [built] = [value for instruction, value in RUST["build"][1] if instruction == "RUN" and step in value]
            self.assertEqual(set(re.findall(r"--bin (\S+)", built)), programs)
            self.assertIn("--features site-service/jemalloc", built)

    @unittest.skipUnless(WEIGH, "only release builds keep the budgets")
    def test_programs_and_images_are_small(self):
        for name, image in self.images.items():
            with self.subTest(image=name):
                program, whole = image.program.stat().st_size / 1e6, image.megabytes()
                print(f"{name:12} program {program:5.1f} MB, image {whole:5.1f} MB", file=sys.stderr)
                self.assertLessEqual(program, LARGEST_PROGRAM_MB)
                self.assertLessEqual(whole, LARGEST_IMAGE_MB)


class TimedResult(unittest.TextTestResult):
    """Notes how many seconds each test took."""

    def __init__(self, *arguments, **options):
        super().__init__(*arguments, **options)
        self.seconds = {}

    def startTest(self, test):
        self.began = time.monotonic()
        super().startTest(test)

    def stopTest(self, test):
        self.seconds[test.id().rpartition(".")[2]] = time.monotonic() - self.began
        super().stopTest(test)


if __name__ == "__main__":
    runner = unittest.TextTestRunner(verbosity=2, resultclass=TimedResult)
    result = unittest.main(argv=[sys.argv[0], *FILTER], testRunner=runner, exit=False).result
    failed = len({getattr(test, "test_case", test).id() for test, _ in result.failures + result.errors})
    passed = max(0, result.testsRun - len(result.skipped) - failed)
    (ROOT / "target/images.json").write_text(json.dumps({"passed": passed, "failed": failed, "seconds": result.seconds}))
    sys.exit(failed > 0)
