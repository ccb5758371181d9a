//! Outcomes of an issue's mails, from delivery records (kept for 30 days) and mails in progress.

use std::collections::HashMap;

use crate::{Subscriber, Subscribers};
use async_nats::jetstream::{Context, consumer::PullConsumer};
use bytes::Bytes;
use futures_util::TryStreamExt as _;
use serde::Serialize;
use site_broker::{DELIVERIES_BUCKET, REFUSED, RecordError, StreamReader, buckets::open_bucket};
use site_events::{IssueId, SENDINGS_CONSUMER, SENDINGS_STREAM, Sending};
use time::{Duration, OffsetDateTime};
use uuid::Uuid;
use visitor::PersonId;

use crate::issues::IssueProgress;

/// Age of an issue at which its first delivery records expire, so that its figures are incomplete.
const KNOWN_FOR: Duration = Duration::days(30);
/// Age at which a mail in progress counts as deferred. A single attempt takes less time.
const DEFERRED_AFTER: Duration = Duration::minutes(1);

/// Outcome counts of one issue.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Figures {
    /// Accepted by the mail server.
    pub sent: u64,
    /// Not sent, because the person had already unsubscribed.
    pub left: u64,
    /// The address does not exist.
    pub bounced: u64,
    /// Permanently rejected for another reason.
    pub refused: u64,
    /// Still deferred at the last retry, so not sent.
    pub given_up: u64,
    /// Deferred, awaiting a retry.
    pub deferred: u64,
    /// Received by a notifier and not finished, including deferred mails.
    pub in_hand: u64,
}

/// Outcomes of all issues.
pub struct Outcomes {
    subscribers: HashMap<PersonId, Subscriber>,
    /// Delivery records by mail id.
    records: HashMap<Uuid, Bytes>,
    in_progress: Vec<MailInProgress>,
}

struct MailInProgress {
    issue: IssueId,
    is_deferred: bool,
}

impl Outcomes {
    /// Reads the subscribers, the delivery records and the work queue.
    ///
    /// # Errors
    ///
    /// If the broker is unavailable.
    pub async fn read(context: &Context) -> Result<Self, RecordError> {
        let subscribers = Subscribers::open(context.client()).await?;
        let mut outcomes = Self {
            subscribers: HashMap::new(),
            records: HashMap::new(),
            in_progress: in_progress(context).await?,
        };
        let mut entries = subscribers.since(1);
        while let Some(entry) = entries.try_next().await.map_err(RecordError::unavailable)? {
            // Skips unreadable records, because their subscribers receive no mail.
            outcomes
                .subscribers
                .extend(subscribers.record_of(&entry).ok().flatten());
        }
        let deliveries = open_bucket(context, DELIVERIES_BUCKET).await?;
        let reader = StreamReader::new(context, deliveries.stream.clone());
        let (mut entries, way) = (reader.all(), format!(".{SENDINGS_CONSUMER}"));
        while let Some(entry) = entries.try_next().await.map_err(RecordError::unavailable)? {
            let key = entry.subject.strip_prefix(&deliveries.prefix);
            let id: Option<Uuid> = key.and_then(|key| key.strip_suffix(&way)?.parse().ok());
            outcomes.records.extend(id.map(|id| (id, entry.payload)));
        }
        Ok(outcomes)
    }

    /// Figures of an issue, or `None` once its delivery records expire.
    pub fn figures(&self, progress: &IssueProgress) -> Option<Figures> {
        if OffsetDateTime::now_utc() - progress.requested > KNOWN_FOR {
            return None;
        }
        let issue = IssueId::named(&progress.name);
        let mut figures = Figures::default();
        for subscriber in self.subscribers.values() {
            let id = issue.sending_id(subscriber.subscription);
            if let Some(record) = self.records.get(&id) {
                *figures.of_record(record) += 1;
            }
        }
        for mail in self.in_progress.iter().filter(|mail| mail.issue == issue) {
            figures.in_hand += 1;
            figures.deferred += u64::from(mail.is_deferred);
        }
        Some(figures)
    }

    /// Rejected mails to current subscribers, ready to be sent again.
    pub fn refused(&self, progress: &IssueProgress) -> Vec<Sending> {
        let issue = IssueId::named(&progress.name);
        let reached = self
            .subscribers
            .iter()
            .filter(|(_, subscriber)| subscriber.reached_at(progress.requested).is_ok());
        let sendings = reached.map(|(person, subscriber)| Sending {
            id: issue.sending_id(subscriber.subscription),
            subject: person.clone(),
            requestid: issue.to_string(),
            issue,
            test: None,
        });
        let is_refused = |sending: &Sending| {
            let record = self.records.get(&sending.id);
            record.is_some_and(|record| record.starts_with(REFUSED.as_bytes()))
        };
        sendings.filter(is_refused).collect()
    }
}

impl Figures {
    /// Counter for a delivery record. The record of an unsent mail begins with the reason.
    fn of_record(&mut self, record: &[u8]) -> &mut u64 {
        match record.split(|byte| *byte == b' ').next() {
            Some(b"left") => &mut self.left,
            Some(b"bounced") => &mut self.bounced,
            Some(b"refused") => &mut self.refused,
            Some(b"given-up") => &mut self.given_up,
            _ => &mut self.sent,
        }
    }
}

async fn in_progress(context: &Context) -> Result<Vec<MailInProgress>, RecordError> {
    let stream = context.get_stream(SENDINGS_STREAM).await;
    let stream = stream.map_err(RecordError::unavailable)?;
    let consumer = stream.get_consumer(SENDINGS_CONSUMER).await;
    let consumer: PullConsumer = consumer.map_err(RecordError::unavailable)?;
    let last_delivered = consumer.cached_info().delivered.stream_sequence;
    let reader = StreamReader::new(context, stream);
    let (mut mails, mut in_progress, now) = (reader.all(), Vec::new(), OffsetDateTime::now_utc());
    while let Some(mail) = mails.try_next().await.map_err(RecordError::unavailable)? {
        if mail.sequence > last_delivered {
            break;
        }
        if let Ok(Sending { issue, .. }) = serde_json::from_slice(&mail.payload) {
            in_progress.push(MailInProgress {
                issue,
                is_deferred: now - mail.time > DEFERRED_AFTER,
            });
        }
    }
    Ok(in_progress)
}
