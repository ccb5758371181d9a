//! Whom a message is from: a person, by the keyed hash of their address, or a check.

use time::OffsetDateTime;
use visitor::{EmailAddress, PersonId, PersonKey, SyntheticKey};

/// What tells senders.
pub struct Senders {
    pub person_key: PersonKey,
    pub synthetic_key: Option<SyntheticKey>,
}

impl Senders {
    /// Whom a message from this address and with this mark is from. Whoever has no good mark is a visitor, and is told nothing of it.
    pub fn sender(&self, email: &EmailAddress, mark: &str, now: OffsetDateTime) -> PersonId {
        let key = self.synthetic_key.as_ref().filter(|_| !mark.is_empty());
        if key.is_some_and(|key| key.is_mark(mark, email, now)) {
            return PersonId::synthetic();
        }
        self.person_key.person(email)
    }
}
