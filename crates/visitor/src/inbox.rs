//! Keyed hash of an inbox, the same for all its tagged addresses.

use crate::{
    EmailAddress,
    person::{hex, tag},
    token::TokenKey,
};

/// HMAC-SHA256 of [`EmailAddress::inbox`], 128 bits as 32 lower-case hex digits.
///
/// Used only to count mails. Personal data is stored under the [`PersonId`](crate::PersonId).
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct InboxId(String);

impl InboxId {
    /// Id of the inbox behind an address.
    pub fn of(email: &EmailAddress, key: &TokenKey) -> Self {
        // The same key signs tokens. Their claims never begin with a zero byte, so no signature equals an id.
        let bytes = [&[0], email.inbox().as_bytes()].concat();
        Self(hex(tag(&key.0, &bytes)))
    }

    /// The hex digits.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEY: &str = "a token key of thirty-two bytes or more";

    fn inbox(secret: &str, email: &str) -> String {
        let key = TokenKey::new(secret).expect("a long key");
        let email = EmailAddress::parse(email).expect("an address");
        InboxId::of(&email, &key).0
    }

    #[test]
    fn an_inbox_id_is_a_keyed_hash_ignoring_the_tag() {
        // printf '\0asha@example.com' | openssl dgst -sha256 -hmac "a token key of thirty-two bytes or more"
        let id = "6b4505c23c87c772a27910acdcd3724b";
        assert_eq!(inbox(KEY, "asha@example.com"), id);
        assert_eq!(inbox(KEY, "Asha+news@Example.com"), id);
        assert_ne!(inbox(KEY, "asha@example.org"), id);
        let other = "another key of thirty-two bytes or more";
        assert_ne!(inbox(other, "asha@example.com"), id);
    }
}
