//! Marks of synthetic submissions, which `sitectl` sends to check the site from outside. Marks are signed and
//! expire, so attackers cannot hide a flood of submissions from the metrics.

use time::OffsetDateTime;

use crate::{
    EmailAddress, InvalidInput, PersonId, PersonKey,
    token::{Purpose, TokenKey},
};

/// Secret that signs only marks of synthetic submissions. `sitectl` and the contact service share it.
#[derive(Clone, Debug)]
pub struct SyntheticKey {
    tokens: TokenKey,
    inboxes: PersonKey,
}

impl SyntheticKey {
    /// Reads the secret from the settings.
    ///
    /// # Errors
    ///
    /// If it is too short.
    pub fn new(secret: &str) -> Result<Self, InvalidInput> {
        Ok(Self {
            tokens: TokenKey::new(secret)?,
            inboxes: PersonKey::new(secret)?,
        })
    }

    /// Mark of submissions from this address until `expires`. A leaked mark is useless for other addresses.
    pub fn mark(&self, email: &EmailAddress, expires: OffsetDateTime) -> String {
        let inbox = self.inboxes.person(email);
        self.tokens.sign(Purpose::Synthetic, &inbox, expires)
    }

    /// Whether a mark belongs to this address and has not expired.
    pub fn is_mark(&self, mark: &str, email: &EmailAddress, now: OffsetDateTime) -> bool {
        let inbox = self.inboxes.person(email);
        self.tokens.verify(mark, Purpose::Synthetic, now) == Ok(inbox)
    }
}

impl PersonId {
    /// Placeholder for the person of a synthetic submission: all zeros. A real id equals it with probability
    /// 2^-128.
    pub fn synthetic() -> Self {
        Self("0".repeat(32))
    }

    /// Whether the submission was synthetic.
    pub fn is_synthetic(&self) -> bool {
        self.as_str().bytes().all(|digit| digit == b'0')
    }
}

#[cfg(test)]
mod tests {
    use time::{Duration, macros::datetime};

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);
    const SECRET: &str = "a synthetic key of thirty-two bytes or more";

    fn key() -> SyntheticKey {
        SyntheticKey::new(SECRET).expect("a long key")
    }

    fn email(raw: &str) -> EmailAddress {
        EmailAddress::parse(raw).expect("an address")
    }

    #[test]
    fn a_mark_is_good_for_its_address_until_it_expires() {
        let mark = key().mark(&email("check@example.com"), NOW + Duration::MINUTE);
        let is_mark = |address: &str, now| key().is_mark(&mark, &email(address), now);
        assert!(is_mark("check@example.com", NOW));
        assert!(!is_mark("check@example.com", NOW + Duration::MINUTE));
        assert!(!is_mark("asha@example.com", NOW));
    }

    #[test]
    fn forged_marks_are_refused() {
        let (address, later) = (email("check@example.com"), NOW + Duration::MINUTE);
        let other = SyntheticKey::new("another key of thirty-two bytes or more").expect("a long key");
        let inbox = key().inboxes.person(&address);
        let link = key().tokens.sign(Purpose::Unsubscribe, &inbox, later);
        for forged in [other.mark(&address, later), link, String::new(), "a.b".to_owned()] {
            assert!(!key().is_mark(&forged, &address, NOW), "{forged}");
        }
    }

    #[test]
    fn no_person_has_the_synthetic_id() {
        let person = PersonKey::new(SECRET)
            .expect("a long key")
            .person(&email("check@example.com"));
        assert!(PersonId::synthetic().is_synthetic() && !person.is_synthetic());
        assert_eq!(
            PersonId::try_from(PersonId::synthetic().to_string()),
            Ok(PersonId::synthetic())
        );
    }
}
