"""The site on one machine: compose.yaml with podman-compose, as docs/install.md says, through Caddy and with real mails.

    compose_test.py <folder of built programs>

Images of others are stand-ins: Debian's Caddy, the broker of the tests, and a server of the S3 API over the same folder.
"""

import asyncio
import email
import email.policy
import json
import os
import re
import shutil
import signal
import ssl
import sys
import tempfile
import threading
import time
import unittest
import urllib.error
import urllib.request
import uuid
from contextlib import contextmanager, suppress
from email.utils import parseaddr
from pathlib import Path

from engine import ROOT, build, build_images, podman, run, use_engine

BUILT = Path(sys.argv[1]).resolve()
COMPOSE = ROOT / "target/tools/compose/bin/podman-compose"
REGISTRY = "localhost/site"
PORTS = {"HTTP_PORT": "18080", "HTTPS_PORT": "18443"}
SITE = "https://localhost:18443"
SMTP_PORT = 18025
CADDY = """FROM localhost/base
COPY caddy /usr/bin/
COPY libraries /usr/lib/
ENV XDG_CONFIG_HOME=/config XDG_DATA_HOME=/data
CMD ["caddy", "run", "--config", "/etc/caddy/Caddyfile", "--adapter", "caddyfile"]
"""
NATS = """FROM localhost/base
COPY nats-server /
ENTRYPOINT ["/nats-server"]
"""
STORE = """FROM localhost/base
COPY libgcc_s.so.1 /usr/lib/
COPY stack /
ENTRYPOINT ["/stack", "s3"]
"""
# Containers that the test kills while visitors send forms.
KILLED = ["caddy", "gateway", "contact", "newsletter", "careers", "notifier", "nats", "s3"]


class Inbox:
    """Mail server of the company; it keeps all mails."""

    def __init__(self):
        self.mails = []
        threading.Thread(target=lambda: asyncio.run(self.serve()), daemon=True).start()

    async def serve(self):
        server = await asyncio.start_server(self.talk, "0.0.0.0", SMTP_PORT)
        await server.serve_forever()

    async def talk(self, reader, writer):
        with suppress(ConnectionError):
            await self.take(reader, writer)
        writer.close()

    async def take(self, reader, writer):
        writer.write(b"220 inbox\r\n")
        while line := await reader.readline():
            verb = line[:4].upper()
            if verb == b"DATA":
                writer.write(b"354 go on\r\n")
                text = await reader.readuntil(b"\r\n.\r\n")
                self.mails.append(email.message_from_bytes(text[:-3], policy=email.policy.default))
            writer.write(b"221 bye\r\n" if verb == b"QUIT" else b"250 ok\r\n")
            if verb == b"QUIT":
                break

    def to(self, address):
        return [mail for mail in self.mails if address in mail["To"]]


def eventually(what, check, seconds=60):
    deadline = time.monotonic() + seconds
    while True:
        try:
            if found := check():
                return found
            reason = "not yet"
        except urllib.error.HTTPError as error:
            reason = f"{error}: {error.read().decode()}"
        except OSError as error:
            reason = error
        if time.monotonic() > deadline:
            raise AssertionError(f"{what}: {reason}")
        time.sleep(0.2)


def ask(path, body=None, headers=None):
    trusting = ssl._create_unverified_context()
    request = urllib.request.Request(SITE + path, body, headers or {})
    with urllib.request.urlopen(request, timeout=30, context=trusting) as answer:
        return answer.read()


def send(path, form, key=None):
    headers = {"Content-Type": "application/json", "Idempotency-Key": key or str(uuid.uuid4())}
    return json.loads(ask(path, json.dumps(form).encode(), headers))["success"]


def contact(name, key=None):
    form = {"name": "Asha", "email": f"{name}@visitors.test", "message": "Three doors, two cameras."}
    return send("/api/contact", form, key)


def apply():
    resume = b"%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\nstartxref\n9\n%%EOF\n"
    fields = {"name": "Ben", "email": "ben@visitors.test", "position": "Another position", "coverLetter": "I like cameras."}
    parts = [f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode() for name, value in fields.items()]
    file = b'--b\r\nContent-Disposition: form-data; name="resume"; filename="cv.pdf"\r\nContent-Type: application/pdf\r\n\r\n'
    body = b"".join(parts) + file + resume + b"\r\n--b--\r\n"
    headers = {"Content-Type": "multipart/form-data; boundary=b", "Idempotency-Key": str(uuid.uuid4())}
    return json.loads(ask("/api/career-application", body, headers))["success"], resume


