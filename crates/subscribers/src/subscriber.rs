//! Lifecycle of a subscription: pending, confirmed, unsubscribed or suppressed.

use serde::{Deserialize, Serialize};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;
use visitor::EmailAddress;

use crate::state::State;

/// Minimum time between two confirmation mails. During this time, another sign-up requests no new mail; it
/// only repeats an unfinished request.
const MAIL_INTERVAL: Duration = Duration::minutes(15);
/// TTL of the suppression of an address that never confirmed. The privacy policy names it.
const UNCONFIRMED_SUPPRESSION_TTL: std::time::Duration = std::time::Duration::from_secs(90 * 24 * 60 * 60);

/// Longest time that an unconfirmed address is kept. The privacy policy names it.
const MAX_CONFIRM_WITHIN: std::time::Duration = std::time::Duration::from_secs(30 * 24 * 60 * 60);
/// Time in which an unfinished step can be repeated without duplicates: the broker's duplicate window.
const COMPLETED_WITHIN: Duration = Duration::HOUR;

/// One person's subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Subscriber {
    /// Address of the latest sign-up; removed once nothing needs it ([`Self::forgotten`]).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub email: Option<EmailAddress>,
    /// Event ids derive from this id, so that a repeated step publishes no second event.
    pub subscription: Uuid,
    /// Time of the sign-up.
    #[serde(with = "time::serde::rfc3339")]
    pub requested: OffsetDateTime,
    /// Page of the sign-up, such as `/blog`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// Consent time of a subscription that is no longer confirmed ([`Self::consented_at`]).
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "time::serde::rfc3339::option"
    )]
    pub(crate) confirmed: Option<OffsetDateTime>,
    /// End of a former subscription ([`Self::unsubscribed_at`]).
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "time::serde::rfc3339::option"
    )]
    pub(crate) ended: Option<OffsetDateTime>,
    /// Proof of the latest consent, if known. It outlives the subscription.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent: Option<Consent>,
    /// Current state.
    #[serde(flatten)]
    pub state: State,
}

/// Proof of a consent. [`Subscriber::consented_at`] returns its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consent {
    /// Text that the person agreed to.
    pub text: String,
    /// How the address was verified: `double-opt-in` means a form and a mailed link.
    pub form: String,
}

impl Subscriber {
    /// Applies a sign-up. `asking` is the id of its mail request. Returns `None` if there is nothing to store or
    /// mail.
    ///
    /// If an earlier mail request is unfinished, the record stays unchanged, and the caller repeats that request
    /// ([`Self::asking`]).
    pub fn signed_up(
        known: Option<&Self>,
        email: EmailAddress,
        source: Option<String>,
        now: OffsetDateTime,
        asking: Uuid,
        new_subscription_id: Uuid,
    ) -> Option<Self> {
        match known.map(|known| &known.state) {
            Some(State::Confirmed { .. } | State::Suppressed { .. }) => return None,
            Some(State::Pending {
                mailed: Some(mailed), ..
            }) if now - *mailed < MAIL_INTERVAL => return None,
            Some(State::Pending { asking: Some(_), .. })
                if known.is_some_and(|known| now - known.requested < MAIL_INTERVAL) =>
            {
                return known.cloned();
            }
            _ => {}
        }
        Some(Self {
            email: Some(email),
            subscription: known
                .filter(|known| known.is_pending())
                .map_or(new_subscription_id, |known| known.subscription),
            requested: now,
            source,
            confirmed: known.and_then(Self::consented_at),
            ended: known.and_then(Self::unsubscribed_at),
            consent: known.and_then(|known| known.consent.clone()),
            state: State::Pending {
                mailed: None,
                asking: Some(asking),
            },
        })
    }

    /// Id of the unfinished request for a confirmation mail.
    pub fn asking(&self) -> Option<Uuid> {
        match self.state {
            State::Pending { asking, .. } => asking,
            State::Confirmed { .. } | State::Unsubscribed { .. } | State::Suppressed { .. } => None,
        }
    }

    /// The record after its confirmation mail was requested. Only a pending record changes.
    pub fn mailed(self, now: OffsetDateTime) -> Self {
        let state = match self.state {
            State::Pending { .. } => State::Pending {
                mailed: Some(now),
                asking: None,
            },
            other => other,
        };
        Self { state, ..self }
    }

