//! Idempotent delivery: KV bucket of delivery records, so that a redelivered event is sent once.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use async_nats::jetstream::{
    Context,
    kv::{PutError, Store},
};
use backon::{ExponentialBuilder, Retryable};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use site_broker::{
    CircuitBreaker, DELIVERIES_BUCKET, DIGEST_CONSUMER, Delivery, FAILURES_SUFFIX, GIVEN_UP_SUFFIX,
    MAX_ASKED_PAUSE, REFUSED, WITHHELD,
    buckets::{BucketEntry, open_expiring_bucket, read_entry, read_value, write_entry},
};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::Uuid;

use super::{unavailable::Unavailable, under_way::UnderWay};

/// How a record is tried to be written: with jitter at most 5 s apart, and without end.
const RECORD_RETRIES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(250))
    .with_max_delay(Duration::from_millis(2500))
    .with_jitter()
    .without_max_times();
/// How long failures are remembered after the last one: longer than the longest pause.
const FAILURES_LIFETIME: Duration = MAX_ASKED_PAUSE.saturating_mul(2);
/// How long until a record that still cannot be written is spoken of again.
const REMINDER_INTERVAL: Duration = Duration::from_secs(15 * 60);

/// The bucket of delivery records.
#[derive(Clone)]
pub struct Deliveries {
    context: Context,
    bucket: Store,
    breaker: Arc<CircuitBreaker>,
    under_way: Arc<UnderWay>,
}

/// What came of sending.
#[derive(Debug, PartialEq, Eq)]
pub enum Handover {
    /// The receiver has it now.
    Sent,
    /// It was delivered before.
    Before,
    /// It was decided before that the receiver is not to have it, or cannot.
    Decided(NotSent),
    /// The event was erased before it was sent: nothing may be kept of it.
    Erased,
    /// The receiver is not to have it: too many went there within a day.
    Withheld,
    /// The receiver is not to have it, or cannot, and it is not tried again.
    NotSent(NotSent),
}

/// Why a mail of the newsletter is not sent any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotSent {
    /// The subscriber left meanwhile.
    Left,
    /// The address does not exist.
    Bounced,
    /// The mail server will never take it, for another reason.
    Refused,
    /// It was not taken for as long as it is tried.
    GivenUp,
}

impl NotSent {
    const ALL: [Self; 4] = [Self::Left, Self::Bounced, Self::Refused, Self::GivenUp];

    /// The word for it in the delivery record, which the log has, too.
    fn word(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Bounced => "bounced",
            Self::Refused => REFUSED,
            Self::GivenUp => "given-up",
        }
    }

    fn logged(self) -> &'static str {
        tracing::info!(reason = self.word(), "not sent, and not tried again");
        self.word()
    }

    /// What a delivery record says, if it is of a mail that was not sent.
    fn of_record(record: &[u8]) -> Option<Self> {
        let (word, _time) = str::from_utf8(record).ok()?.split_once(' ')?;
        Self::ALL.into_iter().find(|why| why.word() == word)
    }
}

/// The operator's last mail.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct LastDigest {
    /// The dead letters that it tells of, by their numbers.
    pub numbers: Vec<u64>,
    /// Whether the mail server has it; without that it may or may not.
    pub sent: bool,
}

impl LastDigest {
    fn to_json(&self) -> Bytes {
        serde_json::to_vec(self).expect("numbers are plain values").into()
    }
}

impl Deliveries {
    /// Opens the bucket.
    ///
    /// # Errors
    ///
    /// If it is not there, or the broker does not answer.
    pub async fn open(context: &Context) -> anyhow::Result<Self> {
        let bucket = open_expiring_bucket(context, DELIVERIES_BUCKET).await?;
        Ok(Self {
            context: context.clone(),
            bucket,
            breaker: Arc::new(CircuitBreaker::new("deliveries-bucket")),
            under_way: Arc::default(),
        })
    }

    /// Runs `send` unless a delivery record exists (idempotency), then holds the event until the record is written:
    /// meanwhile only this process knows that it was sent, and nobody else may be handed it. One that comes again to
    /// this process waits for what comes of the first.
    ///
    /// # Errors
    ///
    /// If `send` fails, or the record cannot be read.
    pub async fn deliver_once<E: From<Unavailable>, Sending: Future<Output = Result<Handover, E>>>(
        &self,
        delivery: &Delivery,
        send: impl FnOnce() -> Sending,
    ) -> Result<Handover, E> {
        self.deliver_unsent(delivery, false, send).await
    }

