//! Signed tokens in mailed links, bound to one purpose and one person until they expire.
//!
//! Form: `base64url(claims) "." base64url(HMAC-SHA256(claims))`. The claims hold the person's keyed hash,
//! never an address.

use std::fmt;

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
    /// Signed by us, but too old.
    #[error("the token has expired")]
    Expired,
}

/// Secret that signs tokens and derives [`InboxId`](crate::InboxId)s, shared by the newsletter service and
/// the notifier.
#[derive(Clone)]
pub struct TokenKey(pub(crate) Hmac<Sha256>);

impl fmt::Debug for TokenKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("TokenKey(…)")
    }
}

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

/// Current and former key. During a rotation, mails still hold tokens of the former one.
#[derive(Clone)]
pub struct TokenKeys {
    key: TokenKey,
    former: Option<TokenKey>,
}

impl TokenKeys {
    /// Expects the signing key, and the former one during a rotation.
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
    use time::{Duration, macros::datetime};

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);

    fn key() -> TokenKey {
        TokenKey::new("a token key of thirty-two bytes or more").expect("a long key")
    }

    fn person() -> PersonId {
        PersonId::try_from("0123456789abcdef0123456789abcdef".to_owned()).expect("an id")
    }

    #[test]
    fn a_token_names_its_person_until_it_expires() {
        let token = key().sign(Purpose::Confirm, &person(), NOW + Duration::HOUR);
        assert_eq!(key().verify(&token, Purpose::Confirm, NOW), Ok(person()));
        let later = NOW + Duration::HOUR;
        assert_eq!(
            key().verify(&token, Purpose::Confirm, later),
            Err(TokenError::Expired)
        );
    }

    #[test]
    fn a_token_is_good_for_its_own_purpose_only() {
        let token = key().sign(Purpose::Unsubscribe, &person(), NOW + Duration::HOUR);
        assert_eq!(
            key().verify(&token, Purpose::Confirm, NOW),
            Err(TokenError::Forged)
        );
    }

    #[test]
    fn another_key_cannot_make_our_tokens() {
        let other = TokenKey::new("some other key of thirty-two bytes or so").expect("a long key");
        let token = other.sign(Purpose::Confirm, &person(), NOW + Duration::HOUR);
        assert_eq!(
            key().verify(&token, Purpose::Confirm, NOW),
            Err(TokenError::Forged)
        );
    }

    #[test]
    fn while_the_key_changes_tokens_by_the_former_one_are_good() {
        let new = TokenKey::new("the new token key of thirty-two bytes").expect("a long key");
        let token = key().sign(Purpose::Unsubscribe, &person(), NOW + Duration::HOUR);
        let changing = TokenKeys::new(new.clone(), Some(key()));
        assert_eq!(changing.verify(&token, Purpose::Unsubscribe, NOW), Ok(person()));
        assert_eq!(
            changing.verify(&token, Purpose::Confirm, NOW),
            Err(TokenError::Forged)
        );
        let later = NOW + Duration::HOUR;
        assert_eq!(
            changing.verify(&token, Purpose::Unsubscribe, later),
            Err(TokenError::Expired)
        );
        let changed = TokenKeys::new(new.clone(), None);
        assert_eq!(
            changed.verify(&token, Purpose::Unsubscribe, NOW),
            Err(TokenError::Forged)
        );
        let token = new.sign(Purpose::Unsubscribe, &person(), NOW + Duration::HOUR);
        assert_eq!(changing.verify(&token, Purpose::Unsubscribe, NOW), Ok(person()));
    }

    proptest! {
        #[test]
        fn no_altered_token_passes(at in 0usize..150, with in any::<char>()) {
            let token = key().sign(Purpose::Confirm, &person(), NOW + Duration::HOUR);
            let mut altered: Vec<char> = token.chars().collect();
            let at = at % altered.len();
            prop_assume!(altered[at] != with);
            altered[at] = with;
            let altered: String = altered.into_iter().collect();
            prop_assert!(key().verify(&altered, Purpose::Confirm, NOW).is_err());
        }
    }
}
