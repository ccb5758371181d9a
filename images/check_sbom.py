"""Checks that each SBOM in a folder is valid and names a package that it must contain.

check_sbom.py <folder>
"""

import json
import sys
from pathlib import Path

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

SURELY_IN = {
    "contact": "pkg:cargo/tikv-jemallocator@",
    "newsletter": "pkg:cargo/async-nats@",
    "careers": "pkg:cargo/aws-sdk-s3@",
    "notifier": "pkg:cargo/lettre@",
    "gateway": "pkg:cargo/axum@",
    "sitectl": "pkg:cargo/clap@",
    "web": "pkg:cargo/axum@",
    "web-shell": "pkg:npm/react@",
    "web-blog": "pkg:npm/marked@",
    "web-careers": "pkg:npm/react@",
}


def complaints(bill):
    text = bill.read_text()
    parsed = json.loads(text)
    version = SchemaVersion.from_version(parsed["specVersion"])
    if wrong := JsonStrictValidator(version).validate_str(text):
        yield f"is not valid: {str(wrong).splitlines()[0]}"
    packages = [component.get("purl", "") for component in parsed.get("components", [])]
    name = bill.name.removesuffix(".cdx.json")
    if not any(package.startswith(SURELY_IN.get(name, "pkg:")) for package in packages):
        yield f"does not name {SURELY_IN[name]}…"
    print(f"{name:12} CycloneDX {parsed['specVersion']}, {len(packages)} components")


bills = {bill.name.removesuffix(".cdx.json"): bill for bill in sorted(Path(sys.argv[1]).glob("*.cdx.json"))}
found = [f"{name} has none" for name in SURELY_IN if name not in bills]
found += [f"{name} {complaint}" for name, bill in bills.items() for complaint in complaints(bill)]
if found:
    sys.exit("\n".join(found))