    /// The same once more for a mail that the mail server refused.
    ///
    /// # Errors
    ///
    /// As [`Self::deliver_once`].
    pub async fn repeat_refused<E: From<Unavailable>, Sending: Future<Output = Result<Handover, E>>>(
        &self,
        delivery: &Delivery,
        send: impl FnOnce() -> Sending,
    ) -> Result<Handover, E> {
        self.deliver_unsent(delivery, true, send).await
    }

    async fn deliver_unsent<E: From<Unavailable>, Sending: Future<Output = Result<Handover, E>>>(
        &self,
        delivery: &Delivery,
        repeats_refused: bool,
        send: impl FnOnce() -> Sending,
    ) -> Result<Handover, E> {
        let key = delivery.key();
        let _turn = self.under_way.turn(&key).await;
        let record = self.find(&key, delivery).await?;
        let is_repeated =
            |record: &Bytes| repeats_refused && NotSent::of_record(record) == Some(NotSent::Refused);
        let handover = match record.filter(|record| !is_repeated(record)) {
            None => send().await?,
            Some(record) => NotSent::of_record(&record).map_or(Handover::Before, Handover::Decided),
        };
        let state = match handover {
            Handover::Before | Handover::Decided(_) => {
                tracing::info!("delivered before; nothing sent");
                return Ok(handover);
            }
            Handover::Erased => {
                tracing::info!("the event was erased meanwhile; nothing sent");
                return Ok(handover);
            }
            Handover::Sent => {
                tracing::info!("sent");
                None
            }
            Handover::Withheld => {
                tracing::info!(
                    "withheld: this visitor got as many mails of its kind in a day as one may get"
                );
                Some(WITHHELD)
            }
            Handover::NotSent(why) => Some(why.logged()),
        };
        self.record(&key, state, OffsetDateTime::now_utc()).await?;
        Ok(handover)
    }

    /// The operator's last mail.
    ///
    /// # Errors
    ///
    /// If the broker does not answer, or the record cannot be read.
    pub async fn last_digest(&self) -> Result<LastDigest, Unavailable> {
        let away = |error: &dyn std::fmt::Display| Unavailable::new(DELIVERIES_BUCKET, error);
        let noted = read_value(&self.bucket, DIGEST_CONSUMER)
            .await
            .map_err(|error| away(&error))?;
        noted.map_or(Ok(LastDigest::default()), |noted| {
            serde_json::from_slice(&noted).map_err(|error| away(&error))
        })
    }

    /// Records the operator's mail before it is sent.
    ///
    /// # Errors
    ///
    /// If the broker did not store it.
    pub async fn record_digest(&self, digest: &LastDigest) -> Result<(), Unavailable> {
        let noted = self.bucket.put(DIGEST_CONSUMER, digest.to_json()).await;
        noted
            .map(drop)
            .map_err(|error| Unavailable::new(DELIVERIES_BUCKET, &error))
    }

    /// Records that the operator's mail was sent. Ends when it is written: until then only this process knows.
    ///
    /// # Errors
    ///
    /// None that is known: it is tried again without end.
    pub async fn record_sent_digest(&self, digest: &LastDigest) -> Result<(), Unavailable> {
        self.put_until_written(DIGEST_CONSUMER, digest.to_json()).await
    }

    /// When this event was done with at a consumer, delivered or given up; none while it is not.
    ///
    /// # Errors
    ///
    /// If a record cannot be read.
    pub async fn done_at(
        &self,
        event: Uuid,
        consumer: &str,
        waiting: &Delivery,
    ) -> Result<Option<OffsetDateTime>, Unavailable> {
        let delivered = format!("{event}.{consumer}");
        for key in [delivered.clone(), given_up_key(&delivered)] {
            if let Some(record) = self.find(&key, waiting).await? {
                return Ok(Some(time_of_record(&record)));
            }
        }
        Ok(None)
    }

