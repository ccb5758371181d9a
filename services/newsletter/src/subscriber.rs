//! The life of a subscription: pending, confirmed, unsubscribed.

use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;
use visitor::EmailAddress;

/// For how long a confirmation link is good.
pub const LINK_LIFETIME: Duration = Duration::hours(48);
/// How soon another confirmation mail may follow the last.
const MAIL_INTERVAL: Duration = Duration::minutes(15);

/// One person's subscription, as it lies in the bucket.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscriber {
    /// The address as last signed up.
    pub email: EmailAddress,
    /// Names this subscription in the events it causes, so that repeating a step
    /// repeats no event.
    pub subscription: Uuid,
    /// When the sign-up was made.
    #[serde(with = "time::serde::rfc3339")]
    pub requested: OffsetDateTime,
    /// Where it stands.
    #[serde(flatten)]
    pub state: State,
}

/// Where a subscription stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum State {
    /// Signed up, not confirmed.
    Pending {
        /// When the last confirmation mail was asked for.
        #[serde(with = "time::serde::rfc3339::option")]
        mailed: Option<OffsetDateTime>,
    },
    /// Confirmed by the link in the mail.
    Confirmed {
        /// When.
        #[serde(with = "time::serde::rfc3339")]
        since: OffsetDateTime,
    },
    /// Left.
    Unsubscribed {
        /// When.
        #[serde(with = "time::serde::rfc3339")]
        since: OffsetDateTime,
    },
}

impl Subscriber {
    /// What a sign-up makes of what is known: the pending subscription to store and
    /// mail, or nothing to do.
    pub fn signed_up(
        known: Option<&Self>,
        email: EmailAddress,
        now: OffsetDateTime,
        fresh: Uuid,
    ) -> Option<Self> {
        let known = known.filter(|known| !matches!(known.state, State::Unsubscribed { .. }));
        match known.map(|known| &known.state) {
            Some(State::Confirmed { .. }) => return None,
            Some(State::Pending { mailed: Some(mailed) }) if now - *mailed < MAIL_INTERVAL => return None,
            _ => {}
        }
        Some(Self {
            email,
            subscription: known.map_or(fresh, |known| known.subscription),
            requested: now,
            state: State::Pending { mailed: None },
        })
    }

    /// The same subscription after its confirmation mail was asked for.
    pub fn mailed(self, now: OffsetDateTime) -> Self {
        let state = State::Pending { mailed: Some(now) };
        Self { state, ..self }
    }

    /// The subscription that a confirmation makes; `None` where there is nothing to
    /// confirm any more.
    pub fn confirmed(self, now: OffsetDateTime) -> Option<Self> {
        match self.state {
            State::Pending { .. } => Some(Self {
                state: State::Confirmed { since: now },
                ..self
            }),
            State::Confirmed { .. } => Some(self),
            State::Unsubscribed { .. } => None,
        }
    }

    /// The subscription after it ended.
    pub fn unsubscribed(self, now: OffsetDateTime) -> Self {
        match self.state {
            State::Unsubscribed { .. } => self,
            _ => Self {
                state: State::Unsubscribed { since: now },
                ..self
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);
    const FIRST: Uuid = Uuid::from_u128(1);
    const SECOND: Uuid = Uuid::from_u128(2);

    fn sign_up(known: Option<&Subscriber>, now: OffsetDateTime, fresh: Uuid) -> Option<Subscriber> {
        let email = EmailAddress::parse("asha@example.com").expect("an address");
        Subscriber::signed_up(known, email, now, fresh)
    }

    fn pending() -> Subscriber {
        sign_up(None, NOW, FIRST)
            .expect("a first sign-up is stored")
            .mailed(NOW)
    }

    #[test]
    fn a_second_mail_waits_for_a_quarter_of_an_hour() {
        assert_eq!(
            sign_up(Some(&pending()), NOW + Duration::minutes(14), SECOND),
            None
        );
        assert!(sign_up(Some(&pending()), NOW + Duration::minutes(15), SECOND).is_some());
    }

    #[test]
    fn a_sign_up_whose_mail_was_never_asked_for_is_mailed_at_once() {
        let unmailed = sign_up(None, NOW, FIRST);
        let again = sign_up(unmailed.as_ref(), NOW + Duration::seconds(1), SECOND);
        assert_eq!(again.map(|s| s.subscription), Some(FIRST));
    }

    #[test]
    fn a_confirmed_subscriber_who_signs_up_again_changes_nothing() {
        let confirmed = pending().confirmed(NOW);
        assert_eq!(
            sign_up(confirmed.as_ref(), NOW + Duration::days(30), SECOND),
            None
        );
    }

    #[test]
    fn an_old_confirmation_link_does_not_bring_back_who_left() {
        assert_eq!(pending().unsubscribed(NOW).confirmed(NOW), None);
    }

    #[test]
    fn who_left_may_sign_up_anew_as_another_subscription() {
        let left = pending().unsubscribed(NOW);
        let again = sign_up(Some(&left), NOW + Duration::seconds(1), SECOND);
        assert_eq!(again.map(|s| s.subscription), Some(SECOND));
    }

    #[test]
    fn confirming_or_leaving_twice_keeps_the_first_time() {
        let later = NOW + Duration::hours(1);
        let confirmed = pending().confirmed(NOW).and_then(|s| s.confirmed(later));
        assert_eq!(confirmed.map(|s| s.state), Some(State::Confirmed { since: NOW }));
        let left = pending().unsubscribed(NOW).unsubscribed(later);
        assert_eq!(left.state, State::Unsubscribed { since: NOW });
    }

    #[test]
    fn a_record_reads_back_as_it_was_written() -> serde_json::Result<()> {
        for subscriber in [pending(), pending().unsubscribed(NOW)] {
            let stored = serde_json::to_string(&subscriber)?;
            assert_eq!(serde_json::from_str::<Subscriber>(&stored)?, subscriber);
        }
        Ok(())
    }
}