def memory():
    """Resident memory of each container, in MB."""
    running = podman("ps", "--format={{.Names}} {{.Pid}}").stdout.split()
    statuses = {name: Path(f"/proc/{pid}/status").read_text() for name, pid in zip(running[::2], running[1::2])}
    return {name: int(re.search(r"VmRSS:\s+(\d+)", status)[1]) // 1024 for name, status in statuses.items()}


class OneMachine(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        scratch = Path(tempfile.mkdtemp(prefix="compose-", dir=ROOT / "target"))
        cls.addClassCleanup(shutil.rmtree, scratch)
        use_engine(scratch)
        for version in ("1", "2"):
            (scratch / version).mkdir()
        build_images(scratch, BUILT, REGISTRY, "1")
        for image in ("gateway-pages", "contact", "newsletter", "careers", "notifier", "sitectl"):
            podman("tag", f"{REGISTRY}/{image}:1", f"{REGISTRY}/{image}:2")
        cls.build_stand_ins(scratch)
        cls.folder = scratch / "machine"
        shutil.copytree(ROOT / "compose", cls.folder)
        cls.inbox = Inbox()
        cls.init()
        cls.addClassCleanup(cls.compose, "down", "--volumes")
        cls.addClassCleanup(cls.keep_logs)
        cls.compose("up", "--detach")
        eventually("the site is there", lambda: b"Oculant" in ask("/"), 120)
        eventually("a form is taken", lambda: contact("first"))

    @classmethod
    def keep_logs(cls):
        logs = ROOT / "target/test/compose.log"
        logs.parent.mkdir(parents=True, exist_ok=True)
        logs.write_text(podman("ps", "--all").stdout + cls.compose("logs", check=False).stdout)

    @classmethod
    def build_stand_ins(cls, scratch):
        programs = {"caddy": ROOT / "target/tools/caddy", "nats-server": ROOT / "target/tools/nats-server", "stack": BUILT / "stack"}
        for name, program in programs.items():
            shutil.copy2(program, scratch / "build" / name)
        (scratch / "build/libraries").mkdir()
        for library in re.findall(r"=> (\S+)", run("ldd", programs["caddy"]).stdout):
            shutil.copy2(library, scratch / "build/libraries")
        named = re.findall(r"image: (docker\.io/\S+)", (ROOT / "compose/compose.yaml").read_text())
        named = [re.sub(r"\$\{\w+:-([^}]+)\}", r"\1", name) for name in named]
        for file, program in ((CADDY, "caddy"), (NATS, "nats"), (STORE, "versitygw")):
            (scratch / "Dockerfile").write_text(file)
            [image] = [name for name in named if f"/{program}:" in name]
            build(image, scratch / "Dockerfile", scratch / "build")

    @classmethod
    def init(cls):
        answers = ["--domain=localhost", f"--registry={REGISTRY}", "--image-version=1", "--mail-from=Company <hello@company.test>"]
        answers += ["--sales-to=sales@company.test", "--recruiters-to=jobs@company.test", "--operator-to=ops@company.test"]
        answers += ["--smtp-host=host.containers.internal", f"--smtp-port={SMTP_PORT}", "--smtp-tls=none"]
        here = ["--volume", f"{cls.folder}:/site", "--workdir=/site", "--user=0:0"]
        podman("run", "--rm", *here, f"{REGISTRY}/sitectl:1", "init", *answers)
        ports = "".join(f"{name}={port}\n" for name, port in PORTS.items())
        with (cls.folder / ".env").open("a") as env:
            env.write(f"{ports}S3_PUBLIC_ENDPOINT={SITE}\nRATE_PER_MINUTE=100000\nRATE_BURST=1000\nCHALLENGE=off\n")

    @classmethod
    def compose(cls, *arguments, check=True):
        return run(COMPOSE, "--in-pod=false", *arguments, check=check, cwd=cls.folder, timeout=600)

    def sitectl(self, *arguments):
        return self.compose("run", "--rm", "-T", "sitectl", *arguments).stdout

    def leads(self):
        """E-mail addresses of all stored contact messages; each counts as often as it is stored."""
        listed = json.loads(self.sitectl("leads", "list", "--json"))
        return sorted(lead["data"]["email"] for lead in listed["leads"])

    @contextmanager
    def visitors(self, pause=0.1):
        """Visitors who send while something else happens. Like a browser, they retry unanswered forms with the same key."""
        is_over, accepted = threading.Event(), []

        def visit():
            while not is_over.is_set():
                name, key = uuid.uuid4().hex, str(uuid.uuid4())
                eventually("a form is taken in the end", lambda: contact(name, key))
                accepted.append(f"{name}@visitors.test")
                time.sleep(pause)

        visitors = [threading.Thread(target=visit) for _ in range(4)]
        before = self.leads()
        for visitor in visitors:
            visitor.start()
        try:
            yield
        finally:
            is_over.set()
            for visitor in visitors:
                visitor.join()
        self.assertGreater(len(accepted), 0)
        self.assertEqual(self.leads(), sorted(before + accepted), "each accepted form is stored, and once")
        eventually("each has its mail", lambda: {parseaddr(mail["Reply-To"])[1] for mail in self.inbox.to("sales@")} >= set(accepted))

    def test_1_three_forms_become_mails(self):
        eventually("a sign-up is taken", lambda: send("/api/newsletter", {"email": "nora@visitors.test"}))
        is_accepted, resume = eventually("an application is taken", apply)
        self.assertTrue(is_accepted)
        eventually("sales' mail", lambda: self.inbox.to("sales@company.test"))
        eventually("the confirmation", lambda: self.inbox.to("nora@visitors.test"))
        [mail] = eventually("the recruiters' mail", lambda: self.inbox.to("jobs@company.test"))
        [link] = re.findall(SITE + r"/resumes/\S+", mail.get_body(("plain",)).get_content())
        self.assertEqual(ask(link.removeprefix(SITE)), resume)

    def test_2_a_killed_container_loses_no_form(self):
        with self.visitors():
            for name in KILLED:
                pid = podman("inspect", "--format={{.State.Pid}}", f"site_{name}_1").stdout.strip()
                os.kill(int(pid), signal.SIGKILL)
                time.sleep(3)

    def test_3_an_upgrade_and_a_restart_lose_no_form(self):
        env = self.folder / ".env"
        env.write_text(env.read_text().replace("VERSION=1", "VERSION=2"))
        with self.visitors():
            self.compose("up", "--detach")
        running = podman("ps", "--format={{.Image}}").stdout
        self.assertIn(f"{REGISTRY}/contact:2", running)
        self.assertNotIn(f"{REGISTRY}/contact:1", running)
        with self.visitors():
            self.compose("stop")
            stopped = podman("ps", "--all", "--format={{.Names}} {{.ExitCode}}").stdout.splitlines()
            self.compose("down")
            self.compose("up", "--detach")
        self.assertEqual([name for name in stopped if not name.endswith(" 0")], [], "each ends on SIGTERM")

    def test_4_a_backup_is_restored_into_an_empty_machine(self):
        before = self.leads()
        self.compose("run", "--rm", "-T", "backup", "backup")
        self.compose("down")
        podman("volume", "rm", "site_events")
        objects = Path(podman("volume", "inspect", "--format={{.Mountpoint}}", "site_objects").stdout.strip())
        shutil.rmtree(objects / "resumes")
        self.compose("up", "--detach", "nats", "s3")
        identity = (self.folder / "backup-identity.txt").read_text().strip()
        self.compose("run", "--rm", "-T", "-e", f"BACKUP_IDENTITY={identity}", "sitectl", "restore", "--yes")
        self.compose("up", "--detach")
        self.assertEqual(self.leads(), before)
        eventually("a form is taken", lambda: contact("last"))

    def test_5_memory_stays_below_a_gigabyte(self):
        at_rest = memory()
        with self.visitors(pause=0.2):
            time.sleep(10)
            loaded = memory()
        for when, megabytes in (("at rest", at_rest), ("20 forms/s", loaded)):
            print(f"\n{when}: {sum(megabytes.values())} MB: {megabytes}", file=sys.stderr)
            self.assertLess(sum(megabytes.values()), 1000)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1] + sys.argv[2:], verbosity=2, failfast=True)
