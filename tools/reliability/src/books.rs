//! Reconciliation: compares the answers to visitors with the stored and delivered data.

use std::{
    collections::{BTreeSet, HashSet},
    fmt,
};

use tokio::time::Instant;

use crate::{
    holdings::{Holdings, StoredEvent},
    ledger::{Ledger, Record},
};

const MAX_REPORTED: usize = 5;

#[derive(Debug)]
pub struct Balance {
    pub sent: usize,
    pub accepted: usize,
    pub refused: u64,
    /// Requests without an answer, although the visitor waited.
    pub unanswered: u64,
    pub repeats: Vec<Repeat>,
    /// Losses, errors and leftovers, a sentence each.
    pub losses: Vec<String>,
}

/// Duplicate mail or webhook.
#[derive(Debug)]
pub struct Repeat {
    what: String,
    pub before: Instant,
    again: Instant,
}

impl fmt::Display for Repeat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let later = (self.again - self.before).as_secs_f64();
        write!(f, "{} was accepted again {later:.1} s later", self.what)
    }
}

impl Balance {
    pub fn reported_losses(&self) -> Vec<String> {
        let mut reported: Vec<String> = self.losses.iter().take(MAX_REPORTED).cloned().collect();
        if let more @ 1.. = self.losses.len().saturating_sub(MAX_REPORTED) {
            reported.push(format!("and {more} more"));
        }
        reported
    }
}

pub fn balance(ledger: &Ledger, holdings: &Holdings) -> Balance {
    let deliveries = Deliveries::checked(holdings);
    let records = ledger.records.iter();
    let mut losses: Vec<String> = records.filter_map(|record| loss_of(record, holdings)).collect();
    losses.extend(deliveries.losses);
    losses.extend(surplus(ledger, holdings));
    losses.extend(orphans(holdings));
    let unexpected = ledger.unexpected.iter();
    losses.extend(unexpected.map(|answer| format!("answered {answer}")));
    Balance {
        sent: ledger.records.len(),
        accepted: ledger.acceptances.len(),
        refused: ledger.refused,
        unanswered: ledger.unanswered,
        repeats: deliveries.repeats,
        losses,
    }
}

/// Leftovers of interrupted uploads.
fn orphans(holdings: &Holdings) -> impl Iterator<Item = String> {
    let events = holdings.events.values();
    let named: BTreeSet<&str> = events.filter_map(StoredEvent::resume_key).collect();
    let objects = holdings
        .objects
        .keys()
        .filter(move |key| !named.contains(key.as_str()));
    let objects = objects.map(|key| format!("left behind: résumé {key}, which no event names"));
    let records = holdings.upload_records.iter();
    let records = records.map(|key| format!("left behind: the record of the upload {key}"));
    let files = holdings.spool_files.iter();
    let files = files.map(|path| format!("left behind: the spool's file {}", path.display()));
    objects.chain(records).chain(files)
}

/// Duplicates and losses of the mails and webhooks that events require.
#[derive(Default)]
struct Deliveries {
    repeats: Vec<Repeat>,
    losses: Vec<String>,
}

impl Deliveries {
    fn checked(holdings: &Holdings) -> Self {
        let mut checked = Self::default();
        let mut required = HashSet::new();
        for delivery in holdings.all_events().flat_map(StoredEvent::deliveries) {
            let (what, accepted) = (delivery.to_string(), holdings.accepted(&delivery));
            if accepted.is_empty() {
                checked.losses.push(format!("never delivered: {what}"));
            }
            checked.losses.extend(holdings.mismatch(&delivery));
            checked.repeats.extend(accepted.windows(2).map(|pair| Repeat {
                what: what.clone(),
                before: pair[0],
                again: pair[1],
            }));
            required.insert(what);
        }
        let mails = holdings.mails.keys().map(|id| format!("mail {id}"));
        let webhooks = holdings.webhooks.keys().map(|id| format!("webhook {id}"));
        let surplus = mails.chain(webhooks).filter(|what| !required.contains(what));
        checked
            .losses
            .extend(surplus.map(|what| format!("{what} was sent, but no event requires it")));
        checked
    }
}

