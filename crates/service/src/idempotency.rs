//! Idempotency key: parses the header by which a repeated submission is recognised.

use uuid::Uuid;

/// The HTTP header that carries it.
pub const HEADER: &str = "idempotency-key";

/// The idempotency key is not a UUID.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("The Idempotency-Key must be a UUID.")]
pub struct InvalidIdempotencyKey;

/// Reads the key a caller sent; without one the submission gets a key of its own.
///
/// # Errors
///
/// If what was sent is no UUID.
pub fn parse(raw: &str) -> Result<Uuid, InvalidIdempotencyKey> {
    match raw {
        "" => Ok(Uuid::new_v4()),
        raw => Uuid::parse_str(raw).map_err(|_| InvalidIdempotencyKey),
    }
}

/// What a key stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyBinding {
    /// One content: its sender makes another key for any other, and says so by version 8 (RFC 9562, section 5.8).
    Content,
    /// What its sender sends under it.
    Unknown,
}

impl KeyBinding {
    /// What this key says of itself.
    pub fn of(key: Uuid) -> Self {
        match key.get_version_num() {
            8 => Self::Content,
            _ => Self::Unknown,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_a_uuid_or_absent() {
        let key = "68cbf9c7-f08b-504e-92aa-bdbbd9999451";
        assert_eq!(parse(key).map(|k| k.to_string()), Ok(key.to_owned()));
        assert_ne!(parse(""), parse(""));
        assert_eq!(parse("again"), Err(InvalidIdempotencyKey));
    }
}
