//! `sitectl dead-letters`: what could not be delivered, to be looked at, replayed or dropped.

use std::collections::{BTreeMap, HashMap, HashSet};

use anyhow::{Context as _, ensure};
use async_nats::{
    HeaderMap,
    header::{NATS_EXPECTED_STREAM, NATS_MESSAGE_ID},
    jetstream::{
        Context, ErrorCode, consumer::PullConsumer, message::StreamMessage, stream::ConsumerErrorKind,
        stream::Stream,
    },
};
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::{Value, json};
use site_broker::{Endpoint, dead_letters::Summary};
use site_events::{
    DEAD_LETTERS, SITE,
    headers::{ATTEMPTS, ERROR, TIME},
    subjects,
};
use time::format_description::well_known::Rfc3339;

use crate::{answer::answer, broker, common_args::CommonArgs};

/// Which of the commands, and what it needs to know.
#[derive(Args)]
pub struct Settings {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Lists what could not be delivered and why, without anybody's data
    List(CommonArgs),
    /// Shows one dead letter with its event
    Show {
        /// Its number in the list
        number: u64,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Hands events once more to the channel that failed, and to no other
    Replay {
        #[command(flatten)]
        chosen: Chosen,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Gives dead letters up for good
    Drop {
        #[command(flatten)]
        chosen: Chosen,
        /// Does it; without this it is only told what would be done
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        common: CommonArgs,
    },
}

/// Which dead letters are meant.
#[derive(Args)]
#[group(id = "chosen", required = true, multiple = false)]
struct Chosen {
    /// Their numbers in the list
    #[arg(value_name = "NUMBER")]
    numbers: Vec<u64>,
    /// All there are
    #[arg(long)]
    all: bool,
}

/// Does what was asked for.
pub async fn run(settings: &Settings) -> anyhow::Result<()> {
    match &settings.task {
        Task::List(common) => list(common).await,
        Task::Show { number, common } => show(*number, common).await,
        Task::Replay { chosen, common } => replay(chosen, common).await,
        Task::Drop {
            chosen,
            yes: true,
            common,
        } => drop_for_good(chosen, common).await,
        Task::Drop {
            chosen,
            yes: false,
            common,
        } => tell_what_would_be_dropped(chosen, common).await,
    }
}

/// A dead letter by its number.
#[derive(Serialize)]
struct Numbered {
    number: u64,
    #[serde(flatten)]
    summary: Summary,
}

impl Numbered {
    fn of(letter: &StreamMessage) -> Self {
        let stored = || letter.time.format(&Rfc3339).unwrap_or_default();
        let mut summary = Summary::of(&letter.subject, &letter.headers, &letter.payload);
        summary.given_up.get_or_insert_with(stored);
        Self {
            number: letter.sequence,
            summary,
        }
    }

    fn line(&self) -> String {
        let unreadable = || "unreadable".to_owned();
        let summary = &self.summary;
        format!(
            "{}  {}  {}  {}  {}  attempts: {}  {}",
            self.number,
            summary.given_up.as_deref().unwrap_or_default(),
            summary.channel,
            summary.event_type.clone().unwrap_or_else(unreadable),
            summary.event_id.map_or_else(unreadable, |id| id.to_string()),
            summary.attempts,
            summary.reason,
        )
    }
}

/// A dead letter with its event, as `show` and `person export` give it.
pub fn document(letter: &StreamMessage) -> anyhow::Result<Value> {
    let mut document = serde_json::to_value(Numbered::of(letter))?;
    document["event"] = broker::content(letter);
    Ok(document)
}

async fn list(common: &CommonArgs) -> anyhow::Result<()> {
    let stream = open(&broker::connect(&common.nats).await?).await?;
    let letters = broker::search(&stream, subjects::DEAD_LETTERS).await?;
    let summaries: Vec<Numbered> = letters.iter().map(Numbered::of).collect();
    let mut lines: Vec<String> = summaries.iter().map(Numbered::line).collect();
    if lines.is_empty() {
        lines.push("There are no dead letters.".to_owned());
    }
    answer(common.json, &json!({ "deadLetters": summaries }), lines)
}

async fn show(number: u64, common: &CommonArgs) -> anyhow::Result<()> {
    let stream = open(&broker::connect(&common.nats).await?).await?;
    let letter = numbered(&stream, number).await?;
    let event = serde_json::to_string_pretty(&broker::content(&letter))?;
    answer(
        common.json,
        &document(&letter)?,
        [Numbered::of(&letter).line(), event],
    )
}

/// Replays what can be. Where the broker itself fails, the rest would fail as well: that ends it.
async fn replay(chosen: &Chosen, common: &CommonArgs) -> anyhow::Result<()> {
    let context = broker::connect(&common.nats).await?;
    let stream = open(&context).await?;
    let letters = chosen.find(&stream).await?;
    let obstacles = obstacles(&context, &letters).await?;
    let mut done = Vec::new();
    let mut left: BTreeMap<&str, Left<'_>> = BTreeMap::new();
    for letter in &letters {
        let channel = subjects::channel_of(&letter.subject);
        if let Some(why) = obstacles.get(channel) {
            let left = left.entry(channel).or_insert_with(|| Left::of(channel, why));
            left.numbers.push(letter.sequence);
            continue;
        }
        let replayed = hand_over(&context, letter).await;
        replayed.with_context(|| not_all("replayed", letter, &done))?;
        let deleted = broker::overwrite(&stream, std::slice::from_ref(letter)).await;
        deleted.with_context(|| not_all("removed after its replay", letter, &done))?;
        done.push(letter.sequence);
    }
    let left: Vec<Left<'_>> = left.into_values().collect();
    tell_of_a_replay(common, &done, &left)?;
    let not_replayed = letters.len() - done.len();
    ensure!(
        not_replayed == 0,
        "Not replayed: {not_replayed} of {}.",
        letters.len()
    );
    Ok(())
}

/// The dead letters of one channel that could not be replayed.
#[derive(Serialize)]
struct Left<'a> {
    channel: &'a str,
    numbers: Vec<u64>,
    why: &'static str,
}

impl<'a> Left<'a> {
    fn of(channel: &'a str, why: &'static str) -> Self {
        Self {
            channel,
            numbers: Vec::new(),
            why,
        }
    }
}

fn tell_of_a_replay(common: &CommonArgs, replayed: &[u64], left: &[Left<'_>]) -> anyhow::Result<()> {
    let document = json!({ "replayed": replayed, "notReplayed": left });
    let replayed = format!("replayed: {}", in_a_row(replayed));
    let left = left.iter().map(
        |Left {
             channel,
             numbers,
             why,
         }| { format!("not replayed: {}, of {channel}: {why}", in_a_row(numbers)) },
    );
    answer(common.json, &document, std::iter::once(replayed).chain(left))
}

async fn drop_for_good(chosen: &Chosen, common: &CommonArgs) -> anyhow::Result<()> {
    let stream = open(&broker::connect(&common.nats).await?).await?;
    let letters = chosen.find(&stream).await?;
    broker::overwrite(&stream, &letters).await?;
    tell(common, "dropped", &numbers(&letters))
}

async fn tell_what_would_be_dropped(chosen: &Chosen, common: &CommonArgs) -> anyhow::Result<()> {
    let stream = open(&broker::connect(&common.nats).await?).await?;
    let letters = chosen.find(&stream).await?;
    let numbers = numbers(&letters);
    let lines = [
        format!("would drop: {}", in_a_row(&numbers)),
        "Nothing was dropped; repeat it with --yes.".to_owned(),
    ];
    answer(common.json, &json!({ "wouldDrop": numbers }), lines)
}

/// Publishes the event, unchanged, to the one channel that failed, and waits until the
/// broker has stored it.
async fn hand_over(context: &Context, letter: &StreamMessage) -> anyhow::Result<()> {
    let name = subjects::channel_of(&letter.subject);
    let subject = subjects::replay(name, subjects::person_of(&letter.subject));
    let headers = headers_of_a_replay(letter, name);
    let sent = context.publish_with_headers(subject, headers, letter.payload.clone());
    sent.await?.await?;
    Ok(())
}

/// Why channels of these letters would not take a replay, of those that would not.
async fn obstacles<'a>(
    context: &Context,
    letters: &'a [StreamMessage],
) -> anyhow::Result<HashMap<&'a str, &'static str>> {
    let channels: HashSet<&str> = letters
        .iter()
        .map(|letter| subjects::channel_of(&letter.subject))
        .collect();
    let mut obstacles = HashMap::new();
    for channel in channels {
        if let Some(why) = obstacle(context, channel).await? {
            obstacles.insert(channel, why);
        }
    }
    Ok(obstacles)
}

/// Without a consumer, or with one that was set up by an older `sitectl`, a replay would be left lying.
async fn obstacle(context: &Context, channel: &str) -> anyhow::Result<Option<&'static str>> {
    let consumer: Result<PullConsumer, _> = context.get_consumer_from_stream(channel, SITE).await;
    let consumer = match consumer {
        Ok(consumer) => consumer,
        Err(error) => match error.kind() {
            ConsumerErrorKind::JetStream(refusal)
                if refusal.error_code() == ErrorCode::CONSUMER_NOT_FOUND =>
            {
                return Ok(Some(what_to_do_about_its_absence(channel)));
            }
            _ => {
                return Err(error).with_context(|| {
                    format!("nothing was replayed: the consumer {channel} cannot be looked at")
                });
            }
        },
    };
    let replays = subjects::replay(channel, "*");
    let takes_it = consumer.cached_info().config.filter_subjects.contains(&replays);
    Ok((!takes_it).then_some("its consumer takes no replays yet; run `sitectl setup`"))
}

