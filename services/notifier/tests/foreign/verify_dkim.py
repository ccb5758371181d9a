"""Verifies the DKIM signature of each mail with dkimpy.

Reads {"name": DNS name of the key, "key": TXT record at that name, "mails": [base64]}; prints a JSON array of
booleans.
"""

import base64
import json
import sys

import dkim

asked = json.load(sys.stdin)


def look_up(name, timeout=5):
    found = name.decode().rstrip(".") == asked["name"]
    return asked["key"].encode() if found else None


mails = (base64.b64decode(mail) for mail in asked["mails"])
print(json.dumps([dkim.verify(mail, dnsfunc=look_up) for mail in mails]))
