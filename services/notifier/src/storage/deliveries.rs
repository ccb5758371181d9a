//! Idempotent delivery: a KV bucket of delivery records, so that a redelivered event is sent once.

use std::{mem, sync::Arc, time::Duration};

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

use super::in_progress::InProgress;

/// Endless retries of a record's write, up to 5 s apart.
const RECORD_RETRIES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(250))
    .with_max_delay(Duration::from_millis(2500))
    .with_jitter()
    .without_max_times();

#[derive(Clone)]
pub struct Deliveries {
    bucket: Store,
    in_progress: Arc<InProgress>,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Handover {
    Sent,
    /// The event was erased before sending, so no record may be stored.
    Erased,
    /// The mail is never sent.
    NotSent(NotSent),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NotSent {
    /// The visitor reached the daily limit of this kind.
    Withheld,
    Left,
    Bounced,
    /// The mail server rejected the mail for another reason than its address.
    Refused,
    /// All retries failed.
    Abandoned,
}

impl NotSent {
    fn word(self) -> &'static str {
        match self {
            Self::Withheld => WITHHELD,
            Self::Left => "left",
            Self::Bounced => "bounced",
            Self::Refused => REFUSED,
            Self::Abandoned => "given-up",
        }
    }
}

impl Deliveries {
    pub async fn open(context: &Context) -> anyhow::Result<Self> {
        Ok(Self {
            bucket: open_bucket(context, DELIVERIES_BUCKET).await?,
            in_progress: Arc::default(),
        })
    }

    /// Runs `send` unless a delivery record exists. Holds the event until the record is written, because
    /// another process would otherwise send it again. Duplicates in this process wait for the first delivery. A
    /// record of a rejected mail does not prevent a new attempt (`sitectl newsletter send --refused`).
    pub async fn deliver_once<E: From<Failure>, Sending: Future<Output = Result<Handover, E>>>(
        &self,
        delivery: &Delivery,
        send: impl FnOnce() -> Sending,
    ) -> Result<(), E> {
        let key = delivery.key();
        let _turn = self.in_progress.turn(&key).await;
        if let Some(record) = self.find(&key).await?
            && !record.starts_with(REFUSED.as_bytes())
        {
            tracing::info!("already delivered; nothing sent");
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
                tracing::info!(reason = why.word(), "not sent, and not retried");
                format!("{} {time}", why.word())
            }
        };
        Ok(self.record(&key, record.into()).await?)
    }

    /// Whether the event was delivered to a consumer or dead-lettered.
    pub async fn is_done(&self, event: Uuid, consumer: &str) -> Result<bool, Failure> {
        let delivered = format!("{event}.{consumer}");
        Ok(
            self.find(&delivered).await?.is_some()
                || self.find(&dead_letter_key(&delivered)).await?.is_some(),
        )
    }

    /// Records a dead letter, so that it does not block the person's later events. Replays ignore this
    /// record.
    pub async fn record_dead_letter(&self, delivery: &Delivery) -> Result<(), Failure> {
        let time = OffsetDateTime::now_utc().format(&Rfc3339).unwrap_or_default();
        let key = dead_letter_key(&delivery.key());
        let written = self.bucket.put(key, time.into()).await;
        written.map(drop).map_err(unavailable)
    }

    async fn find(&self, key: &str) -> Result<Option<Bytes>, Failure> {
        read_value(&self.bucket, key).await.map_err(unavailable)
    }

    /// Writes the delivery record; retries until it is stored.
    async fn record(&self, key: &str, record: Bytes) -> Result<(), Failure> {
        let mut is_logged = false;
        let put = || self.bucket.put(key, record.clone());
        let written = put
            .retry(RECORD_RETRIES)
            .notify(|error: &PutError, _pause| {
                if !mem::replace(&mut is_logged, true) {
                    tracing::error!(%error, "the record of a delivery cannot be written yet; if this process ends first, the delivery is repeated");
                }
            });
        written.await.map(drop).map_err(unavailable)
    }
}

fn unavailable(error: impl std::fmt::Display) -> Failure {
    Failure::of_store(DELIVERIES_BUCKET, error)
}

/// Key of the dead-letter record. It equals no delivery's key, because no consumer's name ends in this suffix.
fn dead_letter_key(delivery_key: &str) -> String {
    format!("{delivery_key}{GIVEN_UP_SUFFIX}")
}
