"""Memory of the services in a running stack: idle, and at its peak during 100 simultaneous uploads of 10 MB.

Fails above the budget. `cargo xtask measure memory` runs it.
"""

import json
import os
import pathlib
import sys
import time
import urllib.error
import urllib.request
from concurrent.futures import ThreadPoolExecutor

SERVICES = ["gateway", "contact", "newsletter", "careers", "notifier"]
IDLE_BUDGET_MB = 22
# The gateway reads up to 320 KiB of each upload that waits for a slot.
PEAK_BUDGET_MB = 64
UPLOADS = 100
UPLOAD_SECONDS = 120
RESUME = b"%PDF-1.7\n" + b"0123456789abcdef" * 625_000 + b"\nstartxref\n0\n%%EOF"
FIELDS = {"name": "Ada Lovelace", "position": "Backend Intern", "coverLetter": "Measured."}

STACK = json.loads(pathlib.Path(os.environ["STACK_FILE"]).read_text())


def process(service, file):
    return pathlib.Path(f"/proc/{STACK['pids'][service]}/{file}")


def megabytes(service, field):
    """A field of /proc/<pid>/status (proc(5))."""
    lines = process(service, "status").read_text().splitlines()
    kilobytes = next(line.split()[1] for line in lines if line.startswith(f"{field}:"))
    return int(kilobytes) * 1024 / 1e6


def upload(visitor):
    """Sends an application, and retries while the answer is 503."""
    fields = FIELDS | {"email": f"ada.{visitor}@example.org"}
    parts = [f'--b\r\nContent-Disposition: form-data; name="{name}"\r\n\r\n{text}\r\n' for name, text in fields.items()]
    parts.append('--b\r\nContent-Disposition: form-data; name="resume"; filename="resume.pdf"\r\n\r\n')
    form = "".join(parts).encode() + RESUME + b"\r\n--b--\r\n"
    headers = {"Content-Type": "multipart/form-data; boundary=b", "X-Forwarded-For": f"203.0.113.{visitor}"}
    begun = time.monotonic()
    while True:
        request = urllib.request.Request(f"{STACK['site']}/api/career-application", form, headers)
        try:
            return urllib.request.urlopen(request, timeout=UPLOAD_SECONDS).close()
        except urllib.error.HTTPError as refused:
            if refused.code != 503 or time.monotonic() - begun > UPLOAD_SECONDS:
                raise
        time.sleep(1)


def main():
    for service in SERVICES:
        # Resets the peak (proc(5)).
        process(service, "clear_refs").write_text("5")
    idle = {service: megabytes(service, "VmRSS") for service in SERVICES}
    with ThreadPoolExecutor(UPLOADS) as visitors:
        list(visitors.map(upload, range(UPLOADS)))
    peak = {service: megabytes(service, "VmHWM") - idle[service] for service in SERVICES}
    print("| service | idle MB | peak above idle MB |\n|---|---:|---:|")
    for service in SERVICES:
        print(f"| {service} | {idle[service]:.1f} | {peak[service]:.1f} |")
    print(f"| budget | {IDLE_BUDGET_MB} | {PEAK_BUDGET_MB} |")
    sys.exit(max(idle.values()) > IDLE_BUDGET_MB or max(peak.values()) > PEAK_BUDGET_MB)


main()
