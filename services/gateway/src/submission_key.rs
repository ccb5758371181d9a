//! Idempotency key of a submission: the client's, or one derived from the content and the UTC hour.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use sha2::{Digest, Sha256};
use site_service::idempotency::IdempotencyKey;
use uuid::{Builder, Uuid};

const HOUR: Duration = Duration::from_secs(60 * 60);

/// Hashes fields and file in any order, unless the client sent a key.
pub struct SubmissionKey {
    given: Option<Uuid>,
    form: &'static str,
    parts: BTreeMap<&'static str, Sha256>,
}

impl SubmissionKey {
    pub fn new(form: &'static str, given: Option<Uuid>) -> Self {
        Self {
            given,
            form,
            parts: BTreeMap::new(),
        }
    }

    /// An empty field counts like a missing one.
    pub fn with(mut self, field: &'static str, value: &str) -> Self {
        self.set(field, value);
        self
    }

    /// Replaces the previous value.
    pub fn set(&mut self, field: &'static str, value: &str) {
        if value.is_empty() {
            self.parts.remove(field);
        } else if self.given.is_none() {
            self.parts.insert(field, Sha256::new_with_prefix(value));
        }
    }

    pub fn add(&mut self, file: &'static str, bytes: &[u8]) {
        if self.given.is_none() {
            self.parts.entry(file).or_default().update(bytes);
        }
    }

    /// A derived key depends on the UTC hour of `now`.
    pub fn finish(self, now: SystemTime) -> IdempotencyKey {
        if let Some(given) = self.given {
            return IdempotencyKey::Given(given);
        }
        let since = now.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let hour = since.as_secs() / HOUR.as_secs();
        let mut all = Sha256::new_with_prefix(self.form);
        all.update(hour.to_be_bytes());
        for (name, digest) in self.parts {
            // Unambiguous: names contain no zero byte, and digests have a fixed length.
            all.update(name);
            all.update([0]);
            all.update(digest.finalize());
        }
        let digest: [u8; 32] = all.finalize().into();
        let mut bytes = [0; 16];
        bytes.copy_from_slice(&digest[..16]);
        IdempotencyKey::Derived(Builder::from_custom_bytes(bytes).into_uuid())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Duration = Duration::from_secs(1_800_000_000);

    fn message() -> SubmissionKey {
        SubmissionKey::new("contact", None)
            .with("name", "Ada")
            .with("email", "ada@example.org")
    }

    fn key(of: SubmissionKey) -> IdempotencyKey {
        of.finish(SystemTime::UNIX_EPOCH + NOON)
    }

    #[test]
    fn the_same_content_has_one_key_in_whatever_order_it_came() {
        let other_way = SubmissionKey::new("contact", None)
            .with("email", "ada@example.org")
            .with("name", "Ada");
        assert_eq!(key(message()), key(other_way));
        assert_eq!(key(message()), key(message().with("message", "")));
        assert_eq!(
            key(message()),
            key(message().with("name", "Bob").with("name", "Ada"))
        );
    }

    #[test]
    fn another_form_field_value_or_file_has_another_key() {
        let mut with_file = message();
        with_file.add("resume", b"%PDF-");
        let mut with_other_file = message();
        with_other_file.add("resume", b"%PDF-1");
        let mut in_two_chunks = message();
        in_two_chunks.add("resume", b"%PDF");
        in_two_chunks.add("resume", b"-");
        let keys = [
            message(),
            SubmissionKey::new("newsletter", None)
                .with("name", "Ada")
                .with("email", "ada@example.org"),
            message().with("name", "Adam"),
            message().with("message", "Ada"),
            SubmissionKey::new("contact", None)
                .with("name", "ada@example.org")
                .with("email", "Ada"),
            with_other_file,
            with_file,
        ]
        .map(key);
        let distinct: std::collections::BTreeSet<String> = keys.iter().map(ToString::to_string).collect();
        assert_eq!(distinct.len(), keys.len());
        assert_eq!(key(in_two_chunks), keys[6]);
    }

    #[test]
    fn a_key_that_came_with_it_is_the_key_of_any_content_and_no_derived_one() {
        let given = Uuid::from_u128(7);
        let mut of = SubmissionKey::new("contact", Some(given)).with("name", "Ada");
        of.add("resume", b"%PDF-");
        assert_eq!(key(of), IdempotencyKey::Given(given));
        let IdempotencyKey::Derived(derived) = key(message()) else {
            panic!("it came without one");
        };
        assert_ne!(key(message()), key(SubmissionKey::new("contact", Some(derived))));
    }

    #[test]
    fn each_hour_has_its_own_key() {
        let at = |seconds| message().finish(SystemTime::UNIX_EPOCH + NOON + Duration::from_secs(seconds));
        assert_eq!(at(0), at(3599));
        assert_ne!(at(0), at(3600));
    }
}
