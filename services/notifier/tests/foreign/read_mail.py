"""Reads mails as a mail program does: with everything decoded.

Reads a JSON array of mails in base64; prints for each {"subject", "to", "reply_to", "auto_submitted", "text",
"attachments": their names}.
"""

import base64
import json
import sys
from email import message_from_bytes, policy


def shown(mail):
    addresses = mail["Reply-To"].addresses if mail["Reply-To"] else ()
    return {
        "subject": mail["Subject"],
        "to": [address.display_name for address in mail["To"].addresses],
        "reply_to": [[address.display_name, address.addr_spec] for address in addresses],
        "auto_submitted": mail["Auto-Submitted"],
        "text": mail.get_body(("plain",)).get_content(),
        "attachments": [part.get_filename() for part in mail.iter_attachments()],
    }


mails = (message_from_bytes(base64.b64decode(mail), policy=policy.default) for mail in json.load(sys.stdin))
print(json.dumps([shown(mail) for mail in mails]))
