//! How a record moves to another id of its person, as it must when the key of person ids changes.
//!
//! The broker changes one record at a time, so it takes three steps. First the record where it was becomes one that leads
//! to the new id and carries what it was; then that is written there; then the first carries nothing any more. Whoever
//! meets the record in between does the steps that are missing, so it makes no difference who is killed, and when.

use serde_json::Map;
use time::OffsetDateTime;
use visitor::PersonId;

use crate::{
    state::{Carried, State},
    subscriber::Subscriber,
};

/// The key of a note that a record moved from one id to another. It lies beside where the record is now, so that whoever is looked
/// for by that id is found under the former one, too.
pub fn moved_from_key(to: &PersonId, from: &PersonId) -> String {
    format!("{to}.{from}")
}

/// The keys of all such notes of one id.
pub fn moved_from_keys(to: &PersonId) -> String {
    format!("{to}.*")
}

/// The id that a record moved from, if this is the key of such a note rather than a record's.
pub fn moved_from(key: &str) -> Option<PersonId> {
    let (_to, from) = key.split_once('.')?;
    PersonId::try_from(from.to_owned()).ok()
}

/// What there is still to do where a record moved away.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfinished {
    /// The record that is not known to be there yet.
    carried: Option<Subscriber>,
    /// When that expires, if it does.
    expires: Option<OffsetDateTime>,
    /// When the person left, as a release noted that knows no moves.
    ended: Option<OffsetDateTime>,
}

impl Subscriber {
    /// What takes this record's place as the first step of its way to another id.
    #[must_use]
    pub fn moving(self, to: PersonId, expires: Option<OffsetDateTime>) -> Self {
        let forwarding = self.forwarding(to.clone());
        let carried = Carried {
            subscriber: self.into(),
            expires,
        };
        Self {
            state: State::Moved {
                to,
                record: Some(Box::new(carried)),
            },
            ..forwarding
        }
    }

    /// What stays in this record's place: nothing of the person but where the record is.
    #[must_use]
    pub fn forwarding(&self, to: PersonId) -> Self {
        Self {
            email: None,
            subscription: self.subscription,
            requested: self.requested,
            source: None,
            confirmed: None,
            ended: None,
            consent: None,
            came_back: None,
            state: State::Moved { to, record: None },
            unknown_fields: Map::new(),
        }
    }

    /// The id that it moved to.
    pub fn moved_to(&self) -> Option<&PersonId> {
        match &self.state {
            State::Moved { to, .. } => Some(to),
            _ => None,
        }
    }

    /// The record that it carries. One that could not be read made this one unreadable.
    pub fn carried(&self) -> Option<Self> {
        Self::try_from(self.carrying()?.subscriber.clone()).ok()
    }

    fn carrying(&self) -> Option<&Carried> {
        match &self.state {
            State::Moved { record, .. } => record.as_deref(),
            _ => None,
        }
    }

    /// What is to be done before it only leads to where it moved.
    pub fn unfinished(&self) -> Option<Unfinished> {
        self.moved_to()?;
        let (carried, ended) = (self.carried(), self.ended);
        let expires = self.carrying().and_then(|carried| carried.expires);
        (carried.is_some() || ended.is_some()).then_some(Unfinished {
            carried,
            expires,
            ended,
        })
    }

    /// When this person last said what they want.
    fn last_word(&self) -> Option<OffsetDateTime> {
        self.consented_at().max(self.unsubscribed_at())
    }
}

impl Unfinished {
    /// When what is carried expires, if it does.
    pub fn expires(&self) -> Option<OffsetDateTime> {
        self.expires
    }

    /// What is to lie under the new id, where this lies there now: of two records of one person, the one with the person's
    /// last word. `None` where nothing is to lie there.
    pub fn arrived(self, there: Option<&Subscriber>) -> Option<Subscriber> {
        let there = there.filter(|there| there.moved_to().is_none()).cloned();
        let next = match (self.carried, there) {
            (Some(carried), Some(there)) if carried.last_word() > there.last_word() => carried,
            (_, Some(there)) => there,
            (carried, None) => carried?,
        };
        Some(match self.ended {
            Some(ended) if next.requested <= ended && next.last_word() < Some(ended) => {
                next.unsubscribed(ended)
            }
            _ => next,
        })
    }
}

