//! The ledger: what became of each submission, as its visitor was told.

use std::time::Duration;

use tokio::time::Instant;

use reliability::{FormKind, Submission};

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

/// What the visitors have seen.
#[derive(Debug, Default)]
pub struct Ledger {
    /// Every submission.
    pub records: Vec<Record>,
    /// What was accepted, in order.
    pub acceptances: Vec<Acceptance>,
    /// How often one was told that it was not accepted, and can be sent again.
    pub refused: u64,
    /// How often a visitor waited, and there was none.
    pub unanswered: u64,
    /// Answers that no visitor should get.
    pub unexpected: Vec<String>,
}

impl Ledger {
    /// How long after this moment each kind of form was accepted that was sent since: the slowest of them, once all were.
    pub fn recovery(&self, moment: Instant) -> Option<Duration> {
        let first = |kind| {
            let mut accepted = self.acceptances.iter();
            accepted.find(|accepted| accepted.submission.kind == kind && accepted.tried >= moment)
        };
        let waits = FormKind::ALL.map(|kind| Some(first(kind)?.at - moment));
        waits.into_iter().collect::<Option<Vec<_>>>()?.into_iter().max()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recovery_is_that_of_the_slowest_kind_of_form() {
        let begun = Instant::now();
        let at = |ms| begun + Duration::from_millis(ms);
        let accepted = |kind, tried, accepted| Acceptance {
            submission: Submission::new(0, 0, kind, 0),
            tried: at(tried),
            at: at(accepted),
        };
        let mut ledger = Ledger {
            acceptances: vec![
                accepted(FormKind::Contact, 1_000, 1_100),
                accepted(FormKind::Newsletter, 1_100, 1_200),
                accepted(FormKind::Application, 900, 1_300),
            ],
            ..Ledger::default()
        };
        assert_eq!(
            ledger.recovery(at(1_000)),
            None,
            "no application that was sent since"
        );
        ledger
            .acceptances
            .push(accepted(FormKind::Application, 1_000, 4_000));
        ledger
            .acceptances
            .push(accepted(FormKind::Application, 8_900, 9_000));
        assert_eq!(ledger.recovery(at(1_000)), Some(Duration::from_secs(3)));
    }
}
