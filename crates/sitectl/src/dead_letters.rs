//! `sitectl dead-letters`: what could not be delivered, to be looked at, replayed or dropped.

use anyhow::{Context as _, ensure};
use async_nats::{
    HeaderMap,
    header::{NATS_EXPECTED_STREAM, NATS_MESSAGE_ID},
    jetstream::{Context, consumer::PullConsumer, message::StreamMessage, stream::Stream},
};
use clap::{Args, Subcommand};
use serde::Serialize;
use serde_json::{Value, json};
use site_events::{
    DEAD_LETTERS, SITE,
    dead_letters::{ATTEMPTS, ERROR, Summary, TIME},
    subjects,
};
use site_service::nats::NatsSettings;
use time::format_description::well_known::Rfc3339;

use crate::{answer::answer, broker};

/// Which of the commands, and what it needs to know.
#[derive(Args)]
pub struct Settings {
    #[command(subcommand)]
    task: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Lists what could not be delivered and why, without anybody's data
    List(Usual),
    /// Shows one dead letter with its event
    Show {
        /// Its number in the list
        number: u64,
        #[command(flatten)]
        usual: Usual,
    },
    /// Hands events once more to the channel that failed, and to no other
    Replay {
        #[command(flatten)]
        chosen: Chosen,
        #[command(flatten)]
        usual: Usual,
    },
    /// Gives dead letters up for good
    Drop {
        #[command(flatten)]
        chosen: Chosen,
        /// Does it; without this it is only told what would be done
        #[arg(long)]
        yes: bool,
        #[command(flatten)]
        usual: Usual,
    },
}

/// What every command needs.
#[derive(Args)]
struct Usual {
    #[command(flatten)]
    nats: NatsSettings,
    /// Answers in JSON
    #[arg(long)]
    json: bool,
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
        Task::List(usual) => list(usual).await,
        Task::Show { number, usual } => show(*number, usual).await,
        Task::Replay { chosen, usual } => replay(chosen, usual).await,
        Task::Drop {
            chosen,
            yes: true,
            usual,
        } => drop_for_good(chosen, usual).await,
        Task::Drop {
            chosen,
            yes: false,
            usual,
        } => tell_what_would_be_dropped(chosen, usual).await,
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

async fn list(usual: &Usual) -> anyhow::Result<()> {
    let stream = open(&broker::connect(&usual.nats).await?).await?;
    let letters = broker::search(&stream, subjects::DEAD_LETTERS).await?;
    let summaries: Vec<Numbered> = letters.iter().map(Numbered::of).collect();
    let mut lines: Vec<String> = summaries.iter().map(Numbered::line).collect();
    if lines.is_empty() {
        lines.push("There are no dead letters.".to_owned());
    }
    answer(usual.json, &json!({ "deadLetters": summaries }), lines)
}

async fn show(number: u64, usual: &Usual) -> anyhow::Result<()> {
    let stream = open(&broker::connect(&usual.nats).await?).await?;
    let letter = numbered(&stream, number).await?;
    let event = serde_json::to_string_pretty(&broker::content(&letter))?;
    answer(
        usual.json,
        &document(&letter)?,
        [Numbered::of(&letter).line(), event],
    )
}

async fn replay(chosen: &Chosen, usual: &Usual) -> anyhow::Result<()> {
    let context = broker::connect(&usual.nats).await?;
    let stream = open(&context).await?;
    let letters = chosen.find(&stream).await?;
    let mut done = Vec::new();
    for letter in &letters {
        let replayed = hand_over(&context, letter).await;
        replayed.with_context(|| not_all("replayed", letter, &done))?;
        let deleted = broker::overwrite(&stream, std::slice::from_ref(letter)).await;
        deleted.with_context(|| not_all("removed after its replay", letter, &done))?;
        done.push(letter.sequence);
    }
    tell(usual, "replayed", &done)
}

async fn drop_for_good(chosen: &Chosen, usual: &Usual) -> anyhow::Result<()> {
    let stream = open(&broker::connect(&usual.nats).await?).await?;
    let letters = chosen.find(&stream).await?;
    broker::overwrite(&stream, &letters).await?;
    tell(usual, "dropped", &numbers(&letters))
}

async fn tell_what_would_be_dropped(chosen: &Chosen, usual: &Usual) -> anyhow::Result<()> {
    let stream = open(&broker::connect(&usual.nats).await?).await?;
    let letters = chosen.find(&stream).await?;
    let numbers = numbers(&letters);
    let lines = [
        format!("would drop: {}", in_a_row(&numbers)),
        "Nothing was dropped; repeat it with --yes.".to_owned(),
    ];
    answer(usual.json, &json!({ "wouldDrop": numbers }), lines)
}

/// Publishes the event, unchanged, to the one channel that failed, and waits until the
/// broker has stored it.
async fn hand_over(context: &Context, letter: &StreamMessage) -> anyhow::Result<()> {
    let name = subjects::channel_of(&letter.subject);
    let subject = subjects::replay(name, subjects::person_of(&letter.subject));
    ensure_it_is_taken(context, name).await?;
    let headers = headers_of_a_replay(letter, name);
    let sent = context.publish_with_headers(subject, headers, letter.payload.clone());
    sent.await?.await?;
    Ok(())
}

/// A consumer that was set up by an older `sitectl` would leave the replay lying.
async fn ensure_it_is_taken(context: &Context, name: &str) -> anyhow::Result<()> {
    let consumer: PullConsumer = context
        .get_consumer_from_stream(name, SITE)
        .await
        .map_err(|error| anyhow::anyhow!("its consumer is not there ({error}); run `sitectl setup`"))?;
    let replays = subjects::replay(name, "*");
    let takes_it = consumer.cached_info().config.filter_subjects.contains(&replays);
    ensure!(takes_it, "its consumer takes no replays yet; run `sitectl setup`");
    Ok(())
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

fn tell(usual: &Usual, what: &str, numbers: &[u64]) -> anyhow::Result<()> {
    answer(
        usual.json,
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
