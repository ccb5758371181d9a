//! The ledger: what became of each submission, as its visitor was told.

use std::time::Duration;

use tokio::time::Instant;

use crate::submission::{FormKind, Submission};

/// What became of one submission.
#[derive(Debug, Clone, Copy)]
pub struct Record {
    /// What was sent.
    pub submission: Submission,
    /// Whether it was answered that it is accepted.
    pub accepted: bool,
    /// Whether the visitor left before there was an answer.
    pub left: bool,
    /// Whether it was answered that the sign-up is confirmed, where its visitor asked for that, for a minute.
    pub confirmed: Option<bool>,
}

/// A submission that was answered as accepted.
#[derive(Debug, Clone, Copy)]
pub struct Acceptance {
    /// Which one.
    pub submission: Submission,
    /// Since when its visitor had tried.
    pub tried: Instant,
    /// When the visitor was told.
    pub at: Instant,
}

/// A time in which forms of one kind were sent, and none was accepted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stall {
    /// Its beginning.
    pub since: Instant,
    /// How long it took.
    pub took: Duration,
}

/// What the visitors have seen.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Every submission.
    pub records: Vec<Record>,
    /// What was accepted, in order.
    pub acceptances: Vec<Acceptance>,
    /// How often one was told that it was not accepted, and can be sent again.
    pub refused: u64,
    /// How often a visitor left before there was an answer.
    pub left: u64,
    /// How often a visitor waited, and there was none.
    pub unanswered: u64,
    /// Answers that no visitor should get.
    pub unexpected: Vec<String>,
}

impl Ledger {
    /// How many submissions were accepted.
    pub fn accepted(&self) -> usize {
        self.acceptances.len()
    }

    /// How many visitors left before their application was answered.
    pub fn left_applications(&self) -> usize {
        let left = |record: &&Record| {
            record.left && !record.accepted && record.submission.kind == FormKind::Application
        };
        self.records.iter().filter(left).count()
    }

    /// Each time in which somebody tried and nothing of that kind was accepted, whatever became of the others.
    pub fn stalls(&self) -> impl Iterator<Item = Stall> {
        FormKind::ALL.into_iter().flat_map(|kind| self.stalls_of(kind))
    }

    /// One before each acceptance but the first.
    fn stalls_of(&self, kind: FormKind) -> Vec<Stall> {
        let of_kind = self.acceptances.iter().filter(|it| it.submission.kind == kind);
        let accepted: Vec<&Acceptance> = of_kind.collect();
        let Some(last) = accepted.last() else {
            return Vec::new();
        };
        let mut tried = last.tried;
        let backwards = accepted.windows(2).rev().map(|pair| {
            // The first try of those who were accepted then or later: who was in vain until then is among them.
            tried = tried.min(pair[1].tried);
            let since = tried.max(pair[0].at);
            Stall {
                since,
                took: pair[1].at - since,
            }
        });
        backwards.collect()
    }

    /// How long after this moment each kind of form was accepted again: the slowest of them, once all were.
    pub fn recovery(&self, moment: Instant) -> Option<Duration> {
        let before = self.acceptances.partition_point(|accepted| accepted.at <= moment);
        let since = &self.acceptances[before..];
        let first = |kind| since.iter().find(|accepted| accepted.submission.kind == kind);
        let waits = FormKind::ALL.map(|kind| Some(first(kind)?.at - moment));
        waits.into_iter().collect::<Option<Vec<_>>>()?.into_iter().max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Each with the milliseconds of its first try and of its acceptance.
    fn ledger_of(begun: Instant, acceptances: &[(FormKind, u64, u64)]) -> Ledger {
        let at = |ms| begun + Duration::from_millis(ms);
        let accepted = |(kind, tried, accepted): &(FormKind, u64, u64)| Acceptance {
            submission: Submission::new(0, 0, *kind, 0),
            tried: at(*tried),
            at: at(*accepted),
        };
        Ledger {
            acceptances: acceptances.iter().map(accepted).collect(),
            ..Ledger::default()
        }
    }

    fn longest_stall_of(acceptances: &[(FormKind, u64, u64)]) -> Option<(u64, u64)> {
        let begun = Instant::now();
        let stalls = ledger_of(begun, acceptances);
        let stall = stalls.stalls().max_by_key(|stall| stall.took)?;
        Some(((stall.since - begun).as_secs(), stall.took.as_secs()))
    }

    #[test]
    fn recovery_is_that_of_the_slowest_kind_of_form() {
        let begun = Instant::now();
        let (contact, newsletter, application) =
            (FormKind::Contact, FormKind::Newsletter, FormKind::Application);
        let mut accepted = vec![
            (application, 800, 900),
            (contact, 1_000, 1_100),
            (newsletter, 1_100, 1_200),
            (contact, 1_200, 1_300),
        ];
        let over = begun + Duration::from_secs(1);
        assert_eq!(
            ledger_of(begun, &accepted).recovery(over),
            None,
            "no application since"
        );
        accepted.extend([(application, 1_000, 4_000), (application, 8_900, 9_000)]);
        assert_eq!(
            ledger_of(begun, &accepted).recovery(over),
            Some(Duration::from_secs(3))
        );
    }

    #[test]
    fn a_kind_of_form_that_stalls_while_others_are_accepted_stalls() {
        let others = (0..20).map(|second| (FormKind::Contact, second * 1_000, second * 1_000 + 10));
        let mut accepted: Vec<_> = others.collect();
        accepted.push((FormKind::Newsletter, 1_000, 2_000));
        accepted.push((FormKind::Newsletter, 3_000, 19_000));
        assert_eq!(longest_stall_of(&accepted), Some((3, 16)));
    }

    #[test]
    fn a_time_in_which_nobody_tries_is_no_stall() {
        const KIND: FormKind = FormKind::Application;
        let accepted = [
            (KIND, 0, 1_000),
            (KIND, 7_000, 9_000),
            (KIND, 2_000, 10_000),
            (KIND, 30_000, 31_000),
        ];
        assert_eq!(
            longest_stall_of(&accepted),
            Some((2, 7)),
            "the one who tried first was accepted later"
        );
        assert_eq!(longest_stall_of(&accepted[..1]), None);
    }
}