    /// The record after a confirmation; `None` if there is nothing to confirm.
    pub fn confirmed(self, now: OffsetDateTime) -> Option<Self> {
        self.email.as_ref()?;
        match self.state {
            State::Pending { .. } => Some(Self {
                confirmed: None,
                ended: None,
                state: State::Confirmed { since: now },
                ..self
            }),
            State::Confirmed { .. } => Some(self),
            State::Unsubscribed { .. } | State::Suppressed { .. } => None,
        }
    }

    /// The record after an unsubscribe. A suppressed record stays suppressed and stores the unsubscribe time.
    pub fn unsubscribed(self, now: OffsetDateTime) -> Self {
        match self.state {
            State::Unsubscribed { .. } => self,
            State::Suppressed { .. } => Self {
                ended: self.ended.or(Some(now)),
                ..self
            },
            State::Pending { .. } | State::Confirmed { .. } => Self {
                confirmed: self.consented_at(),
                ended: None,
                state: State::Unsubscribed { since: now },
                ..self
            },
        }
    }

    /// The record after a hard bounce.
    pub fn suppressed(self, now: OffsetDateTime) -> Self {
        match self.state {
            State::Suppressed { .. } => self,
            State::Pending { .. } | State::Confirmed { .. } | State::Unsubscribed { .. } => Self {
                confirmed: self.consented_at(),
                ended: self.unsubscribed_at(),
                state: State::Suppressed { since: now },
                ..self
            },
        }
    }

    /// Adds the consent to a confirmation made at `now`. An earlier confirmation keeps its consent.
    pub fn with_consent(self, consent: Consent, now: OffsetDateTime) -> Self {
        match self.state {
            State::Confirmed { since } if since == now => Self {
                consent: Some(consent),
                ..self
            },
            _ => self,
        }
    }

    /// Removes an unneeded address. The record's key still identifies the person, to prove when they
    /// consented and left.
    pub fn forgotten(self) -> Self {
        Self {
            email: match self.state {
                State::Unsubscribed { .. } => None,
                State::Suppressed { .. } => self.email.filter(|_| self.ended.is_none()),
                State::Pending { .. } | State::Confirmed { .. } => self.email,
            },
            ..self
        }
    }

    /// The record after a sweep, which removes unneeded addresses. A person who left and did not confirm a
    /// new sign-up counts as unsubscribed again.
    pub fn swept(self, now: OffsetDateTime) -> Self {
        match (&self.state, self.ended) {
            (State::Unsubscribed { .. }, _) if !self.left_long_ago(now) => self,
            (State::Pending { .. }, Some(since)) if now - self.requested > MAX_CONFIRM_WITHIN => Self {
                ended: None,
                state: State::Unsubscribed { since },
                ..self
            }
            .forgotten(),
            _ => self.forgotten(),
        }
    }

    /// Whether the person unsubscribed too long ago to publish the unsubscribe event now.
    pub fn left_long_ago(&self, now: OffsetDateTime) -> bool {
        self.unsubscribed_at()
            .is_some_and(|since| now - since > COMPLETED_WITHIN)
    }

    /// Lifts a suppression and restores the former state. `None` if the address was never confirmed.
    pub fn lifted(self) -> Option<Self> {
        let state = match (&self.state, self.confirmed, self.ended) {
            (State::Suppressed { .. }, _, Some(since)) => State::Unsubscribed { since },
            (State::Suppressed { .. }, Some(since), None) => State::Confirmed { since },
            (State::Suppressed { .. }, None, None) => return None,
            _ => return Some(self),
        };
        Some(Self {
            ended: None,
            confirmed: self
                .confirmed
                .filter(|_| matches!(state, State::Unsubscribed { .. })),
            state,
            ..self
        })
    }

    /// Time of the latest consent, if known. It outlives the subscription, as proof.
    pub fn consented_at(&self) -> Option<OffsetDateTime> {
        match self.state {
            State::Confirmed { since } => Some(since),
            State::Pending { .. } | State::Unsubscribed { .. } | State::Suppressed { .. } => self.confirmed,
        }
    }

    /// Time of the latest unsubscribe, unless a confirmation followed.
    pub fn unsubscribed_at(&self) -> Option<OffsetDateTime> {
        match self.state {
            State::Unsubscribed { since } => Some(since),
            State::Pending { .. } | State::Confirmed { .. } | State::Suppressed { .. } => self.ended,
        }
    }

