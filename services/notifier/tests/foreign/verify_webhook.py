"""Verifies a webhook as its receiver would, and reads the event in it.

Reads {"secret", "headers", "body": base64}; prints {"verified": boolean, "event": its attributes, "data": its data}.
"""

import base64
import json
import sys

from cloudevents.core.bindings.http import HTTPMessage, from_http_event
from standardwebhooks.webhooks import Webhook, WebhookVerificationError

webhook = json.load(sys.stdin)
body = base64.b64decode(webhook["body"])
try:
    Webhook(webhook["secret"]).verify(body, webhook["headers"])
    verified = True
except WebhookVerificationError:
    verified = False

event = from_http_event(HTTPMessage(webhook["headers"], body))
attributes = event.get_attributes()
attributes["time"] = attributes["time"].isoformat()
print(json.dumps({"verified": verified, "event": attributes, "data": event.get_data()}))