#[cfg(test)]
mod tests {
    use time::{Duration, macros::datetime};
    use uuid::Uuid;
    use visitor::EmailAddress;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);

    fn there() -> PersonId {
        PersonId::try_from("0123456789abcdef0123456789abcdef".to_owned()).expect("an id")
    }

    fn confirmed(at: OffsetDateTime) -> Subscriber {
        let email = EmailAddress::parse("asha@example.com").expect("an address");
        Subscriber::imported(email, Some("/blog".to_owned()), at, Uuid::from_u128(1))
    }

    fn pending() -> Subscriber {
        let email = EmailAddress::parse("asha@example.com").expect("an address");
        let key = Uuid::from_u128(2);
        Subscriber::signed_up(None, email, None, NOW, key, key).expect("a first sign-up")
    }

    fn arrived(moving: &Subscriber, there: Option<&Subscriber>) -> Option<Subscriber> {
        moving.unfinished().expect("it is on its way").arrived(there)
    }

    #[test]
    fn a_record_on_its_way_is_carried_whole_and_leaves_no_address_behind() -> serde_json::Result<()> {
        let before = confirmed(NOW);
        let moving = before.clone().moving(there(), None);
        let stored = serde_json::to_string(&moving)?;
        assert_eq!(serde_json::from_str::<Subscriber>(&stored)?, moving);
        assert_eq!(arrived(&moving, None), Some(before.clone()));
        let stays = before.forwarding(there());
        assert_eq!((stays.moved_to(), stays.unfinished()), (Some(&there()), None));
        let stored = serde_json::to_string(&stays)?;
        assert!(!stored.contains("asha") && !stored.contains("/blog"), "{stored}");
        assert_eq!(serde_json::from_str::<Subscriber>(&stored)?, stays);
        Ok(())
    }

    #[test]
    fn of_two_records_the_one_with_the_last_word_counts() {
        let later = NOW + Duration::HOUR;
        let left = confirmed(NOW).unsubscribed(later).forgotten();
        for (before, meanwhile, counts) in [
            (confirmed(NOW), pending(), confirmed(NOW)),
            (confirmed(NOW), left.clone(), left.clone()),
            (left.clone(), confirmed(NOW), left.clone()),
            (
                left,
                confirmed(later + Duration::HOUR),
                confirmed(later + Duration::HOUR),
            ),
            // What is there may be what was carried, and something happened to it since.
            (
                confirmed(NOW),
                confirmed(NOW).suppressed(later),
                confirmed(NOW).suppressed(later),
            ),
        ] {
            let moving = before.moving(there(), None);
            assert_eq!(arrived(&moving, Some(&meanwhile)), Some(counts));
        }
        let back = confirmed(NOW).moving(there(), None);
        let way_there = confirmed(NOW).forwarding(there());
        assert_eq!(arrived(&back, Some(&way_there)), Some(confirmed(NOW)));
    }

    #[test]
    fn whoever_left_by_a_release_that_knows_no_moves_has_left() {
        let later = NOW + Duration::HOUR;
        let noted = |record: Subscriber| Subscriber {
            ended: Some(later),
            ..record
        };
        let left = confirmed(NOW).unsubscribed(later);
        let moving = noted(confirmed(NOW).moving(there(), None));
        assert_eq!(arrived(&moving, None), Some(left.clone()));
        let stays = noted(confirmed(NOW).forwarding(there()));
        assert_eq!(arrived(&stays, Some(&confirmed(NOW))), Some(left));
        let anew = confirmed(later + Duration::HOUR);
        assert_eq!(arrived(&stays, Some(&anew)), Some(anew.clone()));
        assert_eq!(arrived(&stays, None), None);
    }

    #[test]
    fn nothing_happens_to_a_record_that_moved() {
        let stays = confirmed(NOW).forwarding(there());
        assert_eq!(stays.clone().confirmed(NOW), None);
        for unchanged in [
            stays.clone().unsubscribed(NOW),
            stays.clone().suppressed(NOW),
            stays.clone().forgotten(),
            stays.clone().swept(NOW + Duration::days(365)),
        ] {
            assert_eq!(unchanged, stays);
        }
        assert!(!stays.may_be_mailed());
    }
}