    /// Lifetime of the record; `None` if it never expires. Confirmations are due within `confirm_within`.
    ///
    /// First sign-ups and suppressions of unconfirmed addresses expire. The record of an unsubscribe stays.
    /// Otherwise anyone could undo the unsubscribe by typing the address.
    pub fn retention(&self, confirm_within: std::time::Duration) -> Option<std::time::Duration> {
        match self.state {
            State::Pending { .. } if self.unsubscribed_at().is_none() => Some(confirm_within),
            State::Suppressed { .. } if self.unsubscribed_at().is_none() && self.consented_at().is_none() => {
                Some(UNCONFIRMED_SUPPRESSION_TTL)
            }
            _ => None,
        }
    }

    /// Whether the subscription awaits confirmation.
    pub fn is_pending(&self) -> bool {
        matches!(self.state, State::Pending { .. })
    }

    /// Whether nothing may be sent to the address.
    pub fn is_suppressed(&self) -> bool {
        matches!(self.state, State::Suppressed { .. })
    }

    /// Name of the state, as stored.
    pub fn state_name(&self) -> &'static str {
        match self.state {
            State::Pending { .. } => "pending",
            State::Confirmed { .. } => "confirmed",
            State::Unsubscribed { .. } => "unsubscribed",
            State::Suppressed { .. } => "suppressed",
        }
    }

    /// A subscription that was confirmed elsewhere.
    pub fn imported(
        email: EmailAddress,
        source: Option<String>,
        confirmed: OffsetDateTime,
        new_subscription_id: Uuid,
    ) -> Self {
        Self {
            email: Some(email),
            subscription: new_subscription_id,
            requested: confirmed,
            source,
            confirmed: None,
            ended: None,
            consent: None,
            state: State::Confirmed { since: confirmed },
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);
    const FIRST: Uuid = Uuid::from_u128(1);
    const SECOND: Uuid = Uuid::from_u128(2);

    fn sign_up(
        known: Option<&Subscriber>,
        now: OffsetDateTime,
        new_subscription_id: Uuid,
    ) -> Option<Subscriber> {
        let email = EmailAddress::parse("asha@example.com").expect("an address");
        Subscriber::signed_up(
            known,
            email,
            Some("/blog".to_owned()),
            now,
            new_subscription_id,
            new_subscription_id,
        )
    }

    fn pending() -> Subscriber {
        sign_up(None, NOW, FIRST)
            .expect("a first sign-up is stored")
            .mailed(NOW)
    }

    fn confirmed() -> Subscriber {
        pending().confirmed(NOW).expect("it is pending")
    }

    #[test]
    fn a_second_sign_up_repeats_an_unfinished_mail_request() {
        let asking = sign_up(None, NOW, FIRST);
        let soon = NOW + Duration::minutes(14);
        assert_eq!(sign_up(asking.as_ref(), soon, SECOND), asking);
        let asked = |now| sign_up(asking.as_ref(), now, SECOND).and_then(|again| again.asking());
        assert_eq!(asked(soon), Some(FIRST));
        assert_eq!(asked(NOW + MAIL_INTERVAL), Some(SECOND));
        let mailed = |now| sign_up(Some(&pending()), now, SECOND).map(|again| again.subscription);
        assert_eq!(mailed(soon), None);
        assert_eq!(mailed(NOW + MAIL_INTERVAL), Some(FIRST));
    }

    #[test]
    fn only_an_unsubscribed_person_gets_a_new_subscription() {
        let later = NOW + Duration::days(30);
        assert_eq!(sign_up(Some(&confirmed()), later, SECOND), None);
        assert_eq!(sign_up(Some(&confirmed().suppressed(NOW)), later, SECOND), None);
        let left = pending().unsubscribed(NOW);
        assert_eq!(
            left.clone().confirmed(NOW),
            None,
            "an old link brings nobody back"
        );
        let again = sign_up(Some(&left), NOW + Duration::SECOND, SECOND);
        assert_eq!(again.map(|again| again.subscription), Some(SECOND));
    }

    #[test]
    fn records_without_consent_or_unsubscription_expire() {
        let within = std::time::Duration::from_secs(1);
        let ninety_days = std::time::Duration::from_secs(7_776_000);
        let left = pending().unsubscribed(NOW);
        let again = sign_up(Some(&left), NOW, SECOND).expect("another sign-up");
        for (subscriber, expected) in [
            (pending(), Some(within)),
            (pending().suppressed(NOW), Some(ninety_days)),
            (confirmed(), None),
            (confirmed().suppressed(NOW), None),
            (left, None),
            (again, None),
        ] {
            assert_eq!(subscriber.retention(within), expected, "{subscriber:?}");
        }
    }

    #[test]
    fn confirming_or_leaving_twice_keeps_the_first_time() {
        let later = NOW + Duration::hours(1);
        let again = confirmed().confirmed(later);
        assert_eq!(again.map(|s| s.state), Some(State::Confirmed { since: NOW }));
        let left = pending().unsubscribed(NOW).unsubscribed(later);
        assert_eq!(left.state, State::Unsubscribed { since: NOW });
    }

    #[test]
    fn the_times_of_consent_outlive_the_subscription() {
        let later = NOW + Duration::hours(1);
        let times = |s: &Subscriber| (s.consented_at(), s.unsubscribed_at());
        let left = confirmed().unsubscribed(later);
        assert_eq!(times(&left), (Some(NOW), Some(later)));
        assert_eq!((left.requested, left.source.as_deref()), (NOW, Some("/blog")));
        let again = sign_up(Some(&left), later, SECOND).expect("another sign-up");
        assert_eq!(times(&again), (Some(NOW), Some(later)));
        let anew = again.confirmed(later + Duration::HOUR).expect("pending");
        assert_eq!(times(&anew), (Some(later + Duration::HOUR), None));
    }

    #[test]
    fn lifting_a_suppression_restores_the_former_state() {
        let later = NOW + Duration::hours(1);
        assert_eq!(pending().suppressed(later).lifted(), None);
        assert_eq!(confirmed().suppressed(later).lifted(), Some(confirmed()));
        let left = confirmed().unsubscribed(later);
        assert_eq!(left.clone().suppressed(later).lifted(), Some(left.clone()));
        let left_meanwhile = confirmed().suppressed(NOW).unsubscribed(later);
        assert!(left_meanwhile.is_suppressed());
        assert_eq!(left_meanwhile.lifted(), Some(left));
    }

    #[test]
    fn an_unsubscribed_record_loses_its_address() -> serde_json::Result<()> {
        for kept in [pending(), confirmed(), confirmed().suppressed(NOW)] {
            assert_eq!(kept.clone().forgotten(), kept);
        }
        let left = confirmed().unsubscribed(NOW);
        for gone in [
            left.clone(),
            left.clone().suppressed(NOW),
            confirmed().suppressed(NOW).unsubscribed(NOW),
        ] {
            let gone = gone.forgotten();
            let times = (gone.consented_at(), gone.unsubscribed_at());
            assert_eq!(times, (Some(NOW), Some(NOW)));
            let stored = serde_json::to_string(&gone)?;
            assert!(!stored.contains("asha"), "{stored}");
        }
        let again = sign_up(Some(&left.forgotten()), NOW, SECOND).expect("another sign-up");
        assert!(again.email.is_some() && again.confirmed(NOW).is_some());
        Ok(())
    }

    #[test]
    fn a_sweep_removes_addresses_after_unsubscribing() {
        let left = pending().unsubscribed(NOW);
        assert_eq!(left.clone().swept(NOW + Duration::HOUR), left);
        let forgotten = left.clone().forgotten();
        let told = NOW + Duration::HOUR + Duration::SECOND;
        assert_eq!(left.clone().swept(told), forgotten);

        let again = sign_up(Some(&left), NOW, SECOND).expect("another sign-up");
        let month = Duration::days(30);
        assert_eq!(again.clone().swept(NOW + month), again);
        let swept = again.swept(NOW + month + Duration::SECOND);
        assert_eq!((swept.email, swept.state), (None, forgotten.state));
        assert_eq!(swept.ended, None);
        for kept in [pending(), confirmed()] {
            assert_eq!(kept.clone().swept(NOW + month * 2), kept);
        }
    }

    #[derive(Debug, Clone, Copy)]
    enum Happening {
        Forget,
        Sweep,
        SignUp,
        Mail,
        Confirm,
        Unsubscribe,
        Bounce,
        Lift,
    }

    fn happenings() -> impl Strategy<Value = Vec<(Happening, i64)>> {
        use Happening::{Bounce, Confirm, Forget, Lift, Mail, SignUp, Sweep, Unsubscribe};
        let all = vec![SignUp, Mail, Confirm, Unsubscribe, Bounce, Lift, Forget, Sweep];
        prop::collection::vec((prop::sample::select(all), 0i64..2000), 0..40)
    }

    fn after(known: Option<Subscriber>, what: Happening, now: OffsetDateTime) -> Option<Subscriber> {
        match (what, known) {
            (Happening::SignUp, known) => {
                let new_subscription_id = Uuid::from_u128(now.unix_timestamp().unsigned_abs().into());
                sign_up(known.as_ref(), now, new_subscription_id).or(known)
            }
            (_, None) => None,
            (Happening::Mail, Some(known)) if known.is_pending() => Some(known.mailed(now)),
            (Happening::Mail, Some(known)) => Some(known),
            (Happening::Confirm, Some(known)) => known.clone().confirmed(now).or(Some(known)),
            (Happening::Unsubscribe, Some(known)) => Some(known.unsubscribed(now)),
            (Happening::Bounce, Some(known)) => Some(known.suppressed(now)),
            (Happening::Lift, Some(known)) => known.lifted(),
            (Happening::Forget, Some(known)) => Some(known.forgotten()),
            (Happening::Sweep, Some(known)) => Some(known.swept(now)),
        }
    }

    proptest! {
        #[test]
        fn no_subscription_exists_without_consent(happenings in happenings()) {
            let (mut known, mut now) = (None, NOW);
            for (what, seconds) in happenings {
                now += Duration::seconds(seconds);
                let before: Option<Subscriber> = known.clone();
                known = after(before.clone(), what, now);
                let is_confirmed = |s: &Option<Subscriber>| {
                    matches!(s, Some(Subscriber { state: State::Confirmed { .. }, .. }))
                };
                if is_confirmed(&known) && !is_confirmed(&before) {
                    let waited = before.as_ref().is_some_and(Subscriber::is_pending);
                    let consented = before.as_ref().and_then(Subscriber::consented_at);
                    let never_left = before.as_ref().is_some_and(|s| s.unsubscribed_at().is_none());
                    prop_assert!(
                        (matches!(what, Happening::Confirm) && waited)
                            || (matches!(what, Happening::Lift) && consented.is_some() && never_left),
                        "{what:?} of {before:?}"
                    );
                }
                if let (Some(before), Some(known)) = (&before, &known) {
                    prop_assert!(before.consented_at().is_none() || known.consented_at() >= before.consented_at());
                    let confirmed_anew = matches!(what, Happening::Confirm) && before.is_pending();
                    prop_assert!(before.unsubscribed_at().is_none() || known.unsubscribed_at().is_some() || confirmed_anew);
                    if before.is_suppressed() && !matches!(what, Happening::Lift) {
                        prop_assert!(known.is_suppressed());
                    }
                    let stored = serde_json::to_string(known).expect("plain values");
                    prop_assert_eq!(&serde_json::from_str::<Subscriber>(&stored).expect("JSON"), known);
                }
                if let Some(known) = &known {
                    let is_wanted = known.is_pending() || is_confirmed(&Some(known.clone()));
                    prop_assert!(known.email.is_some() || !is_wanted, "{what:?} of {before:?}");
                }
                if let (Happening::Unsubscribe, Some(known)) = (what, &known) {
                    prop_assert!(known.unsubscribed_at().is_some());
                }
            }
        }
    }

    #[test]
    fn the_words_of_the_consent_outlive_the_subscription() -> serde_json::Result<()> {
        let consent = |text: &str| Consent {
            text: text.to_owned(),
            form: "double-opt-in".to_owned(),
        };
        let consented = |s: Subscriber, text: &str, now| {
            let confirmed = s.confirmed(now).expect("pending or confirmed");
            confirmed.with_consent(consent(text), now)
        };
        let first = consented(pending(), "first", NOW);
        let again = consented(first.clone(), "other", NOW + Duration::HOUR);
        assert_eq!(again, first, "the consent of before counts");
        let left = again.unsubscribed(NOW).forgotten();
        assert_eq!(left.consent, Some(consent("first")));
        let stored = serde_json::to_string(&left)?;
        assert_eq!(serde_json::from_str::<Subscriber>(&stored)?, left);
        let anew = sign_up(Some(&left), NOW, SECOND).expect("another sign-up");
        assert_eq!(anew.consent, Some(consent("first")));
        let anew = consented(anew, "second", NOW + Duration::DAY);
        assert_eq!(anew.consent, Some(consent("second")));
        Ok(())
    }
}
