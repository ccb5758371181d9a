//! Idempotent delivery: KV bucket of delivery records, so that a redelivered event is sent once.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use async_nats::jetstream::{Context, kv::Store};
use serde::{Deserialize, Serialize};
use site_broker::{DELIVERIES_BUCKET, DIGEST_CONSUMER, Delivery};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::unavailable::Unavailable;

/// How often a record is tried to be written, a second apart, before the event is left to
/// come again.
const ATTEMPTS: u32 = 5;

/// The bucket of delivery records.
#[derive(Clone)]
pub struct Deliveries {
    bucket: Store,
    /// What this process sent and could not record yet.
    unrecorded: Arc<Mutex<HashSet<String>>>,
}

/// The operator's last mail.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct LastDigest {
    /// The dead letters that it tells of, by their numbers.
    pub numbers: Vec<u64>,
    /// Whether the mail server has it; without that it may or may not.
    pub sent: bool,
}

impl Deliveries {
    /// Opens the bucket.
    ///
    /// # Errors
    ///
    /// If it is not there, or the broker does not answer.
    pub async fn open(context: &Context) -> anyhow::Result<Self> {
        let opened = context.get_key_value(DELIVERIES_BUCKET).await;
        let bucket = opened.map_err(|error| {
            anyhow::anyhow!("bucket {DELIVERIES_BUCKET} cannot be opened ({error}); run `sitectl setup`")
        })?;
        Ok(Self {
            bucket,
            unrecorded: Arc::default(),
        })
    }

    /// Runs `send` unless a delivery record exists (idempotency), then writes the record. Where it cannot be written, the
    /// event must come again, and is then recorded instead of sent.
    ///
    /// # Errors
    ///
    /// If `send` fails, or the record cannot be read or written.
    pub async fn deliver_once<E: From<Unavailable>>(
        &self,
        delivery: &Delivery,
        send: impl Future<Output = Result<(), E>>,
    ) -> Result<(), E> {
        let key = format!("{}.{}", delivery.event_id, delivery.consumer);
        if !self.unrecorded().contains(&key) {
            if self.contains(&key).await? {
                tracing::info!("delivered before; nothing sent");
                return Ok(());
            }
            send.await?;
            tracing::info!("sent");
            self.unrecorded().insert(key.clone());
        }
        if let Err(error) = self.record(&key, OffsetDateTime::now_utc()).await {
            tracing::error!(%error, "what was sent is not noted yet; if this process ends before it is, it will be sent again");
            return Err(error.into());
        }
        self.unrecorded().remove(&key);
        Ok(())
    }

    /// The operator's last mail.
    ///
    /// # Errors
    ///
    /// If the broker does not answer, or the record cannot be read.
    pub async fn last_digest(&self) -> Result<LastDigest, Unavailable> {
        let away = |error: &dyn std::fmt::Display| Unavailable::new(DELIVERIES_BUCKET, error);
        let noted = self
            .bucket
            .get(DIGEST_CONSUMER)
            .await
            .map_err(|error| away(&error))?;
        noted.map_or(Ok(LastDigest::default()), |noted| {
            serde_json::from_slice(&noted).map_err(|error| away(&error))
        })
    }

    /// Records the operator's mail before it is sent, and again once it is.
    ///
    /// # Errors
    ///
    /// If the broker did not store it.
    pub async fn record_digest(&self, digest: &LastDigest) -> Result<(), Unavailable> {
        let value = serde_json::to_vec(digest).expect("numbers are plain values");
        let noted = self.bucket.put(DIGEST_CONSUMER, value.into()).await;
        noted
            .map(drop)
            .map_err(|error| Unavailable::new(DELIVERIES_BUCKET, &error))
    }

    /// Whether there is a delivery record.
    async fn contains(&self, key: &str) -> Result<bool, Unavailable> {
        let record = self.bucket.get(key).await;
        record
            .map(|record| record.is_some())
            .map_err(|error| Unavailable::new(DELIVERIES_BUCKET, &error))
    }

    /// Writes the delivery record: that the receiver has it, and when.
    async fn record(&self, key: &str, now: OffsetDateTime) -> Result<(), Unavailable> {
        let time = now.format(&Rfc3339).unwrap_or_default();
        let mut result = Ok(());
        for attempt in 1..=ATTEMPTS {
            match self.bucket.put(key, time.clone().into()).await {
                Ok(_) => return Ok(()),
                Err(error) => result = Err(Unavailable::new(DELIVERIES_BUCKET, &error)),
            }
            if attempt < ATTEMPTS {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
        result
    }

    fn unrecorded(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.unrecorded.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
