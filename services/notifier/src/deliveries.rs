//! What was already delivered, so that an event that comes twice is mailed once.

use std::time::Duration;

use async_nats::jetstream::{Context, kv::Store};
use site_events::{DELIVERIES, Delivery};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

/// How often a record is tried to be written, a second apart: without it the event, if
/// it should come again, would be mailed again.
const ATTEMPTS: u32 = 5;

/// The bucket of delivery records.
#[derive(Clone)]
pub struct Deliveries(Store);

/// A bucket cannot be used now.
#[derive(Debug, thiserror::Error)]
#[error("the bucket {bucket} is away: {reason}")]
pub struct Away {
    bucket: &'static str,
    reason: String,
}

impl Away {
    /// A bucket, and what was said when it was used.
    pub fn new(bucket: &'static str, reason: &dyn std::fmt::Display) -> Self {
        Self {
            bucket,
            reason: reason.to_string(),
        }
    }
}

impl Deliveries {
    /// Opens the bucket, which must be there.
    pub async fn open(context: &Context) -> anyhow::Result<Self> {
        let opened = context.get_key_value(DELIVERIES).await;
        opened.map(Self).map_err(|error| {
            anyhow::anyhow!("bucket {DELIVERIES} cannot be opened ({error}); run `sitectl setup`")
        })
    }

    /// Sends unless the receiver has it already, and notes that it does.
    pub async fn once<E: From<Away>>(
        &self,
        delivery: &Delivery,
        send: impl Future<Output = Result<(), E>>,
    ) -> Result<(), E> {
        if self.hold(delivery).await? {
            tracing::info!("delivered before; nothing sent");
            return Ok(());
        }
        send.await?;
        tracing::info!("sent");
        // It is out: whatever happens now, it was delivered.
        if let Err(error) = self.note(delivery, OffsetDateTime::now_utc()).await {
            tracing::error!(%error, "what was sent was not noted; if its event comes again, it will be sent again");
        }
        Ok(())
    }

    /// Whether the receiver has it already.
    async fn hold(&self, delivery: &Delivery) -> Result<bool, Away> {
        let record = self.0.get(key(delivery)).await;
        record
            .map(|record| record.is_some())
            .map_err(|error| Away::new(DELIVERIES, &error))
    }

    /// Notes that the receiver has it, and when.
    async fn note(&self, delivery: &Delivery, now: OffsetDateTime) -> Result<(), Away> {
        let time = now.format(&Rfc3339).unwrap_or_default();
        let mut result = Ok(());
        for attempt in 1..=ATTEMPTS {
            match self.0.put(key(delivery), time.clone().into()).await {
                Ok(_) => return Ok(()),
                Err(error) => result = Err(Away::new(DELIVERIES, &error)),
            }
            if attempt < ATTEMPTS {
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
        result
    }
}

fn key(delivery: &Delivery) -> String {
    format!("{}.{}", delivery.event_id, delivery.consumer)
}
