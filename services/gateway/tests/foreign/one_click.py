"""Unsubscribes in one click as a mail provider does (RFC 8058). Reads the delivered mail from standard input."""

import email.policy
import re
import sys
import urllib.request

mail = email.message_from_bytes(sys.stdin.buffer.read(), policy=email.policy.default)
assert mail["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click", mail["List-Unsubscribe-Post"]
link = re.search(r"<(https?://[^>]+)>", mail["List-Unsubscribe"]).group(1)
body = mail["List-Unsubscribe-Post"].encode()
with urllib.request.urlopen(urllib.request.Request(link, data=body, method="POST"), timeout=30) as answer:
    print(answer.status)
