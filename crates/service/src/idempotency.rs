//! Idempotency keys, which identify duplicate submissions.

use std::{fmt, str::FromStr};

use uuid::Uuid;

/// HTTP header of a client's key.
pub const HEADER: &str = "idempotency-key";

/// Prefix of keys that the gateway derives. Clients cannot send it, as the header must be a UUID.
const DERIVED: &str = "content:";

/// The idempotency key is not a UUID.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("The Idempotency-Key must be a UUID.")]
pub struct InvalidIdempotencyKey;

/// Parses a header's key.
///
/// # Errors
///
/// If it is not a UUID.
pub fn parse(raw: &str) -> Result<Uuid, InvalidIdempotencyKey> {
    Uuid::parse_str(raw).map_err(|_| InvalidIdempotencyKey)
}

/// Idempotency key from the gateway to a service.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdempotencyKey {
    /// The client's key from the header.
    Given(Uuid),
    /// The gateway's key, derived from the content.
    Derived(Uuid),
}

impl IdempotencyKey {
    /// Binding of this key.
    pub fn binding(self) -> KeyBinding {
        match self {
            Self::Given(key) if key.get_version_num() != 8 => KeyBinding::Unknown,
            Self::Given(_) | Self::Derived(_) => KeyBinding::Content,
        }
    }
}

impl fmt::Display for IdempotencyKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Given(key) => write!(f, "{key}"),
            Self::Derived(key) => write!(f, "{DERIVED}{key}"),
        }
    }
}

/// An empty text becomes a new key.
impl FromStr for IdempotencyKey {
    type Err = InvalidIdempotencyKey;

    fn from_str(raw: &str) -> Result<Self, Self::Err> {
        match raw.strip_prefix(DERIVED) {
            Some(derived) => parse(derived).map(Self::Derived),
            None if raw.is_empty() => Ok(Self::Given(Uuid::new_v4())),
            None => parse(raw).map(Self::Given),
        }
    }
}

/// What a key is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyBinding {
    /// One content: a key of version 8 (RFC 9562, 5.8) promises that other content has another key.
    Content,
    /// Unknown: the sender may reuse the key for other content.
    Unknown,
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "68cbf9c7-f08b-504e-92aa-bdbbd9999451";

    #[test]
    fn a_key_is_a_uuid_or_absent() {
        let read = |raw: &str| raw.parse::<IdempotencyKey>();
        assert_eq!(read(KEY).map(|key| key.to_string()), Ok(KEY.to_owned()));
        assert_ne!(read(""), read(""));
        assert_eq!(read("again"), Err(InvalidIdempotencyKey));
    }

    #[test]
    fn no_header_is_parsed_as_a_derived_key() {
        let derived = parse(KEY).map(IdempotencyKey::Derived);
        let sent = derived.as_ref().map(ToString::to_string).unwrap_or_default();
        assert_eq!(sent.parse(), derived);
        assert_eq!(parse(&sent), Err(InvalidIdempotencyKey));
        for header in [KEY.to_owned(), format!("urn:uuid:{KEY}"), format!("{{{KEY}}}")] {
            assert_ne!(parse(&header).map(IdempotencyKey::Given), derived);
            assert_eq!(parse(&header).map(|key| key.to_string()), Ok(KEY.to_owned()));
        }
    }
}
