//! Whom an issue reaches: how many of the subscribers, how many not, and why.

use async_nats::jetstream::Context;
use futures_util::TryStreamExt as _;
use issues::PassedOver;
use serde::Serialize;
use serde_json::json;
use site_broker::SUBSCRIBERS_BUCKET;
use subscribers::{Subscriber, audience::NotReached};
use time::OffsetDateTime;

use crate::broker::BucketReader;

/// How many.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reach {
    /// To whom it goes.
    pub reached: u64,
    /// To whom it does not.
    pub not_reached: PassedOver,
}

impl Reach {
    /// Whom an issue reaches that is asked for now.
    ///
    /// # Errors
    ///
    /// If the broker does not answer.
    pub async fn of_now(context: &Context, now: OffsetDateTime) -> anyhow::Result<Self> {
        let bucket = BucketReader::open(context, SUBSCRIBERS_BUCKET).await?;
        let mut records = bucket.records();
        let mut reach = Self::default();
        while let Some(record) = records.try_next().await? {
            if record.payload.is_empty() {
                continue;
            }
            let subscriber: Result<Subscriber, _> = serde_json::from_slice(&record.payload);
            let reached = subscriber.map(|subscriber| subscriber.reached_at(now).map(drop));
            match reached.unwrap_or(Err(NotReached::Unreadable)) {
                Ok(()) => reach.reached += 1,
                Err(why) => reach.not_reached.count(why),
            }
        }
        Ok(reach)
    }

    /// The same for people.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("Subscribers that it goes to: {}.", self.reached)];
        lines.extend(not_reached_line(&self.not_reached));
        lines
    }
}

/// To whom it does not go, and why, where there is anybody.
pub fn not_reached_line(not_reached: &PassedOver) -> Option<String> {
    let reasons = json!(not_reached);
    let reasons = reasons.as_object().into_iter().flatten();
    let reasons = reasons.filter(|(_, count)| **count != 0);
    let reasons: Vec<String> = reasons.map(|(why, count)| format!("{count} {why}")).collect();
    (!reasons.is_empty()).then(|| format!("Not reached: {}.", reasons.join(", ")))
}
