//! Ledger of the answers to visitors.

use std::time::Duration;

use tokio::time::Instant;

use reliability::{FormKind, Submission};

#[derive(Debug, Clone, Copy)]
pub struct Record {
    pub submission: Submission,
    pub accepted: bool,
    /// Whether the visitor left before the answer.
    pub left: bool,
    /// Whether the confirmation was accepted within a minute, if the visitor tried.
    pub confirmed: Option<bool>,
}

#[derive(Debug, Clone, Copy)]
pub struct Acceptance {
    pub submission: Submission,
    /// First attempt.
    pub tried: Instant,
    pub at: Instant,
}

#[derive(Debug, Default)]
pub struct Ledger {
    pub records: Vec<Record>,
    pub acceptances: Vec<Acceptance>,
    pub refused: u64,
    /// Requests without an answer, although the visitor waited.
    pub unanswered: u64,
    /// Answers that the API does not define.
    pub unexpected: Vec<String>,
}

impl Ledger {
    /// Time until a form of each kind, sent since this moment, was accepted.
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
    fn recovery_takes_as_long_as_the_slowest_kind_of_form() {
        let begun = Instant::now();
        let at = |ms| begun + Duration::from_millis(ms);
        let mut ledger = Ledger::default();
        let accept = |ledger: &mut Ledger, kind, [tried, accepted]: [u64; 2]| {
            ledger.acceptances.push(Acceptance {
                submission: Submission::new(0, 0, kind, 0),
                tried: at(tried),
                at: at(accepted),
            });
        };
        accept(&mut ledger, FormKind::Contact, [1_000, 1_100]);
        accept(&mut ledger, FormKind::Newsletter, [1_100, 1_200]);
        accept(&mut ledger, FormKind::Application, [900, 1_300]);
        assert_eq!(ledger.recovery(at(1_000)), None, "no application was sent since");
        accept(&mut ledger, FormKind::Application, [1_000, 4_000]);
        accept(&mut ledger, FormKind::Application, [8_900, 9_000]);
        assert_eq!(ledger.recovery(at(1_000)), Some(Duration::from_secs(3)));
    }
}
