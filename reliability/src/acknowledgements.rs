//! Acknowledgements: the mail that each accepted form sends its visitor, and which visitors still wait for theirs.

use std::{collections::HashMap, time::Duration};

use testkit::mail_server::AcceptedMail;
use tokio::time::Instant;

use crate::{ledger::Acceptance, submission::visitor_of};

/// Who was told that a form is accepted, and whose mail was taken.
#[derive(Default)]
pub struct Acknowledgements {
    /// How many acceptances were read.
    pub acceptances: usize,
    /// How many mails were read.
    pub mails: usize,
    /// What was accepted until then may have been handed out to somebody who is gone: it comes again after the ack wait, and
    /// says nothing of how soon deliveries go on.
    pub orphaned_until: Option<Instant>,
    /// When the first mail to each visitor was taken.
    taken: HashMap<u32, Instant>,
    /// Visitors whose mail was not taken by the moment last asked for.
    waiting: Vec<Acceptance>,
}

impl Acknowledgements {
    /// Reads on: what came after all that was read before.
    pub fn read(&mut self, acceptances: Vec<Acceptance>, mails: &[AcceptedMail]) {
        self.acceptances += acceptances.len();
        self.mails += mails.len();
        self.waiting.extend(acceptances);
        for mail in mails {
            if let Some(visitor) = visitor_of(&mail.recipient) {
                self.taken.entry(visitor).or_insert(mail.at);
            }
        }
    }

    /// How long after this moment the first mail was taken that was waited for, once one was: of a form that was accepted by
    /// then, to a visitor who had no mail by then, or where there was no such, of the next form. Moments are asked for in order.
    pub fn first_taken_after(&mut self, moment: Instant) -> Option<Duration> {
        let taken = &self.taken;
        let taken_at = |accepted: &Acceptance| taken.get(&accepted.submission.number).copied();
        self.waiting
            .retain(|accepted| taken_at(accepted).is_none_or(|at| at > moment));
        let is_orphaned =
            |accepted: &&Acceptance| self.orphaned_until.is_some_and(|until| accepted.at <= until);
        let waiting = || self.waiting.iter().filter(|accepted| !is_orphaned(accepted));
        let has_backlog = waiting().any(|accepted| accepted.at <= moment);
        let counts = |accepted: &&Acceptance| !has_backlog || accepted.at <= moment;
        let first = waiting().filter(counts).filter_map(taken_at).min()?;
        Some(first - moment)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::submission::{FormKind, Submission};

    fn accepted(number: u32, at: Instant) -> Acceptance {
        Acceptance {
            submission: Submission::new(0, number, FormKind::Contact, 0),
            at,
        }
    }

    fn mail(recipient: &str, at: Instant) -> AcceptedMail {
        AcceptedMail {
            recipient: recipient.to_owned(),
            message_id: String::new(),
            at,
        }
    }

    fn mail_to(number: u32, at: Instant) -> AcceptedMail {
        mail(&accepted(number, at).submission.email(), at)
    }

    #[test]
    fn the_first_mail_is_one_that_was_waited_for_when_the_fault_was_over() {
        let begun = Instant::now();
        let at = |second| begun + Duration::from_secs(second);
        let over = at(10);
        let mut acknowledgements = Acknowledgements::default();
        acknowledgements.read(vec![accepted(1, at(1))], &[mail_to(1, at(2))]);
        // One before the fault's end, and one after it, whose mail comes at once.
        acknowledgements.read(
            vec![accepted(2, at(9)), accepted(3, at(11))],
            &[mail_to(3, at(11)), mail("sales@run.example", at(11))],
        );
        assert_eq!(acknowledgements.first_taken_after(over), None);
        acknowledgements.read(Vec::new(), &[mail_to(2, at(14)), mail_to(2, at(15))]);
        assert_eq!(
            acknowledgements.first_taken_after(over),
            Some(Duration::from_secs(4))
        );
        let later = at(20);
        assert_eq!(acknowledgements.first_taken_after(later), None, "nobody waits");
        acknowledgements.read(vec![accepted(4, at(21))], &[mail_to(4, at(22))]);
        assert_eq!(
            acknowledgements.first_taken_after(later),
            Some(Duration::from_secs(2))
        );
    }

    #[test]
    fn what_was_handed_out_to_somebody_who_is_gone_does_not_count() {
        let begun = Instant::now();
        let at = |second| begun + Duration::from_secs(second);
        let mut acknowledgements = Acknowledgements {
            orphaned_until: Some(at(5)),
            ..Acknowledgements::default()
        };
        acknowledgements.read(
            vec![accepted(1, at(4)), accepted(2, at(6))],
            &[mail_to(1, at(64)), mail_to(2, at(8))],
        );
        assert_eq!(
            acknowledgements.first_taken_after(at(7)),
            Some(Duration::from_secs(1))
        );
    }
}
