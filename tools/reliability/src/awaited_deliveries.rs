//! Awaited deliveries: what each accepted form has to be mailed, or sent as a webhook, and what of it is still waited for.

use std::{collections::HashMap, ops::RangeInclusive, time::Duration};

use site_events::{Channel, EventType};
use testkit::{mail_server::AcceptedMail, receiver::ReceivedId};
use tokio::time::Instant;
use uuid::Uuid;

use crate::{
    holdings::mail_id,
    ledger::Acceptance,
    submission::{FormKind, Submission, visitor_of},
};

/// A backlog is more than what is under way at any moment.
const UNDER_WAY: usize = 3;

/// Whom a delivery is for that tells whether they go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Awaited {
    /// The visitor of this number: the first mail.
    Visitor(u32),
    /// The recruiters: the mail of the application whose event has this id.
    Recruiters(Uuid),
    /// The sales tool: the webhook of the contact form whose event has this id.
    SalesTool(Uuid),
}

impl Awaited {
    /// What an accepted form calls for: the recruiters' mail, too, as it alone needs the store, and a webhook.
    fn of(submission: Submission) -> impl Iterator<Item = Self> {
        let id = |event_type: EventType| event_type.id_for(submission.key);
        let to_staff = match submission.kind {
            FormKind::Contact => Some(Self::SalesTool(id(EventType::ContactReceived))),
            FormKind::Newsletter => None,
            FormKind::Application => Some(Self::Recruiters(id(EventType::CareersApplied))),
        };
        [Self::Visitor(submission.number)].into_iter().chain(to_staff)
    }

    /// Which one this mail is.
    fn mailed_as(mail: &AcceptedMail) -> Option<Self> {
        if let Some(visitor) = visitor_of(&mail.recipient) {
            return Some(Self::Visitor(visitor));
        }
        let id = mail_id(mail);
        let (event_id, channel) = id.split_once('.')?;
        let is_to_recruiters = channel == Channel::RecruiterApplication.name();
        let event_id = event_id.parse().ok().filter(|_| is_to_recruiters)?;
        Some(Self::Recruiters(event_id))
    }
}

/// What has to be delivered, and when it was taken.
#[derive(Default)]
pub struct AwaitedDeliveries {
    /// How many acceptances were read.
    pub acceptances: usize,
    /// How many mails were read.
    pub mails: usize,
    /// How many webhooks were read.
    pub webhooks: usize,
    /// What was accepted until then may have been handed out to somebody who is gone: it comes again after the ack wait, and
    /// says nothing of how soon deliveries go on.
    pub orphaned_until: Option<Instant>,
    /// When each was taken first.
    taken: HashMap<Awaited, Instant>,
    /// What was not taken by the moment last asked for, and when its form was accepted.
    waiting: Vec<(Awaited, Instant)>,
}

impl AwaitedDeliveries {
    /// Reads on: what came after all that was read before.
    pub fn read(&mut self, acceptances: &[Acceptance], mails: &[AcceptedMail]) {
        self.acceptances += acceptances.len();
        self.mails += mails.len();
        for accepted in acceptances {
            let called_for = Awaited::of(accepted.submission);
            self.waiting.extend(called_for.map(|mail| (mail, accepted.at)));
        }
        for mail in mails {
            if let Some(awaited) = Awaited::mailed_as(mail) {
                self.taken.entry(awaited).or_insert(mail.at);
            }
        }
    }

    /// The same of webhooks.
    pub fn read_webhooks(&mut self, webhooks: &[ReceivedId]) {
        self.webhooks += webhooks.len();
        for webhook in webhooks {
            if let Ok(event_id) = webhook.id.parse() {
                let taken = self.taken.entry(Awaited::SalesTool(event_id));
                taken.or_insert(webhook.at);
            }
        }
    }

