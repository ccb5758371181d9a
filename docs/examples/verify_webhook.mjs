// Verifies a webhook (Standard Webhooks 1.0) with Node alone: body on stdin, headers and secret in variables; exits with 1 if it is
// not ours.
import { createHmac, timingSafeEqual } from "node:crypto";
import { readFileSync } from "node:fs";

const TOLERANCE_SECONDS = 5 * 60;

export function verify(secret, id, timestamp, signatures, body) {
  if (!/^\d+$/.test(timestamp) || Math.abs(Date.now() / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) {
    return false;
  }
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  const expected = Buffer.from(
    `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64")}`,
  );
  // While a secret rotates there are two signatures; one of them is enough.
  return signatures.split(" ").some((signature) => {
    const told = Buffer.from(signature);
    return told.length === expected.length && timingSafeEqual(told, expected);
  });
}

const { WEBHOOK_SECRET, WEBHOOK_ID, WEBHOOK_TIMESTAMP, WEBHOOK_SIGNATURE } = process.env;
const isOurs = verify(WEBHOOK_SECRET, WEBHOOK_ID, WEBHOOK_TIMESTAMP, WEBHOOK_SIGNATURE, readFileSync(0));
process.exitCode = isOurs ? 0 : 1;
