//! Idempotent delivery: KV bucket of delivery records, so that a redelivered event is sent once.

use std::{
    borrow::Cow,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
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
    BUNDLED, CircuitBreaker, DELIVERIES_BUCKET, DIGEST_CONSUMER, Delivery, GIVEN_UP_SUFFIX, WITHHELD,
    buckets::{open_expiring_bucket, read_value},
};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::Uuid;

use super::{claims::Claims, unavailable::Unavailable, under_way::UnderWay};

/// How a record is tried to be written: with jitter at most 5 s apart, and without end.
const RECORD_RETRIES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(250))
    .with_max_delay(Duration::from_millis(2500))
    .with_jitter()
    .without_max_times();
/// How long it holds what was read of a record: no broker is started anew within it, and hands the event to another notifier.
const READ_HOLDS: Duration = Duration::from_millis(50);
/// How long until a record that still cannot be written is spoken of again.
const REMINDER_INTERVAL: Duration = Duration::from_secs(15 * 60);

/// The bucket of delivery records.
#[derive(Clone)]
pub struct Deliveries {
    bucket: Store,
    claims: Arc<Claims>,
    breaker: Arc<CircuitBreaker>,
    under_way: Arc<UnderWay>,
}

/// What came of sending.
#[derive(Debug, PartialEq, Eq)]
pub enum Handover {
    /// The receiver has it now.
    Sent,
    /// The receiver has it now, in one mail with others.
    Bundled,
    /// Another notifier had delivered it before.
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
            Self::Refused => "refused",
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

/// A delivery without a record. Whoever sends it asks again after everything that it waited for: another notifier may have delivered
/// it meanwhile (see [`Claims`]).
#[derive(Clone)]
pub struct Unsent<'a> {
    deliveries: Cow<'a, Deliveries>,
    delivery: Cow<'a, Delivery>,
    read_at: Instant,
    /// The revision of the claim; 0 as long as there is none.
    claim: Arc<AtomicU64>,
}

impl Unsent<'_> {
    /// The delivery itself.
    pub fn delivery(&self) -> &Delivery {
        &self.delivery
    }

    /// The same for whoever sends it together with others.
    pub fn into_owned(self) -> Unsent<'static> {
        Unsent {
            deliveries: Cow::Owned(self.deliveries.into_owned()),
            delivery: Cow::Owned(self.delivery.into_owned()),
            read_at: self.read_at,
            claim: self.claim,
        }
    }

    /// Whether it was begun so short a time before that nothing became of it meanwhile.
    pub fn is_fresh(&self) -> bool {
        let claims = &self.deliveries.claims;
        !claims.are_needed(&self.delivery, self.read_at) && self.read_at.elapsed() < READ_HOLDS
    }

    /// Whether there is still no record. Where another notifier may have the event, too, it is claimed first.
    ///
    /// # Errors
    ///
    /// If the record cannot be read, or another notifier has claimed it.
    pub async fn is_still(&self) -> Result<bool, Unavailable> {
        let (deliveries, delivery) = (&self.deliveries, &self.delivery);
        if deliveries.claims.are_needed(delivery, self.read_at) {
            let claim = deliveries.claim(delivery).await?;
            self.claim.store(claim, Ordering::Relaxed);
        } else if self.read_at.elapsed() < READ_HOLDS {
            return Ok(true);
        }
        Ok(!deliveries.contains(&delivery.key(), delivery).await?)
    }
}

fn log_before(handover: Handover) -> Handover {
    tracing::info!("delivered before; nothing sent");
    handover
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
            claims: Arc::new(Claims::new(context, bucket.clone())),
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
    pub async fn deliver_once<'a, E: From<Unavailable>, Sending: Future<Output = Result<Handover, E>>>(
        &'a self,
        delivery: &'a Delivery,
        send: impl FnOnce(Unsent<'a>) -> Sending,
    ) -> Result<Handover, E> {
        let key = delivery.key();
        let _turn = self.under_way.turn(&key).await;
        let read_at = Instant::now();
        if let Some(record) = self.find(&key, delivery).await? {
            let before = NotSent::of_record(&record).map_or(Handover::Before, Handover::Decided);
            return Ok(log_before(before));
        }
        let claim = Arc::<AtomicU64>::default();
        let unsent = Unsent {
            deliveries: Cow::Borrowed(self),
            delivery: Cow::Borrowed(delivery),
            read_at,
            claim: claim.clone(),
        };
        let sent = send(unsent).await;
        let claim = claim.load(Ordering::Relaxed);
        if sent.is_err() && claim > 0 {
            self.claims.release(delivery, claim).await;
        }
        let handover = sent?;
        let state = match handover {
            Handover::Before | Handover::Decided(_) => return Ok(log_before(handover)),
            Handover::Erased => {
                tracing::info!("the event was erased meanwhile; nothing sent");
                return Ok(handover);
            }
            Handover::Bundled => {
                tracing::info!("sent in one mail with others");
                Some(BUNDLED)
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

    /// Claims the delivery for this notifier; gives the claim's revision.
    async fn claim(&self, delivery: &Delivery) -> Result<u64, Unavailable> {
        let claiming = self.claims.claim(delivery);
        let claimed = self.breaker.call(delivery, claiming, |_| true).await;
        let claimed = claimed.map_err(|error| Unavailable::of_call(DELIVERIES_BUCKET, &error))?;
        claimed.ok_or_else(|| Unavailable::claimed(delivery.ack_wait))
    }

    /// Whether there is a delivery record.
    async fn contains(&self, key: &str, delivery: &Delivery) -> Result<bool, Unavailable> {
        Ok(self.find(key, delivery).await?.is_some())
    }

    /// The delivery record, where there is one.
    async fn find(&self, key: &str, delivery: &Delivery) -> Result<Option<Bytes>, Unavailable> {
        let reading = read_value(&self.bucket, key);
        let record = self.breaker.call(delivery, reading, |_| true).await;
        record.map_err(|error| Unavailable::of_call(DELIVERIES_BUCKET, &error))
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

/// Under which key it is recorded that a delivery is given up. No consumer's name ends so.
fn given_up_key(delivery_key: &str) -> String {
    format!("{delivery_key}{GIVEN_UP_SUFFIX}")
}