    /// How long after the end of a fault the first of these deliveries was taken that was waited for, once one was: of a form that was
    /// accepted during the fault, and not taken by its end, or where there was no backlog of such, of the next form, too. What
    /// earlier faults left waits for its turn to be tried again, and does not count. Faults are asked for in order.
    pub fn first_taken_after(
        &mut self,
        fault: RangeInclusive<Instant>,
        is_meant: impl Fn(Awaited) -> bool,
    ) -> Option<Duration> {
        let (began, over) = fault.into_inner();
        let taken = &self.taken;
        let taken_at = |mail: &Awaited| taken.get(mail).copied();
        self.waiting
            .retain(|(mail, accepted)| *accepted >= began && taken_at(mail).is_none_or(|taken| taken > over));
        let is_orphaned = |accepted: Instant| self.orphaned_until.is_some_and(|until| accepted <= until);
        let meant = self.waiting.iter().filter(|(mail, _)| is_meant(*mail));
        let waiting = meant.filter(|(_, accepted)| !is_orphaned(*accepted));
        let has_backlog = waiting.clone().filter(|(_, accepted)| *accepted <= over).count() > UNDER_WAY;
        let counts = waiting.filter(|(_, accepted)| !has_backlog || *accepted <= over);
        let first = counts.filter_map(|(mail, _)| taken_at(mail)).min()?;
        Some(first - over)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::faults::{Fault, StoreFault};

    fn accepted(number: u32, at: Instant) -> Acceptance {
        Acceptance {
            submission: Submission::new(0, number, FormKind::Contact, 0),
            tried: at,
            at,
        }
    }

    fn mail(recipient: &str, at: Instant) -> AcceptedMail {
        AcceptedMail {
            recipient: recipient.to_owned(),
            message_id: String::new(),
            attachments: Vec::new(),
            at,
        }
    }

    fn mail_to(number: u32, at: Instant) -> AcceptedMail {
        mail(&accepted(number, at).submission.email(), at)
    }

    fn to_visitors(mail: Awaited) -> bool {
        matches!(mail, Awaited::Visitor(_))
    }

    #[test]
    fn the_first_mail_is_one_that_was_waited_for_when_the_fault_was_over() {
        let begun = Instant::now();
        let at = |second| begun + Duration::from_secs(second);
        let over = at(10);
        let mut mails = AwaitedDeliveries::default();
        mails.read(&[accepted(1, at(1))], &[mail_to(1, at(2))]);
        // Some before the fault's end, and one after it, whose mail comes at once.
        mails.read(&[2, 4, 5, 6].map(|number| accepted(number, at(9))), &[]);
        mails.read(
            &[accepted(3, at(11))],
            &[mail_to(3, at(11)), mail("sales@run.example", at(11))],
        );
        assert_eq!(mails.first_taken_after(begun..=over, to_visitors), None);
        mails.read(&[], &[2, 2, 4, 5, 6].map(|number| mail_to(number, at(14))));
        assert_eq!(
            mails.first_taken_after(begun..=over, to_visitors),
            Some(Duration::from_secs(4))
        );
        let later = at(20);
        assert_eq!(
            mails.first_taken_after(over..=later, to_visitors),
            None,
            "nobody waits"
        );
        mails.read(&[accepted(7, at(21))], &[mail_to(7, at(22))]);
        assert_eq!(
            mails.first_taken_after(over..=later, to_visitors),
            Some(Duration::from_secs(2))
        );
    }

    #[test]
    fn of_the_few_that_are_under_way_at_any_moment_none_is_waited_for() {
        let begun = Instant::now();
        let at = |second| begun + Duration::from_secs(second);
        let mut mails = AwaitedDeliveries::default();
        let few = [1, 2, 3].map(|number| accepted(number, at(9)));
        mails.read(&few, &[]);
        mails.read(&[accepted(4, at(11))], &[mail_to(4, at(11))]);
        assert_eq!(
            mails.first_taken_after(begun..=at(10), to_visitors),
            Some(Duration::from_secs(1))
        );
    }

    #[test]
    fn what_an_earlier_fault_left_does_not_count() {
        let begun = Instant::now();
        let at = |second| begun + Duration::from_secs(second);
        let mut mails = AwaitedDeliveries::default();
        mails.read(&[1, 2, 3, 4].map(|number| accepted(number, at(4))), &[]);
        mails.read(&[accepted(5, at(11))], &[mail_to(5, at(11)), mail_to(1, at(60))]);
        assert_eq!(
            mails.first_taken_after(at(8)..=at(10), to_visitors),
            Some(Duration::from_secs(1))
        );
    }

    #[test]
    fn after_a_fault_of_the_store_it_is_a_recruiters_mail() {
        let begun = Instant::now();
        let at = |second| begun + Duration::from_secs(second);
        let over = at(10);
        let submission = Submission::new(0, 1, FormKind::Application, 0);
        let event_id = EventType::CareersApplied.id_for(submission.key);
        let with_id = |id: String, second| AcceptedMail {
            message_id: format!("<{event_id}.{id}@oculant.example>"),
            ..mail("recruiters@oculant.example", at(second))
        };
        let (store, other) = (Fault::Store(StoreFault::Away), Fault::Nothing);
        let mut mails = AwaitedDeliveries::default();
        let application = Acceptance {
            submission,
            tried: at(9),
            at: at(9),
        };
        // None of these needs the store.
        let others = [
            mail_to(1, at(12)),
            mail_to(2, at(12)),
            with_id("a".to_owned(), 13),
        ];
        mails.read(&[application, accepted(2, at(9))], &others);
        let of = |fault: Fault| move |mail| fault.shows_in(mail);
        assert_eq!(mails.first_taken_after(begun..=over, of(store)), None);
        assert_eq!(
            mails.first_taken_after(begun..=over, of(other)),
            Some(Duration::from_secs(2))
        );
        let channel = Channel::RecruiterApplication.name().to_owned();
        mails.read(&[], &[with_id(channel, 17)]);
        assert_eq!(
            mails.first_taken_after(begun..=over, of(store)),
            Some(Duration::from_secs(7))
        );
        assert_eq!(
            mails.first_taken_after(begun..=over, of(other)),
            Some(Duration::from_secs(2))
        );
    }

    #[test]
    fn after_a_fault_of_the_receiver_it_is_a_webhook() {
        let begun = Instant::now();
        let at = |second| begun + Duration::from_secs(second);
        let of_receiver = |mail| Fault::Receiver.shows_in(mail);
        let mut deliveries = AwaitedDeliveries::default();
        let contact = accepted(1, at(9));
        deliveries.read(&[contact], &[mail_to(1, at(12))]);
        let first =
            |deliveries: &mut AwaitedDeliveries| deliveries.first_taken_after(begun..=at(10), of_receiver);
        assert_eq!(first(&mut deliveries), None);
        let event_id = EventType::ContactReceived.id_for(contact.submission.key);
        deliveries.read_webhooks(&[ReceivedId {
            id: event_id.to_string(),
            event_type: String::new(),
            signed: true,
            at: at(13),
        }]);
        assert_eq!(first(&mut deliveries), Some(Duration::from_secs(3)));
    }

    #[test]
    fn what_was_handed_out_to_somebody_who_is_gone_does_not_count() {
        let begun = Instant::now();
        let at = |second| begun + Duration::from_secs(second);
        let mut mails = AwaitedDeliveries {
            orphaned_until: Some(at(5)),
            ..AwaitedDeliveries::default()
        };
        mails.read(
            &[accepted(1, at(4)), accepted(2, at(6))],
            &[mail_to(1, at(64)), mail_to(2, at(8))],
        );
        assert_eq!(
            mails.first_taken_after(begun..=at(7), to_visitors),
            Some(Duration::from_secs(1))
        );
    }
}