    /// Records that a delivery becomes a dead letter, for those that wait for what comes of it. It says nothing of a replay, which is
    /// delivered as if there were none.
    ///
    /// # Errors
    ///
    /// If the broker did not store it.
    pub async fn record_given_up(&self, delivery: &Delivery) -> Result<(), Unavailable> {
        let time = OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default();
        let noted = self.bucket.put(given_up_key(&delivery.key()), time.into()).await;
        noted
            .map(drop)
            .map_err(|error| Unavailable::new(DELIVERIES_BUCKET, &error))
    }

    /// Counts one more failure of a delivery, and says how many those are now. An attempt at which it waited is none; a replay has none.
    ///
    /// # Errors
    ///
    /// If the count cannot be read or stored.
    pub async fn count_failure(&self, delivery: &Delivery) -> Result<u32, Unavailable> {
        let key = format!("{}{FAILURES_SUFFIX}", delivery.key());
        let entry = self.entry(&key, delivery).await?;
        let failures = failures_in(entry.value.as_deref(), delivery.sequence).saturating_add(1);
        let value = format!("{} {failures}", delivery.sequence).into();
        let lifetime = Some(FAILURES_LIFETIME);
        write_entry(
            &self.context,
            &self.bucket,
            &key,
            &value,
            entry.revision,
            lifetime,
        )
        .await
        .map_err(|error| Unavailable::new(DELIVERIES_BUCKET, &error))?;
        Ok(failures)
    }

    /// The delivery record, where there is one.
    async fn find(&self, key: &str, delivery: &Delivery) -> Result<Option<Bytes>, Unavailable> {
        Ok(self.entry(key, delivery).await?.value)
    }

    async fn entry(&self, key: &str, delivery: &Delivery) -> Result<BucketEntry, Unavailable> {
        let reading = read_entry(&self.bucket, key);
        let entry = self.breaker.call(delivery, reading, |_| true).await;
        entry.map_err(|error| Unavailable::of_call(DELIVERIES_BUCKET, &error))
    }

    /// Writes the delivery record: when the receiver got it, or when it was decided otherwise. Ends when it is written.
    async fn record(&self, key: &str, state: Option<&str>, now: OffsetDateTime) -> Result<(), Unavailable> {
        let time = now.format(&Rfc3339).unwrap_or_default();
        let record = state.map_or_else(|| time.clone(), |state| format!("{state} {time}"));
        self.put_until_written(key, record.into()).await
    }

    async fn put_until_written(&self, key: &str, value: Bytes) -> Result<(), Unavailable> {
        let mut told: Option<Instant> = None;
        let put = || self.bucket.put(key, value.clone());
        let written = put
            .retry(RECORD_RETRIES)
            .notify(|error: &PutError, _pause| {
                if told.is_none_or(|told| told.elapsed() >= REMINDER_INTERVAL) {
                    told = Some(Instant::now());
                    tracing::error!(%error, "what was sent is not noted yet; if this process ends before it is, it will be sent again");
                }
            });
        let written = written.await;
        written
            .map(drop)
            .map_err(|error| Unavailable::new(DELIVERIES_BUCKET, &error))
    }
}

/// When a record was written, which its last word says.
fn time_of_record(record: &[u8]) -> OffsetDateTime {
    let time = str::from_utf8(record)
        .ok()
        .and_then(|record| record.split(' ').next_back());
    let time = time.and_then(|time| OffsetDateTime::parse(time, &Rfc3339).ok());
    time.unwrap_or(OffsetDateTime::UNIX_EPOCH)
}

/// How many failures a count tells of; those under another sequence are of the event before it was replayed.
fn failures_in(count: Option<&[u8]>, sequence: u64) -> u32 {
    let words = count.and_then(|count| str::from_utf8(count).ok()?.split_once(' '));
    let of_this = words.filter(|(of, _)| of.parse() == Ok(sequence));
    of_this
        .and_then(|(_, failures)| failures.parse().ok())
        .unwrap_or_default()
}

/// Under which key it is recorded that a delivery is given up. No consumer's name ends so.
fn given_up_key(delivery_key: &str) -> String {
    format!("{delivery_key}{GIVEN_UP_SUFFIX}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted_for_one_message_of_an_event() {
        assert_eq!(failures_in(Some(b"17 3"), 17), 3);
        for none in [
            None,
            Some(&b"16 3"[..]),
            Some(b"17"),
            Some(b"17 many"),
            Some(b"\xff 3"),
        ] {
            assert_eq!(failures_in(none, 17), 0, "{none:?}");
        }
    }
}
