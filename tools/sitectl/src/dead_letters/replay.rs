//! `sitectl dead-letters replay`: hands events once more to the consumer that failed.

use std::collections::{BTreeMap, HashMap};

use anyhow::{Context as _, ensure};
use async_nats::{
    HeaderMap,
    header::{NATS_EXPECTED_STREAM, NATS_MESSAGE_ID},
    jetstream::{
        Context, ErrorCode,
        consumer::PullConsumer,
        message::StreamMessage,
        stream::{ConsumerErrorKind, Stream},
    },
};
use futures_util::TryStreamExt as _;
use serde::Serialize;
use serde_json::json;
use site_broker::Endpoint;
use site_events::{
    SITE_STREAM,
    headers::{DEAD_LETTER_ATTEMPTS, DEAD_LETTER_ERROR, DEAD_LETTER_TIME},
    subjects,
};

use super::selection::{Selection, comma_separated, open};
use crate::{broker, common_args::CommonArgs, output::print_output};

/// Replays what can be. Where the broker itself fails, the rest would fail as well: that ends it.
///
/// # Errors
///
/// If one that is named is not there, before any is replayed; if the broker fails, or a channel would not take its own,
/// once the others are.
pub async fn replay(selection: &Selection, common: &CommonArgs) -> anyhow::Result<()> {
    let context = broker::connect(&common.nats).await?;
    let reader = open(&context).await?;
    let letters = selection.find(&reader).await?;
    let Replayed { done, not_replayed } = replay_letters(&context, reader.stream(), letters).await?;
    print_replay(common, &done, &not_replayed)?;
    let count: usize = not_replayed.iter().map(|channel| channel.numbers.len()).sum();
    ensure!(count == 0, "Not replayed: {count} of {}.", count + done.len());
    Ok(())
}

/// Publishes each of these dead letters once more and removes it, unless its channel would not take it.
///
/// # Errors
///
/// If the broker fails; the sentence says which were done before.
pub async fn replay_letters(
    context: &Context,
    stream: &Stream,
    mut letters: impl futures_util::Stream<Item = anyhow::Result<StreamMessage>> + Unpin,
) -> anyhow::Result<Replayed> {
    let mut blockers = ReplayBlockers::default();
    let mut done = Vec::new();
    let mut not_replayed: BTreeMap<String, NotReplayed> = BTreeMap::new();
    while let Some(letter) = letters.try_next().await? {
        let channel = subjects::channel_of(&letter.subject);
        let blocker = blockers.of(context, channel).await;
        if let Some(why) = blocker.with_context(|| not_all("replayed", &letter, &done))? {
            let not_replayed = not_replayed
                .entry(channel.to_owned())
                .or_insert_with(|| NotReplayed::of(channel, why));
            not_replayed.numbers.push(letter.sequence);
            continue;
        }
        let replayed = publish_replay(context, &letter).await;
        replayed.with_context(|| not_all("replayed", &letter, &done))?;
        let deleted = broker::secure_delete(stream, letter.sequence).await;
        deleted.with_context(|| not_all("removed after its replay", &letter, &done))?;
        done.push(letter.sequence);
    }
    Ok(Replayed {
        done,
        not_replayed: not_replayed.into_values().collect(),
    })
}

/// What became of dead letters that were to be replayed.
pub struct Replayed {
    /// The numbers of those that were.
    pub done: Vec<u64>,
    /// The others.
    pub not_replayed: Vec<NotReplayed>,
}

/// The dead letters of one channel that could not be replayed.
#[derive(Debug, Serialize)]
pub struct NotReplayed {
    channel: String,
    numbers: Vec<u64>,
    why: &'static str,
}

impl NotReplayed {
    fn of(channel: &str, why: &'static str) -> Self {
        Self {
            channel: channel.to_owned(),
            numbers: Vec::new(),
            why,
        }
    }
}

fn print_replay(common: &CommonArgs, replayed: &[u64], not_replayed: &[NotReplayed]) -> anyhow::Result<()> {
    let document = json!({ "replayed": replayed, "notReplayed": not_replayed });
    let replayed = format!("replayed: {}", comma_separated(replayed));
    let not_replayed = not_replayed.iter().map(
        |NotReplayed {
             channel,
             numbers,
             why,
         }| { format!("not replayed: {}, of {channel}: {why}", comma_separated(numbers)) },
    );
    print_output(
        common.json,
        &document,
        std::iter::once(replayed).chain(not_replayed),
    )
}

/// Publishes the event, unchanged, to the one channel that failed, and waits until the
/// broker has stored it.
async fn publish_replay(context: &Context, letter: &StreamMessage) -> anyhow::Result<()> {
    let name = subjects::channel_of(&letter.subject);
    let subject = subjects::replay(name, subjects::person_of(&letter.subject));
    let headers = headers_of_a_replay(letter, name);
    let sent = context.publish_with_headers(subject, headers, letter.payload.clone());
    sent.await?.await?;
    Ok(())
}

/// Why channels would not take a replay, each asked once.
#[derive(Default)]
struct ReplayBlockers(HashMap<String, Option<&'static str>>);

impl ReplayBlockers {
    async fn of(&mut self, context: &Context, channel: &str) -> anyhow::Result<Option<&'static str>> {
        if let Some(known) = self.0.get(channel) {
            return Ok(*known);
        }
        let blocker = replay_blocker(context, channel).await?;
        self.0.insert(channel.to_owned(), blocker);
        Ok(blocker)
    }
}

/// Without a consumer a replay would be left lying.
async fn replay_blocker(context: &Context, channel: &str) -> anyhow::Result<Option<&'static str>> {
    let consumer: Result<PullConsumer, _> = context.get_consumer_from_stream(channel, SITE_STREAM).await;
    match consumer {
        Ok(_) => Ok(None),
        Err(error) => match error.kind() {
            ConsumerErrorKind::JetStream(refusal)
                if refusal.error_code() == ErrorCode::CONSUMER_NOT_FOUND =>
            {
                Ok(Some(what_to_do_about_its_absence(channel)))
            }
            _ => Err(error).with_context(|| format!("the consumer {channel} cannot be looked at")),
        },
    }
}

fn what_to_do_about_its_absence(channel: &str) -> &'static str {
    if channel.starts_with(Endpoint::CONSUMER_PREFIX) {
        "the endpoint is gone; drop them, or set the endpoint up again under its name"
    } else {
        "its consumer is not there; run `sitectl setup`"
    }
}

fn headers_of_a_replay(letter: &StreamMessage, name: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, values) in letter.headers.iter() {
        if [DEAD_LETTER_ERROR, DEAD_LETTER_ATTEMPTS, DEAD_LETTER_TIME].contains(&name.to_string().as_str()) {
            continue;
        }
        for value in values {
            headers.append(name.clone(), value.clone());
        }
    }
    let number = letter.sequence;
    let event = broker::event_id(letter).map_or_else(|| "unreadable".to_owned(), |id| id.to_string());
    headers.insert(NATS_MESSAGE_ID, format!("{event}.{name}.replay.{number}"));
    headers.insert(NATS_EXPECTED_STREAM, SITE_STREAM);
    headers
}

fn not_all(what: &str, letter: &StreamMessage, done: &[u64]) -> String {
    let (number, done) = (letter.sequence, comma_separated(done));
    format!("dead letter {number} was not {what} (done before it: {done})")
}
