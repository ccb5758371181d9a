//! Signed tokens in mailed links, bound to one purpose and one person until they expire.
//!
//! Form: `base64url(claims) "." base64url(HMAC-SHA256(claims))`. The claims hold the person's keyed hash,
//! never an address.

use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use hmac::{Hmac, Mac};
use serde::{Deserialize, Serialize};
use sha2::Sha256;
use time::OffsetDateTime;

use crate::{InvalidInput, PersonId, person::keyed};

/// What a token allows its bearer to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Purpose {
    /// Confirm a newsletter subscription.
    Confirm,
    /// End a newsletter subscription.
    Unsubscribe,
    /// Mark a submission as synthetic.
    Synthetic,
}

/// Why a token was rejected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TokenError {
    /// Not signed by us, altered, or made for another purpose.
    #[error("the token was not made by us for this purpose")]
    Forged,
    /// Signed by us, but expired.
    #[error("the token has expired")]
    Expired,
}

/// Secret that signs tokens and derives [`InboxId`](crate::InboxId)s, shared by the newsletter service and
/// the notifier.
#[derive(Clone, Debug)]
pub struct TokenKey(pub(crate) Hmac<Sha256>);

#[derive(Serialize, Deserialize)]
struct Claims {
    purpose: Purpose,
    person: PersonId,
    #[serde(with = "time::serde::timestamp")]
    expires: OffsetDateTime,
}

impl TokenKey {
    /// Reads the secret from the settings.
    ///
    /// # Errors
    ///
    /// If it is too short.
    pub fn new(secret: &str) -> Result<Self, InvalidInput> {
        keyed(secret).map(Self)
    }

    /// Signs a token that is valid until `expires`.
    pub fn sign(&self, purpose: Purpose, person: &PersonId, expires: OffsetDateTime) -> String {
        let claims = Claims {
            purpose,
            person: person.clone(),
            expires,
        };
        let claims = serde_json::to_vec(&claims).expect("claims are plain values");
        let tag = self.0.clone().chain_update(&claims).finalize().into_bytes();
        format!(
            "{}.{}",
            URL_SAFE_NO_PAD.encode(claims),
            URL_SAFE_NO_PAD.encode(tag)
        )
    }

    /// Verifies a token. The signature check comes first, in constant time.
    ///
    /// # Errors
    ///
    /// If the token is forged, expired or for another purpose.
    pub fn verify(&self, token: &str, purpose: Purpose, now: OffsetDateTime) -> Result<PersonId, TokenError> {
        let (claims, tag) = token.split_once('.').ok_or(TokenError::Forged)?;
        let claims = URL_SAFE_NO_PAD.decode(claims).map_err(|_| TokenError::Forged)?;
        let tag = URL_SAFE_NO_PAD.decode(tag).map_err(|_| TokenError::Forged)?;
        self.0
            .clone()
            .chain_update(&claims)
            .verify_slice(&tag)
            .map_err(|_| TokenError::Forged)?;
        let claims: Claims = serde_json::from_slice(&claims).map_err(|_| TokenError::Forged)?;
        if claims.purpose != purpose {
            return Err(TokenError::Forged);
        }
        if claims.expires <= now {
            return Err(TokenError::Expired);
        }
        Ok(claims.person)
    }
}

/// Current and former key. During a rotation, links in earlier mails have tokens of the former key.
#[derive(Clone)]
pub struct TokenKeys {
    key: TokenKey,
    former: Option<TokenKey>,
}

impl TokenKeys {
    /// Expects the signing key, and the former key during a rotation.
    pub fn new(key: TokenKey, former: Option<TokenKey>) -> Self {
        Self { key, former }
    }

    /// [`TokenKey::verify`] with either key.
    ///
    /// # Errors
    ///
    /// As [`TokenKey::verify`].
    pub fn verify(&self, token: &str, purpose: Purpose, now: OffsetDateTime) -> Result<PersonId, TokenError> {
        match (self.key.verify(token, purpose, now), &self.former) {
            (Err(TokenError::Forged), Some(former)) => former.verify(token, purpose, now),
            (verified, _) => verified,
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);
    const LATER: OffsetDateTime = datetime!(2026-11-20 13:00 UTC);

    fn key() -> TokenKey {
        TokenKey::new("a token key of thirty-two bytes or more").expect("a long key")
    }

    fn other_key() -> TokenKey {
        TokenKey::new("some other key of thirty-two bytes or so").expect("a long key")
    }

    fn person() -> PersonId {
        PersonId::try_from("0123456789abcdef0123456789abcdef".to_owned()).expect("an id")
    }

    fn token(key: &TokenKey) -> String {
        key.sign(Purpose::Confirm, &person(), LATER)
    }

    #[test]
    fn a_token_is_bound_to_purpose_key_and_expiry() {
        let token = token(&key());
        for (key, purpose, now, expected) in [
            (key(), Purpose::Confirm, NOW, Ok(person())),
            (key(), Purpose::Confirm, LATER, Err(TokenError::Expired)),
            (key(), Purpose::Unsubscribe, NOW, Err(TokenError::Forged)),
            (other_key(), Purpose::Confirm, NOW, Err(TokenError::Forged)),
        ] {
            assert_eq!(key.verify(&token, purpose, now), expected);
        }
    }

    #[test]
    fn during_a_rotation_tokens_of_both_keys_are_valid() {
        let rotating = TokenKeys::new(other_key(), Some(key()));
        let rotated = TokenKeys::new(other_key(), None);
        for (keys, signer, purpose, now, expected) in [
            (&rotating, key(), Purpose::Confirm, NOW, Ok(person())),
            (&rotating, other_key(), Purpose::Confirm, NOW, Ok(person())),
            (
                &rotating,
                key(),
                Purpose::Unsubscribe,
                NOW,
                Err(TokenError::Forged),
            ),
            (
                &rotating,
                key(),
                Purpose::Confirm,
                LATER,
                Err(TokenError::Expired),
            ),
            (&rotated, key(), Purpose::Confirm, NOW, Err(TokenError::Forged)),
        ] {
            assert_eq!(keys.verify(&token(&signer), purpose, now), expected);
        }
    }

    proptest! {
        #[test]
        fn no_altered_token_passes(at in 0usize..150, with in any::<char>()) {
            let mut altered: Vec<char> = token(&key()).chars().collect();
            let at = at % altered.len();
            prop_assume!(altered[at] != with);
            altered[at] = with;
            let altered: String = altered.into_iter().collect();
            prop_assert!(key().verify(&altered, Purpose::Confirm, NOW).is_err());
        }
    }
}