fn what_to_do_about_its_absence(channel: &str) -> &'static str {
    if channel.starts_with(Endpoint::CONSUMERS) {
        "the endpoint is gone; drop them, or set the endpoint up again under its name"
    } else {
        "its consumer is not there; run `sitectl setup`"
    }
}

fn headers_of_a_replay(letter: &StreamMessage, name: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for (name, values) in letter.headers.iter() {
        if [ERROR, ATTEMPTS, TIME].contains(&name.to_string().as_str()) {
            continue;
        }
        for value in values {
            headers.append(name.clone(), value.clone());
        }
    }
    let number = letter.sequence;
    let event = broker::event_id(letter).map_or_else(|| "unreadable".to_owned(), |id| id.to_string());
    headers.insert(NATS_MESSAGE_ID, format!("{event}.{name}.replay.{number}"));
    headers.insert(NATS_EXPECTED_STREAM, SITE);
    headers
}

impl Chosen {
    /// The dead letters that are meant; one that is not there is an error before anything
    /// is done.
    async fn find(&self, stream: &Stream) -> anyhow::Result<Vec<StreamMessage>> {
        if self.all {
            return broker::search(stream, subjects::DEAD_LETTERS).await;
        }
        let mut found: Vec<StreamMessage> = Vec::new();
        for &number in &self.numbers {
            if found.iter().all(|letter| letter.sequence != number) {
                found.push(numbered(stream, number).await?);
            }
        }
        Ok(found)
    }
}

async fn open(context: &Context) -> anyhow::Result<Stream> {
    broker::stream(context, DEAD_LETTERS).await
}

async fn numbered(stream: &Stream, number: u64) -> anyhow::Result<StreamMessage> {
    let letter = broker::numbered(stream, number).await?;
    letter.with_context(|| format!("There is no dead letter {number}; see `sitectl dead-letters list`."))
}

fn numbers(letters: &[StreamMessage]) -> Vec<u64> {
    letters.iter().map(|letter| letter.sequence).collect()
}

fn tell(common: &CommonArgs, what: &str, numbers: &[u64]) -> anyhow::Result<()> {
    answer(
        common.json,
        &json!({ what: numbers }),
        [format!("{what}: {}", in_a_row(numbers))],
    )
}

fn in_a_row(numbers: &[u64]) -> String {
    if numbers.is_empty() {
        return "none".to_owned();
    }
    let numbers: Vec<String> = numbers.iter().map(u64::to_string).collect();
    numbers.join(", ")
}

fn not_all(what: &str, letter: &StreamMessage, done: &[u64]) -> String {
    let (number, done) = (letter.sequence, in_a_row(done));
    format!("dead letter {number} was not {what} (done before it: {done})")
}
