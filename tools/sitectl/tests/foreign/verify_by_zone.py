"""Verifies DKIM signatures of mails with dkimpy, with the keys that dnspython reads from a zone.

Reads {"domain": domain of the zone, "zone": lines of a zone file, "mails": [base64]}; prints {"texts": {name: text},
"verified": [boolean]}.
"""

import base64
import json
import sys

import dkim
import dns.zone

asked = json.load(sys.stdin)
zone = dns.zone.from_text(asked["zone"], origin=asked["domain"], relativize=False, check_origin=False)
texts = {
    name.to_text(omit_final_dot=True): b"".join(text.strings)
    for name, _, text in zone.iterate_rdatas("TXT")
}


def look_up(name, timeout=5):
    return texts.get(name.decode().rstrip("."))


mails = (base64.b64decode(mail) for mail in asked["mails"])
print(
    json.dumps(
        {
            "texts": {name: text.decode() for name, text in texts.items()},
            "verified": [dkim.verify(mail, dnsfunc=look_up) for mail in mails],
        }
    )
)
