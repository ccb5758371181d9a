//! `sitectl dead-letters`: lists, shows, replays and drops undelivered events.

mod replay;

use anyhow::Context as _;
use async_nats::jetstream::{Context, message::StreamMessage, stream::Stream};
use clap::{Args, Subcommand};
use futures_util::TryStreamExt as _;
use serde_json::{Value, json};
use site_broker::{StreamReader, dead_letters::DeadLetterSummary};
use site_events::DEAD_LETTERS_STREAM;
use time::format_description::well_known::Rfc3339;

pub use self::replay::replay_letters;
use crate::{
    broker,
    common_args::{CommonArgs, Mode},
    output::{Column, ListOutput, cells, print_output, table},
};

const COLUMNS: [Column; 7] = [
    ("NUMBER", "number"),
    ("GIVEN UP", "givenUp"),
    ("CHANNEL", "channel"),
    ("TYPE", "eventType"),
    ("EVENT", "eventId"),
    ("ATTEMPTS", "attempts"),
    ("REASON", "reason"),
];

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Lists undelivered events with the reason, without personal data
    List(CommonArgs),
    /// Shows one dead letter with its event
    Show {
        /// Number in the list
        number: u64,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Replays events to the channel that failed, and to no other
    Replay {
        #[command(flatten)]
        selection: Selection,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Deletes dead letters for good
    Drop {
        #[command(flatten)]
        selection: Selection,
        #[command(flatten)]
        mode: Mode,
        #[command(flatten)]
        common: CommonArgs,
    },
}

/// Selection of dead letters.
#[derive(Args, Debug)]
#[group(id = "selection", required = true, multiple = false)]
pub struct Selection {
    /// Numbers in the list
    #[arg(value_name = "NUMBER")]
    numbers: Vec<u64>,
    /// All dead letters
    #[arg(long)]
    all: bool,
}

/// # Errors
///
/// If a named dead letter does not exist or cannot be replayed, or the broker is unavailable.
pub async fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::List(common) => list(common).await,
        Command::Show { number, common } => show(*number, common).await,
        Command::Replay { selection, common } => replay::replay(selection, common).await,
        Command::Drop {
            selection,
            mode,
            common,
        } => drop_for_good(selection, *mode, common).await,
    }
}

async fn list(common: &CommonArgs) -> anyhow::Result<()> {
    let reader = open(&broker::connect(&common.nats).await?).await?;
    let headings = COLUMNS.map(|(heading, _)| heading.to_owned());
    let mut list = ListOutput::to_stdout(common.json, "deadLetters", headings);
    let mut letters = reader.all();
    while let Some(letter) = letters.try_next().await? {
        let listed = listed(&letter);
        list.item(&listed, || cells(&COLUMNS, &listed))?;
    }
    list.end("There are no dead letters.")
}

async fn show(number: u64, common: &CommonArgs) -> anyhow::Result<()> {
    let reader = open(&broker::connect(&common.nats).await?).await?;
    let letter = get(reader.stream(), number).await?;
    let document = document(&letter);
    let mut lines = table(&COLUMNS, std::slice::from_ref(&document), "")?;
    lines.push(serde_json::to_string_pretty(&document["event"])?);
    print_output(common.json, &document, lines)
}

async fn drop_for_good(selection: &Selection, mode: Mode, common: &CommonArgs) -> anyhow::Result<()> {
    let reader = open(&broker::connect(&common.nats).await?).await?;
    let numbers = selection.find(&reader).await?;
    if !mode.yes {
        let line = format!("would drop: {numbers:?}\nNothing was dropped; repeat it with --yes.");
        return print_output(common.json, &json!({ "wouldDrop": numbers }), [line]);
    }
    for number in &numbers {
        broker::secure_delete(reader.stream(), *number).await?;
    }
    let line = format!("dropped: {numbers:?}");
    print_output(common.json, &json!({ "dropped": numbers }), [line])
}

impl Selection {
    /// Numbers of the selected dead letters. Dead letters that a failed replay adds are not selected.
    async fn find(&self, reader: &StreamReader) -> anyhow::Result<Vec<u64>> {
        if self.all {
            let letters = reader.all().map_ok(|letter| letter.sequence);
            return Ok(letters.try_collect().await?);
        }
        let mut numbers = self.numbers.clone();
        numbers.sort_unstable();
        numbers.dedup();
        for number in &numbers {
            get(reader.stream(), *number).await?;
        }
        Ok(numbers)
    }
}

/// A dead letter's number is its sequence in the stream.
fn listed(letter: &StreamMessage) -> Value {
    let stored = || letter.time.format(&Rfc3339).unwrap_or_default();
    let mut summary = DeadLetterSummary::of(&letter.subject, &letter.headers, &letter.payload);
    summary.given_up.get_or_insert_with(stored);
    let mut listed = json!(summary);
    listed["number"] = letter.sequence.into();
    listed
}

pub fn document(letter: &StreamMessage) -> Value {
    let mut document = listed(letter);
    document["event"] = broker::content(letter);
    document
}

async fn open(context: &Context) -> anyhow::Result<StreamReader> {
    broker::reader(context, DEAD_LETTERS_STREAM).await
}

async fn get(stream: &Stream, number: u64) -> anyhow::Result<StreamMessage> {
    let letter = broker::get(stream, number).await?;
    letter.with_context(|| format!("There is no dead letter {number}; see `sitectl dead-letters list`."))
}
