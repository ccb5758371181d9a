//! The books of a run: what visitors were told, against what is stored, delivered and left over.

use std::{
    collections::{BTreeSet, HashMap},
    fmt::{self, Display},
};

use serde::Deserialize;
use site_events::{Channel, EventType, SITE_STREAM};
use testkit::Stack;
use tokio::time::Instant;
use uuid::Uuid;

use crate::{
    repeats::{Repeat, repeats},
    submission::digest,
    visitors::{Ledger, Record},
};

/// The events that the local stack's one webhook endpoint hears of, among those that forms become.
const HOOKED: [EventType; 2] = [EventType::ContactReceived, EventType::CareersApplied];
/// How many faults of one kind are told one by one.
const MAX_TOLD: usize = 5;

/// What there is at one moment, counted.
pub struct Holdings {
    /// The stored events, by the address of the visitor who sent the form.
    events: HashMap<String, StoredEvent>,
    /// How many are stored beside another of the same visitor, who sends one form.
    stored_twice: usize,
    /// Objects in the bucket by key: the digest of their content.
    objects: HashMap<String, [u8; 32]>,
    /// Mails by event and channel: when each was taken.
    mails: HashMap<String, Vec<Instant>>,
    /// Webhooks by event: when each was taken.
    webhooks: HashMap<String, Vec<Instant>>,
    dead_letters: usize,
}

#[derive(Deserialize)]
struct StoredEvent {
    id: Uuid,
    #[serde(rename = "type")]
    event_type: String,
    data: EventData,
}

#[derive(Deserialize)]
struct EventData {
    email: String,
    resume: Option<StoredResume>,
}

#[derive(Deserialize)]
struct StoredResume {
    key: String,
}

impl Holdings {
    /// Counts everything.
    ///
    /// # Errors
    ///
    /// If the broker or the bucket cannot be read.
    pub async fn count(stack: &Stack) -> anyhow::Result<Self> {
        let (mut events, mut stored_twice) = (HashMap::new(), 0);
        for message in stack.nats.messages(SITE_STREAM).await? {
            let event: StoredEvent = serde_json::from_slice(&message.payload)?;
            if events.insert(event.data.email.clone(), event).is_some() {
                stored_twice += 1;
            }
        }
        let objects = stack.s3.objects()?;
        let webhooks = stack.receiver.received_ids();
        Ok(Self {
            events,
            stored_twice,
            objects: objects
                .into_iter()
                .map(|(key, content)| (key, digest(&content)))
                .collect(),
            mails: by_id(mails(stack)?),
            webhooks: by_id(webhooks.into_iter().map(|webhook| (webhook.id, webhook.at))),
            dead_letters: stack.nats.dead_letters().await?.len(),
        })
    }

    /// When this was taken, in order.
    fn taken(&self, delivery: &Expected) -> &[Instant] {
        let taken = match delivery {
            Expected::Mail(id) => self.mails.get(id),
            Expected::Webhook(id) => self.webhooks.get(id),
        };
        taken.map(Vec::as_slice).unwrap_or_default()
    }
}

enum Expected {
    Mail(String),
    Webhook(String),
}

impl Display for Expected {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mail(id) => write!(f, "mail {id}"),
            Self::Webhook(id) => write!(f, "webhook {id}"),
        }
    }
}

fn expected_deliveries(event: &StoredEvent) -> Vec<Expected> {
    let is = |event_type: EventType| event.event_type == event_type.name();
    let mails = Channel::ALL
        .into_iter()
        .filter(|channel| is(channel.event_type()))
        .map(|channel| Expected::Mail(format!("{}.{}", event.id, channel.name())));
    let webhook = HOOKED
        .into_iter()
        .any(is)
        .then(|| Expected::Webhook(event.id.to_string()));
    mails.chain(webhook).collect()
}

/// Event and channel of every mail that was taken, which is what stands before the `@` of its `Message-ID`, and when.
fn mails(stack: &Stack) -> anyhow::Result<Vec<(String, Instant)>> {
    let mails = stack.mail_server()?.accepted_mails();
    let id = |message_id: &str| Some(message_id.trim_matches(['<', '>']).split_once('@')?.0.to_owned());
    let taken = mails
        .iter()
        .filter_map(|mail| Some((id(&mail.message_id)?, mail.at)));
    Ok(taken.collect())
}

