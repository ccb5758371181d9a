//! Whom an issue reaches: how many of the subscribers, how many not, and why.

use async_nats::jetstream::Context;
use futures_util::TryStreamExt as _;
use issues::PassedOver;
use serde::Serialize;
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
            match serde_json::from_slice::<Subscriber>(&record.payload) {
                Ok(subscriber) => reach.count(&subscriber, now),
                Err(_) => reach.not_reached.count(NotReached::Unreadable),
            }
        }
        Ok(reach)
    }

    fn count(&mut self, subscriber: &Subscriber, now: OffsetDateTime) {
        match subscriber.reached_at(now) {
            Ok(_) => self.reached += 1,
            Err(why) => self.not_reached.count(why),
        }
    }

    /// The same for people.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("It goes to {}.", people(self.reached))];
        lines.extend(not_reached_lines(&self.not_reached));
        lines
    }
}

/// To whom it does not go, and why.
pub fn not_reached_lines(not_reached: &PassedOver) -> Vec<String> {
    let PassedOver {
        pending,
        unsubscribed,
        suppressed,
        later,
        unreadable,
    } = *not_reached;
    let reasons = [
        (pending, "have not confirmed"),
        (unsubscribed, "left"),
        (suppressed, "are suppressed: mails come back"),
        (later, "confirmed after it was asked for"),
        (unreadable, "have a record that cannot be read"),
    ];
    let reasons = reasons.into_iter().filter(|(count, _)| *count > 0);
    reasons
        .map(|(count, why)| format!("Not to {count} who {why}."))
        .collect()
}

fn people(count: u64) -> String {
    if count == 1 {
        "1 subscriber".to_owned()
    } else {
        format!("{count} subscribers")
    }
}
