// Verifies a webhook (Standard Webhooks 1.0) with the crates base64, hmac and sha2. `now` is in seconds since
// 1970.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use hmac::{Hmac, KeyInit as _, Mac as _};
use sha2::Sha256;

const TOLERANCE_SECONDS: u64 = 5 * 60;

pub fn verify(secret: &str, id: &str, timestamp: &str, signatures: &str, body: &[u8], now: u64) -> bool {
    let is_fresh = timestamp
        .parse::<u64>()
        .is_ok_and(|sent| now.abs_diff(sent) <= TOLERANCE_SECONDS);
    let key = STANDARD.decode(secret.trim_start_matches("whsec_"));
    let mac = key.ok().and_then(|key| Hmac::<Sha256>::new_from_slice(&key).ok());
    let Some(mut mac) = mac.filter(|_| is_fresh) else {
        return false;
    };
    mac.update(format!("{id}.{timestamp}.").as_bytes());
    mac.update(body);
    // A rotation sends two signatures; one valid signature is enough.
    let told = signatures
        .split(' ')
        .filter_map(|signature| signature.strip_prefix("v1,"));
    told.filter_map(|told| STANDARD.decode(told).ok())
        .any(|told| mac.clone().verify_slice(&told).is_ok())
}