fn by_id<T>(all: impl IntoIterator<Item = (String, T)>) -> HashMap<String, Vec<T>> {
    let mut by_id: HashMap<String, Vec<T>> = HashMap::new();
    for (id, one) in all {
        by_id.entry(id).or_default().push(one);
    }
    by_id
}

/// The balance: what visitors were told, against what there is.
#[derive(Debug, Default)]
pub struct Balance {
    /// Submissions that were answered as accepted.
    pub accepted: usize,
    /// Answers that said that it was not accepted, with a sentence and when to try again.
    pub refused: u64,
    /// Requests that got no answer.
    pub unanswered: u64,
    /// Stored events.
    pub stored: usize,
    /// Mails and webhooks that were taken, repeats apart.
    pub delivered: usize,
    /// Mails and webhooks that were taken once more.
    pub repeats: Vec<Repeat>,
    /// Objects that no event names.
    pub orphaned: usize,
    /// What was lost or wrong, in words.
    pub losses: Losses,
}

/// What was lost or is wrong.
#[derive(Debug, Default)]
pub struct Losses(Vec<String>);

impl Losses {
    /// How many.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether nothing was lost.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl FromIterator<String> for Losses {
    fn from_iter<I: IntoIterator<Item = String>>(losses: I) -> Self {
        Self(losses.into_iter().collect())
    }
}

impl Display for Losses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for loss in self.0.iter().take(MAX_TOLD) {
            writeln!(f, "  {loss}")?;
        }
        match self.0.len().saturating_sub(MAX_TOLD) {
            0 => Ok(()),
            more => writeln!(f, "  and {more} more"),
        }
    }
}

/// Balances the books of a run that has come to rest and been swept.
pub fn balance(ledger: &Ledger, holdings: &Holdings) -> Balance {
    let mut losses: Vec<String> = Vec::new();
    losses.extend(
        ledger
            .records
            .iter()
            .filter_map(|record| loss_of(record, holdings)),
    );
    let (mut delivered, mut repeated) = (0, Vec::new());
    for delivery in holdings.events.values().flat_map(expected_deliveries) {
        let taken = holdings.taken(&delivery);
        if taken.is_empty() {
            losses.push(format!("never delivered: {delivery}"));
        } else {
            delivered += 1;
            repeated.extend(repeats(&delivery.to_string(), taken));
        }
    }
    let sent: BTreeSet<String> = ledger
        .records
        .iter()
        .map(|record| record.submission.email())
        .collect();
    let invented = holdings.events.keys().filter(|email| !sent.contains(*email));
    losses.extend(invented.map(|email| format!("stored, and sent by nobody: {email}")));
    if holdings.stored_twice > 0 {
        losses.push(format!("{} events are stored twice", holdings.stored_twice));
    }
    if holdings.dead_letters > 0 {
        losses.push(format!("{} dead letters", holdings.dead_letters));
    }
    losses.extend(
        ledger
            .unexpected
            .iter()
            .map(|answer| format!("answered {answer}")),
    );
    let named: BTreeSet<&str> = holdings.events.values().filter_map(resume_key).collect();
    let is_orphan = |key: &&String| !named.contains(key.as_str());
    Balance {
        accepted: ledger.accepted(),
        refused: ledger.refused,
        unanswered: ledger.unanswered,
        stored: holdings.events.len(),
        delivered,
        repeats: repeated,
        orphaned: holdings.objects.keys().filter(is_orphan).count(),
        losses: Losses(losses),
    }
}

fn resume_key(event: &StoredEvent) -> Option<&str> {
    event.data.resume.as_ref().map(|resume| resume.key.as_str())
}

/// What is missing of a submission, or wrong with what is stored of it.
fn loss_of(record: &Record, holdings: &Holdings) -> Option<String> {
    let number = record.submission.number;
    let Some(event) = holdings.events.get(&record.submission.email()) else {
        return match record {
            Record { accepted: true, .. } => Some(format!("number {number} was accepted and is not stored")),
            Record { left: false, .. } => Some(format!("number {number} was never accepted, for a minute")),
            _ => None,
        };
    };
    let expected = record.submission.resume_digest()?;
    let stored = resume_key(event).and_then(|key| holdings.objects.get(key));
    (stored != Some(&expected)).then(|| format!("number {number} is stored without its whole résumé"))
}
