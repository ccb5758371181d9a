"""Verifies a webhook (Standard Webhooks 1.0) with Python alone: body on stdin, headers and secret in variables; exits with 1 if it is not ours."""

import base64
import hashlib
import hmac
import os
import sys
import time

TOLERANCE_SECONDS = 5 * 60


def verify(secret: str, webhook_id: str, timestamp: str, signatures: str, body: bytes) -> bool:
    if not timestamp.isdecimal() or abs(time.time() - int(timestamp)) > TOLERANCE_SECONDS:
        return False
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{webhook_id}.{timestamp}.".encode() + body
    expected = base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    # While a secret rotates there are two signatures; one of them is enough.
    return any(
        hmac.compare_digest(f"v1,{expected}".encode(), signature.encode()) for signature in signatures.split(" ")
    )


if __name__ == "__main__":
    names = ("WEBHOOK_SECRET", "WEBHOOK_ID", "WEBHOOK_TIMESTAMP", "WEBHOOK_SIGNATURE")
    sys.exit(not verify(*(os.environ[name] for name in names), sys.stdin.buffer.read()))
