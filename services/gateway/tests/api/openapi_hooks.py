"""Filters the requests that Schemathesis generates."""

import schemathesis


@schemathesis.hook
def filter_case(_, case):
    """Skips forms with the honeypot field, which are always accepted, and empty idempotency keys, which count as missing."""
    is_robot = isinstance(case.body, dict) and "website" in case.body
    return not is_robot and (case.headers or {}).get("Idempotency-Key") != ""
