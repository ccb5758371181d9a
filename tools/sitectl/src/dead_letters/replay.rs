//! `sitectl dead-letters replay`: publishes events again, to the consumer that failed.

use std::collections::{BTreeMap, HashSet};

use anyhow::{Context as _, ensure};
use async_nats::{
    header::{NATS_EXPECTED_STREAM, NATS_MESSAGE_ID},
    jetstream::{Context, message::StreamMessage, stream::Stream},
};
use futures_util::TryStreamExt as _;
use serde_json::{Value, json};
use site_events::{SITE_STREAM, subjects};

use super::{Selection, get, open};
use crate::{broker, common_args::CommonArgs, output::print_output};

const NO_CONSUMER: &str =
    "the consumer does not exist; run `sitectl setup`, or drop them if the endpoint was removed";

/// # Errors
///
/// If a named dead letter does not exist, the broker fails, or a channel has no consumer. In the first case,
/// none is replayed; in the last case, all others are.
pub async fn replay(selection: &Selection, common: &CommonArgs) -> anyhow::Result<()> {
    let context = broker::connect(&common.nats).await?;
    let reader = open(&context).await?;
    let numbers = selection.find(&reader).await?;
    let (done, not_replayed) = replay_letters(&context, reader.stream(), &numbers).await?;
    let mut lines = vec![format!("replayed: {done:?}")];
    let mut left: Vec<Value> = Vec::new();
    for (channel, numbers) in &not_replayed {
        lines.push(format!("not replayed: {numbers:?}, of {channel}: {NO_CONSUMER}"));
        left.push(json!({ "channel": channel, "numbers": numbers, "why": NO_CONSUMER }));
    }
    let document = json!({ "replayed": done, "notReplayed": left });
    print_output(common.json, &document, lines)?;
    let (all, left) = (numbers.len(), numbers.len() - done.len());
    ensure!(left == 0, "Not replayed: {left} of {all}.");
    Ok(())
}

/// Numbers of replayed dead letters, and of dead letters left, by the channel that has no consumer.
type Replayed = (Vec<u64>, BTreeMap<String, Vec<u64>>);

/// Publishes each of these dead letters again and removes it, unless its channel has no consumer.
///
/// # Errors
///
/// If the broker fails; the error names the first dead letter that is left.
pub async fn replay_letters(context: &Context, stream: &Stream, numbers: &[u64]) -> anyhow::Result<Replayed> {
    let site = broker::stream(context, SITE_STREAM).await?;
    let consumers: HashSet<String> = site.consumer_names().try_collect().await?;
    let (mut done, mut not_replayed) = Replayed::default();
    for &number in numbers {
        let letter = get(stream, number).await?;
        let channel = subjects::channel_of(&letter.subject);
        if !consumers.contains(channel) {
            let left = not_replayed.entry(channel.to_owned());
            left.or_default().push(number);
            continue;
        }
        let published = publish(context, channel, &letter).await;
        published.with_context(|| format!("dead letter {number} was not replayed, those before it were"))?;
        broker::secure_delete(stream, number).await?;
        done.push(number);
    }
    Ok((done, not_replayed))
}

/// Publishes the event, unchanged, to the channel that failed.
async fn publish(context: &Context, channel: &str, letter: &StreamMessage) -> anyhow::Result<()> {
    let subject = subjects::replay(channel, subjects::person_of(&letter.subject));
    let mut headers = letter.headers.clone();
    // The broker drops a repetition of this replay as a duplicate, but not the replay itself.
    headers.insert(NATS_MESSAGE_ID, format!("{channel}.replay.{}", letter.sequence));
    headers.insert(NATS_EXPECTED_STREAM, SITE_STREAM);
    let sent = context.publish_with_headers(subject, headers, letter.payload.clone());
    sent.await?.await?;
    Ok(())
}
