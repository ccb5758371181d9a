//! The part of `sitectl sweep` that removes addresses of people who left the newsletter.

use ::subscribers::{Retention, Subscriber, Subscribers};
use anyhow::Context as _;
use async_nats::{
    Client,
    jetstream::{self, message::StreamMessage},
};
use futures_util::TryStreamExt as _;
use site_broker::{RecordError, SUBSCRIBERS_BUCKET};
use time::OffsetDateTime;

use crate::{
    broker::{self, BucketReader},
    common_args::Mode,
};

/// Takes the address out of every record that needs none any more; gives of how many, or of how many it would. The newsletter service
/// does so itself when somebody leaves: these are records that it did not come to.
///
/// # Errors
///
/// If the broker does not answer; repeating it goes on from there. A record that is no subscriber's is left alone.
pub async fn forget_addresses(client: Client, now: OffsetDateTime, mode: Mode) -> anyhow::Result<u64> {
    let context = jetstream::new(client.clone());
    let bucket = BucketReader::open(&context, SUBSCRIBERS_BUCKET).await?;
    let subscribers = Subscribers::open(client).await?;
    let (mut forgotten, mut records) = (0, bucket.records());
    while let Some(message) = records.try_next().await? {
        forgotten += u64::from(forget(&subscribers, &message, now, mode).await?);
    }
    Ok(forgotten)
}

/// A message of the bucket holds the record, and its sequence is the record's revision.
async fn forget(
    subscribers: &Subscribers,
    message: &StreamMessage,
    now: OffsetDateTime,
    mode: Mode,
) -> anyhow::Result<bool> {
    // Neither is one that was deleted, nor one of which the newsletter service tells when it meets it.
    let (Some(person), Ok(known)) = (
        broker::person_of(message),
        serde_json::from_slice::<Subscriber>(&message.payload),
    ) else {
        return Ok(false);
    };
    let swept = known.clone().swept(now);
    if swept == known || mode == Mode::DryRun {
        return Ok(swept != known);
    }
    match subscribers
        .write(&person, &swept, message.sequence, Retention::Forever)
        .await
    {
        Ok(_) => Ok(true),
        // They came back, or left, in this moment; the next sweep looks again.
        Err(RecordError::Conflict) => Ok(false),
        Err(error) => Err(error).context("not every address was removed; repeat it"),
    }
}
