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
use site_broker::{
    DELIVERIES_BUCKET, Delivery, Failure, GIVEN_UP_SUFFIX, REFUSED, WITHHELD,
    buckets::{open_bucket, read_value},
};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::Uuid;

use super::under_way::UnderWay;

/// How a record is tried to be written: with jitter at most 5 s apart, and without end.
const RECORD_RETRIES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(250))
    .with_max_delay(Duration::from_millis(2500))
    .with_jitter()
    .without_max_times();
/// How long until a record that still cannot be written is spoken of again.
const REMINDER_INTERVAL: Duration = Duration::from_secs(15 * 60);

/// The bucket of delivery records.
#[derive(Clone)]
pub struct Deliveries {
    bucket: Store,
    under_way: Arc<UnderWay>,
}

/// What came of sending.
#[derive(Debug, PartialEq, Eq)]
pub enum Handover {
    /// The receiver has it now.
    Sent,
    /// The event was erased before it was sent: nothing may be kept of it.
    Erased,
    /// The receiver is not to have it, or cannot, and it is not tried again.
    NotSent(NotSent),
}

/// Why a mail is not sent any more.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotSent {
    /// The visitor got as many mails of its kind in a day as one may get.
    Withheld,
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
    /// The word for it in the delivery record, which the log has, too.
    fn word(self) -> &'static str {
        match self {
            Self::Withheld => WITHHELD,
            Self::Left => "left",
            Self::Bounced => "bounced",
            Self::Refused => REFUSED,
            Self::GivenUp => "given-up",
        }
    }
}

/// Which deliveries of the past are repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Repeat {
    /// None.
    Never,
    /// Those that the mail server refused.
    Refused,
}

impl Deliveries {
    /// Opens the bucket.
    ///
    /// # Errors
    ///
    /// If it is not there, or the broker does not answer.
    pub async fn open(context: &Context) -> anyhow::Result<Self> {
        Ok(Self {
            bucket: open_bucket(context, DELIVERIES_BUCKET).await?,
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
    pub async fn deliver_once<E: From<Failure>, Sending: Future<Output = Result<Handover, E>>>(
        &self,
        delivery: &Delivery,
        repeat: Repeat,
        send: impl FnOnce() -> Sending,
    ) -> Result<(), E> {
        let key = delivery.key();
        let _turn = self.under_way.turn(&key).await;
        if let Some(record) = self.find(&key).await?
            && (repeat == Repeat::Never || !record.starts_with(REFUSED.as_bytes()))
        {
            tracing::info!("delivered before; nothing sent");
            return Ok(());
        }
        let handover = send().await?;
        let time = OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default();
        let record = match handover {
            Handover::Erased => {
                tracing::info!("the event was erased meanwhile; nothing sent");
                return Ok(());
            }
            Handover::Sent => {
                tracing::info!("sent");
                time
            }
            Handover::NotSent(why) => {
                tracing::info!(reason = why.word(), "not sent, and not tried again");
                format!("{} {time}", why.word())
            }
        };
        Ok(self.record(&key, record.into()).await?)
    }

    /// Whether this event was done with at a consumer, delivered or given up.
    ///
    /// # Errors
    ///
    /// If a record cannot be read.
    pub async fn is_done(&self, event: Uuid, consumer: &str) -> Result<bool, Failure> {
        let delivered = format!("{event}.{consumer}");
        Ok(self.find(&delivered).await?.is_some() || self.find(&given_up_key(&delivered)).await?.is_some())
    }

    /// Records that a delivery becomes a dead letter, for those that wait for what comes of it. It says nothing of a replay, which is
    /// delivered as if there were none.
    ///
    /// # Errors
    ///
    /// If the broker did not store it.
    pub async fn record_given_up(&self, delivery: &Delivery) -> Result<(), Failure> {
        let time = OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default();
        let noted = self.bucket.put(given_up_key(&delivery.key()), time.into()).await;
        noted.map(drop).map_err(unavailable)
    }

    /// The delivery record, where there is one.
    async fn find(&self, key: &str) -> Result<Option<Bytes>, Failure> {
        read_value(&self.bucket, key).await.map_err(unavailable)
    }

    /// Writes the delivery record: when the receiver got it, or when it was decided otherwise. Ends when it is written.
    async fn record(&self, key: &str, record: Bytes) -> Result<(), Failure> {
        let mut told: Option<Instant> = None;
        let put = || self.bucket.put(key, record.clone());
        let written = put
            .retry(RECORD_RETRIES)
            .notify(|error: &PutError, _pause| {
                if told.is_none_or(|told| told.elapsed() >= REMINDER_INTERVAL) {
                    told = Some(Instant::now());
                    tracing::error!(%error, "what was sent is not noted yet; if this process ends before it is, it will be sent again");
                }
            });
        written.await.map(drop).map_err(unavailable)
    }
}

fn unavailable(error: impl std::fmt::Display) -> Failure {
    Failure::of_store(DELIVERIES_BUCKET, error)
}

/// Under which key it is recorded that a delivery is given up. No consumer's name ends so.
fn given_up_key(delivery_key: &str) -> String {
    format!("{delivery_key}{GIVEN_UP_SUFFIX}")
}