fn surplus(ledger: &Ledger, holdings: &Holdings) -> Vec<String> {
    let sent: BTreeSet<String> = ledger
        .records
        .iter()
        .map(|record| record.submission.email())
        .collect();
    let stored = holdings.all_events().map(StoredEvent::email);
    let invented = stored.filter(|email| !sent.contains(*email));
    let mut surplus: Vec<String> = invented
        .map(|email| format!("stored, but no visitor sent it: {email}"))
        .collect();
    if holdings.stored_twice > 0 {
        surplus.push(format!("{} events are stored twice", holdings.stored_twice));
    }
    if holdings.dead_letters > 0 {
        surplus.push(format!("{} dead letters", holdings.dead_letters));
    }
    surplus
}

fn loss_of(record: &Record, holdings: &Holdings) -> Option<String> {
    let submission = record.submission;
    let number = submission.number;
    let Some(event) = holdings.events.get(&submission.email()) else {
        return match record {
            Record { accepted: true, .. } => Some(format!("number {number} was accepted but is not stored")),
            Record { left: false, .. } => Some(format!("number {number} was never accepted, for a minute")),
            _ => None,
        };
    };
    let entered = submission.fields().into_iter();
    let wrong: Vec<&str> = entered
        .filter(|(field, value)| event.data[*field] != value.as_str())
        .map(|(field, _)| field)
        .collect();
    if !wrong.is_empty() {
        return Some(format!(
            "number {number} is stored with another {}",
            wrong.join(", ")
        ));
    }
    let is_stored = holdings.confirmations.contains_key(&submission.email());
    match record.confirmed {
        Some(false) => return Some(format!("number {number} could not be confirmed, for a minute")),
        Some(true) if !is_stored => {
            return Some(format!("number {number} was confirmed, but that is not stored"));
        }
        _ => {}
    }
    let expected = submission.resume_digest()?;
    let stored = event.resume_key().and_then(|key| holdings.objects.get(key));
    (stored != Some(&expected)).then(|| format!("number {number} is stored without its whole résumé"))
}

#[cfg(test)]
mod tests {
    use reliability::{FormKind, Submission};
    use serde_json::json;
    use testkit::{RECRUITERS_TO, mail_server::AcceptedMail, receiver::Received};
    use uuid::Uuid;

    use super::*;

    const KEY: &str = "resumes/1";

    fn application() -> Submission {
        Submission::new(1, 7, FormKind::Application, 2_000)
    }

    fn ledger() -> Ledger {
        let record = Record {
            submission: application(),
            accepted: true,
            left: false,
            confirmed: None,
        };
        Ledger {
            records: vec![record],
            ..Ledger::default()
        }
    }

    fn holdings() -> Holdings {
        let submission = application();
        let (id, digest) = (
            Uuid::from_u128(1),
            submission.resume_digest().expect("it has one"),
        );
        let event_type = "site.careers.applied.v1".to_owned();
        let mut data = json!({ "resume": { "key": KEY } });
        for (field, value) in submission.fields() {
            data[field] = value.into();
        }
        let webhook = Received {
            id: id.to_string(),
            body: json!({ "type": event_type }),
            verified: true,
            accepted: true,
            headers: Default::default(),
            raw_body: Vec::new(),
            at: Instant::now(),
        };
        let event = StoredEvent { id, event_type, data };
        let mut to_recruiters = mail_to(RECRUITERS_TO.to_owned());
        to_recruiters.attachments.push(digest);
        let to_visitor = mail_to(submission.email());
        let mut holdings = Holdings::default();
        holdings.events.insert(submission.email(), event);
        holdings.objects.insert(KEY.to_owned(), digest);
        for (channel, mail) in [("recruiters", to_recruiters), ("acknowledgement", to_visitor)] {
            let mail_id = format!("{id}.careers-applied-{channel}");
            holdings.mails.insert(mail_id, vec![mail]);
        }
        holdings.webhooks.insert(id.to_string(), vec![webhook]);
        holdings
    }

    fn mail_to(recipient: String) -> AcceptedMail {
        AcceptedMail {
            recipient,
            message_id: String::new(),
            attachments: Vec::new(),
            at: Instant::now(),
            content: "".into(),
        }
    }

    fn losses_after(change: impl Fn(&mut Holdings)) -> Vec<String> {
        let mut holdings = holdings();
        change(&mut holdings);
        balance(&ledger(), &holdings).losses
    }

    /// Losses after a change of every mail.
    fn losses_of_mails(change: fn(&mut AcceptedMail)) -> Vec<String> {
        losses_after(|holdings| holdings.mails.values_mut().flatten().for_each(change))
    }

    #[test]
    fn a_run_without_losses_reconciles() {
        assert_eq!(losses_after(|_| {}), [""; 0]);
    }

