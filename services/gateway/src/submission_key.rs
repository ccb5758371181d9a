//! Idempotency key of a submission whose client sent none, derived from the content and the UTC hour.

use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};
use site_service::idempotency::IdempotencyKey;
use uuid::Builder;

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Derives the key from form, file and the UTC hour of `now`.
pub fn derived_key(name: &str, form: &[u8], file: Option<Sha256>, now: SystemTime) -> IdempotencyKey {
    let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let hour = since.as_secs() / HOUR.as_secs();
    // The two digests have a fixed length, so that no other form and file give the same bytes.
    let digest: [u8; 32] = Sha256::new_with_prefix(name)
        .chain_update(hour.to_be_bytes())
        .chain_update(Sha256::digest(form))
        .chain_update(file.map(Sha256::finalize).unwrap_or_default())
        .finalize()
        .into();
    let mut bytes = [0; 16];
    bytes.copy_from_slice(&digest[..16]);
    IdempotencyKey::Derived(Builder::from_custom_bytes(bytes).into_uuid())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    const NOON: u64 = 1_800_000_000;

    fn key(name: &str, form: &[u8], file: Option<&[u8]>, second: u64) -> IdempotencyKey {
        let now = SystemTime::UNIX_EPOCH + Duration::from_secs(NOON + second);
        derived_key(name, form, file.map(Sha256::new_with_prefix), now)
    }

    #[test]
    fn each_content_and_each_hour_has_its_own_key() {
        let first = key("contact", b"Ada", None, 0);
        assert_eq!(first, key("contact", b"Ada", None, 3599));
        let others = [
            first,
            key("contact", b"Ada", None, 3600),
            key("newsletter", b"Ada", None, 0),
            key("contact", b"Adam", None, 0),
            key("contact", b"Ada", Some(b"%PDF-"), 0),
            key("contact", b"Ada", Some(b"%PDF-1"), 0),
        ];
        let distinct: BTreeSet<String> = others.iter().map(ToString::to_string).collect();
        assert_eq!(distinct.len(), others.len());
    }
}
