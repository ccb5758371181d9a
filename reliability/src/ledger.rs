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
    /// When the visitor was told.
    pub at: Instant,
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

    /// The longest time without an accepted submission of one kind, whatever became of the others.
    pub fn longest_stall(&self) -> Duration {
        let stalls = FormKind::ALL.map(|kind| self.longest_stall_of(kind));
        stalls.into_iter().max().unwrap_or_default()
    }

    fn longest_stall_of(&self, kind: FormKind) -> Duration {
        let of_kind = self.acceptances.iter().filter(|it| it.submission.kind == kind);
        let moments: Vec<_> = of_kind.map(|accepted| accepted.at).collect();
        let gaps = moments.windows(2).map(|pair| pair[1] - pair[0]);
        gaps.max().unwrap_or_default()
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

    fn ledger_of(begun: Instant, acceptances: &[(FormKind, u64)]) -> Ledger {
        let accepted = |(kind, ms): &(FormKind, u64)| Acceptance {
            submission: Submission::new(0, 0, *kind, 0),
            at: begun + Duration::from_millis(*ms),
        };
        Ledger {
            acceptances: acceptances.iter().map(accepted).collect(),
            ..Ledger::default()
        }
    }

    #[test]
    fn recovery_is_that_of_the_slowest_kind_of_form() {
        let begun = Instant::now();
        let (contact, newsletter, application) =
            (FormKind::Contact, FormKind::Newsletter, FormKind::Application);
        let mut accepted = vec![
            (application, 900),
            (contact, 1_100),
            (newsletter, 1_200),
            (contact, 1_300),
        ];
        let over = begun + Duration::from_secs(1);
        assert_eq!(
            ledger_of(begun, &accepted).recovery(over),
            None,
            "no application since"
        );
        accepted.extend([(application, 4_000), (application, 9_000)]);
        let ledger = ledger_of(begun, &accepted);
        assert_eq!(ledger.recovery(over), Some(Duration::from_secs(3)));
        assert_eq!(ledger.longest_stall(), Duration::from_secs(5));
    }

    #[test]
    fn a_kind_of_form_that_stalls_while_others_are_accepted_stalls() {
        let others = (0..20).map(|second| (FormKind::Contact, second * 1_000));
        let mut accepted: Vec<_> = others.collect();
        accepted.insert(3, (FormKind::Newsletter, 2_500));
        accepted.push((FormKind::Newsletter, 19_500));
        let ledger = ledger_of(Instant::now(), &accepted);
        assert_eq!(ledger.longest_stall(), Duration::from_secs(17));
    }
}
