//! Recipients of an issue of the newsletter.

use time::OffsetDateTime;
use visitor::EmailAddress;

use crate::{State, Subscriber};

/// Why an issue skips a subscriber.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotReached {
    /// The subscription is not confirmed.
    Pending,
    /// The subscription ended.
    Unsubscribed,
    /// The address does not exist or accepts no mails.
    Suppressed,
    /// Confirmed after the issue was requested. The subscriber gets the next issue.
    Later,
    /// The record cannot be read.
    Unreadable,
}

impl Subscriber {
    /// Returns the subscriber's address for an issue that was requested at this time.
    ///
    /// # Errors
    ///
    /// The reason if the issue skips this subscriber.
    pub fn reached_at(&self, requested: OffsetDateTime) -> Result<&EmailAddress, NotReached> {
        match (&self.state, &self.email) {
            (State::Confirmed { since }, _) if *since > requested => Err(NotReached::Later),
            (State::Confirmed { .. }, Some(email)) => Ok(email),
            (State::Pending { .. }, _) => Err(NotReached::Pending),
            (State::Unsubscribed { .. }, _) => Err(NotReached::Unsubscribed),
            (State::Suppressed { .. }, _) => Err(NotReached::Suppressed),
            (State::Confirmed { .. }, None) => Err(NotReached::Unreadable),
        }
    }
}

#[cfg(test)]
mod tests {
    use time::{Duration, macros::datetime};
    use uuid::Uuid;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);

    #[test]
    fn an_issue_reaches_only_confirmed_subscribers() {
        let email = EmailAddress::parse("asha@example.com").expect("an address");
        let key = Uuid::from_u128(1);
        let pending = Subscriber::signed_up(None, email.clone(), None, NOW, key, key).expect("a sign-up");
        let confirmed = pending.clone().confirmed(NOW).expect("pending");
        assert_eq!(confirmed.reached_at(NOW), Ok(&email));
        let before = NOW - Duration::SECOND;
        assert_eq!(confirmed.reached_at(before), Err(NotReached::Later));
        for (subscriber, why) in [
            (pending, NotReached::Pending),
            (confirmed.clone().unsubscribed(NOW), NotReached::Unsubscribed),
            (
                confirmed.clone().unsubscribed(NOW).forgotten(),
                NotReached::Unsubscribed,
            ),
            (confirmed.suppressed(NOW), NotReached::Suppressed),
        ] {
            assert_eq!(subscriber.reached_at(NOW), Err(why));
        }
    }
}
