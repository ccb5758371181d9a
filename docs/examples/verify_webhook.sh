#!/usr/bin/env bash
# Verifies a webhook (Standard Webhooks 1.0) with openssl: body on stdin, headers and secret in variables; exits with 1 if it is not
# ours. For a look by hand: the key is an argument of openssl, which others on the machine can read while it runs, and the
# comparison takes longer the more is right.
set -euo pipefail

tolerance_seconds=300

[[ $WEBHOOK_TIMESTAMP =~ ^[0-9]+$ ]] || exit 1
age=$(($(date +%s) - 10#$WEBHOOK_TIMESTAMP))
((age <= tolerance_seconds && age >= -tolerance_seconds)) || exit 1
key=$(printf %s "${WEBHOOK_SECRET#whsec_}" | openssl base64 -d -A | od -An -v -tx1 | tr -d ' \n')
expected=v1,$({ printf '%s.%s.' "$WEBHOOK_ID" "$WEBHOOK_TIMESTAMP"; cat; } |
  openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | openssl base64 -A)
# While a secret rotates there are two signatures; one of them is enough.
for signature in $WEBHOOK_SIGNATURE; do
  [[ $signature == "$expected" ]] && exit 0
done
exit 1