    #[test]
    fn an_event_with_another_field_is_reported() {
        for field in ["name", "position", "coverLetter"] {
            let losses = losses_after(|holdings| {
                let events = holdings.events.values_mut();
                events.for_each(|event| event.data[field] = "of another visitor".into());
            });
            assert_eq!(losses, [format!("number 7 is stored with another {field}")]);
        }
        let losses = losses_after(|holdings| holdings.objects.values_mut().for_each(|digest| digest[0] ^= 1));
        assert_eq!(losses[0], "number 7 is stored without its whole résumé");
        let losses = losses_after(|holdings| holdings.events.clear());
        let is_lost = losses
            .iter()
            .any(|loss| loss == "number 7 was accepted but is not stored");
        assert!(is_lost, "{losses:?}");
    }

    #[test]
    fn a_confirmation_that_is_refused_or_not_stored_is_reported() {
        for (confirmed, expected) in [
            (None, None),
            (Some(false), Some("number 7 could not be confirmed, for a minute")),
            (Some(true), Some("number 7 was confirmed, but that is not stored")),
        ] {
            let mut ledger = ledger();
            ledger.records[0].confirmed = confirmed;
            let losses = balance(&ledger, &holdings()).losses;
            assert_eq!(losses.first().map(String::as_str), expected);
        }
    }

    #[test]
    fn a_duplicate_is_reported() {
        let mut holdings = holdings();
        let webhooks = holdings.webhooks.values_mut();
        webhooks.for_each(|webhooks| webhooks.extend(webhooks.clone()));
        let repeats = balance(&ledger(), &holdings).repeats;
        assert_eq!(repeats.len(), 1, "{repeats:?}");
    }

    #[test]
    fn leftovers_of_an_upload_are_reported() {
        let losses = losses_after(|holdings| {
            holdings.objects.insert("resumes/2".to_owned(), [0; 32]);
            holdings.upload_records.push("resumes/3".to_owned());
            holdings.spool_files.push("spool/4".into());
        });
        let expected = [
            "left behind: résumé resumes/2, which no event names",
            "left behind: the record of the upload resumes/3",
            "left behind: the spool's file spool/4",
        ];
        assert_eq!(losses, expected);
    }

    #[test]
    fn a_misdirected_and_an_unexpected_mail_are_reported() {
        let stranger = || mail_to("visitor-8@run.example".to_owned());
        let losses = losses_after(|holdings| {
            let mails = holdings.mails.values_mut();
            mails.for_each(|mails| mails.push(stranger()));
        });
        assert_all_end(&losses, 2, "but went to visitor-8@run.example");
        let losses = losses_after(|holdings| drop(holdings.mails.insert("2.a".to_owned(), vec![stranger()])));
        assert_eq!(losses, ["mail 2.a was sent, but no event requires it"]);
    }

    #[track_caller]
    fn assert_all_end(losses: &[String], count: usize, end: &str) {
        assert_eq!(losses.len(), count, "{losses:?}");
        assert!(losses.iter().all(|loss| loss.ends_with(end)), "{losses:?}");
    }

    #[test]
    fn a_mail_with_a_wrong_attachment_is_reported() {
        let changes: [fn(&mut AcceptedMail); 3] = [
            |mail| mail.attachments.iter_mut().for_each(|digest| digest[0] ^= 1),
            |mail| mail.attachments.clear(),
            |mail| mail.attachments.extend(mail.attachments.clone()),
        ];
        for change in changes {
            let losses = losses_of_mails(change);
            assert_all_end(&losses, 1, "does not have exactly the résumé attached");
        }
        let mut losses = losses_of_mails(|mail| mail.attachments.push([0; 32]));
        assert_eq!(losses.len(), 2, "{losses:?}");
        losses.retain(|loss| !loss.ends_with("does not have exactly the résumé attached"));
        assert_all_end(&losses, 1, "has an unexpected attachment");
    }

    #[test]
    fn an_unsigned_or_wrong_webhook_is_reported() {
        let changes: [fn(&mut Received); 2] = [
            |webhook| webhook.verified = false,
            |webhook| webhook.body["type"] = "site.contact.received.v1".into(),
        ];
        for change in changes {
            let losses = losses_after(|holdings| holdings.webhooks.values_mut().flatten().for_each(change));
            assert_eq!(losses.len(), 1, "{losses:?}");
            assert!(
                losses[0].contains("of site.careers.applied.v1 came as"),
                "{losses:?}"
            );
        }
    }
}
