//! Sender of a message: a visitor or the synthetic check.

use time::OffsetDateTime;
use visitor::{EmailAddress, PersonId, PersonKey, SyntheticKey};

/// Keys to compute a visitor's id and to verify the mark of a synthetic submission.
pub struct Senders {
    pub person_key: PersonKey,
    pub synthetic_key: Option<SyntheticKey>,
}

impl Senders {
    /// Returns the sender's id. A sender with an invalid mark counts as a visitor, so attackers learn nothing.
    pub fn sender(&self, email: &EmailAddress, mark: &str, now: OffsetDateTime) -> PersonId {
        let key = self.synthetic_key.as_ref().filter(|_| !mark.is_empty());
        if key.is_some_and(|key| key.is_mark(mark, email, now)) {
            return PersonId::synthetic();
        }
        self.person_key.person(email)
    }
}
