//! Keyed hash that identifies a person in subjects, keys and logs.

use std::fmt;

use clap::Args;
use hmac::{Hmac, KeyInit, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;

use crate::{EmailAddress, InvalidInput};

/// Minimum length of a key.
pub const MIN_KEY_BYTES: usize = 32;

/// Secret that derives a [`PersonId`] from an address, the same in every service.
///
/// If it is lost, stored people cannot be found by address.
#[derive(Clone)]
pub struct PersonKey(Hmac<Sha256>);

impl PersonKey {
    /// Reads the secret from the settings.
    ///
    /// # Errors
    ///
    /// If it is shorter than [`MIN_KEY_BYTES`].
    pub fn new(secret: &str) -> Result<Self, InvalidInput> {
        keyed(secret).map(Self)
    }

    /// Id of the person behind an address.
    pub fn person(&self, email: &EmailAddress) -> PersonId {
        PersonId(hex(tag(&self.0, email.normalised().as_bytes())))
    }

    /// Fingerprint that distinguishes keys without revealing them.
    pub fn fingerprint(&self) -> String {
        // A person id hashes an address, which never begins with this byte, so no id equals a fingerprint.
        hex(tag(&self.0, &[1]))
    }

    /// Keyed hash of a submission's name, 128 bits. Without the key, nobody can compute the hash or find a
    /// collision.
    pub fn submission(&self, name: &str) -> [u8; 16] {
        // A person id hashes an address, which never begins with a zero byte, so no id equals this hash.
        tag(&self.0, &[&[0], name.as_bytes()].concat())
    }
}

/// The setting of the key.
#[derive(Args, Clone, Debug)]
pub struct PersonKeySettings {
    /// Key of the person ids, at least 32 bytes, the same in every service
    #[arg(long, env = "PERSON_KEY", hide_env_values = true, value_parser = PersonKey::new)]
    pub person_key: PersonKey,
}

impl fmt::Debug for PersonKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PersonKey(…)")
    }
}

/// HMAC-SHA256 of a normalised address, 128 bits as 32 lower-case hex digits.
#[derive(Clone, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct PersonId(pub(crate) String);

impl PersonId {
    /// The hex digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for PersonId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl TryFrom<String> for PersonId {
    type Error = InvalidInput;

    fn try_from(raw: String) -> Result<Self, Self::Error> {
        let hex = raw.len() == 32 && raw.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'));
        hex.then_some(Self(raw))
            .ok_or_else(|| InvalidInput::new("A person id is 32 hex digits."))
    }
}

impl From<PersonId> for String {
    fn from(id: PersonId) -> Self {
        id.0
    }
}

/// Prepares an HMAC. It stores no copy of the secret, only two hash states that are overwritten on drop.
pub(crate) fn keyed(secret: &str) -> Result<Hmac<Sha256>, InvalidInput> {
    if secret.len() < MIN_KEY_BYTES {
        return Err(InvalidInput::new(format!(
            "the key needs at least {MIN_KEY_BYTES} bytes"
        )));
    }
    Hmac::new_from_slice(secret.as_bytes()).map_err(|e| InvalidInput::new(e.to_string()))
}

pub(crate) fn tag(keyed: &Hmac<Sha256>, bytes: &[u8]) -> [u8; 16] {
    let whole = keyed.clone().chain_update(bytes).finalize().into_bytes();
    let mut tag = [0; 16];
    tag.copy_from_slice(&whole[..16]);
    tag
}

pub(crate) fn hex(tag: [u8; 16]) -> String {
    format!("{:032x}", u128::from_be_bytes(tag))
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "a key of thirty-two bytes or more";
    const OTHER_KEY: &str = "another key of thirty-two bytes or more";

    fn key(secret: &str) -> PersonKey {
        PersonKey::new(secret).expect("a long key")
    }

    fn person(secret: &str, email: &str) -> String {
        let email = EmailAddress::parse(email).expect("an address");
        key(secret).person(&email).to_string()
    }

    #[test]
    fn a_person_id_is_a_keyed_hash_of_the_address() {
        // echo -n asha@example.com | openssl dgst -sha256 -hmac "a key of thirty-two bytes or more"
        let id = "b482fe4a4a9729ef532801979ccb769c";
        assert_eq!(person(KEY, "asha@example.com"), id);
        assert_eq!(person(KEY, "Asha@Example.com"), id);
        assert_ne!(person(KEY, "asha@example.org"), id);
        assert_ne!(person(OTHER_KEY, "asha@example.com"), id);
    }

    #[test]
    fn each_key_has_its_own_fingerprint_and_is_never_shown() {
        let fingerprint = key(KEY).fingerprint();
        assert_eq!(fingerprint.len(), 32);
        assert_eq!(key(KEY).fingerprint(), fingerprint);
        assert_ne!(key(OTHER_KEY).fingerprint(), fingerprint);
        assert_eq!(format!("{:?}", key(KEY)), "PersonKey(…)");
    }

    #[test]
    fn a_short_key_is_refused() {
        assert!(PersonKey::new(&"k".repeat(MIN_KEY_BYTES - 1)).is_err());
        assert!(PersonKey::new(&"k".repeat(MIN_KEY_BYTES)).is_ok());
    }

    #[test]
    fn an_id_is_32_hex_digits_and_nothing_else() {
        let id = "0123456789abcdef0123456789abcdef";
        let read = |raw: &str| PersonId::try_from(raw.to_owned());
        assert_eq!(read(id).as_ref().map(PersonId::as_str), Ok(id));
        for raw in [
            "",
            &id[1..],
            &id.repeat(2),
            &id.to_uppercase(),
            "anyone.>.at.all.of.the.people.>.",
        ] {
            assert!(read(raw).is_err(), "{raw} was taken");
        }
    }
}
