//! `sitectl dead-letters`: what could not be delivered, to be looked at, replayed or dropped.

mod chosen;
mod letter;
mod replay;

use async_nats::jetstream::message::StreamMessage;
use clap::{Args, Subcommand};
use serde_json::json;
use site_events::subjects;

pub use self::letter::document;
use self::{
    chosen::{Chosen, in_a_row, numbered, open},
    letter::Numbered,
};
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

/// Does what was asked for.
pub async fn run(settings: &Settings) -> anyhow::Result<()> {
    match &settings.task {
        Task::List(common) => list(common).await,
        Task::Show { number, common } => show(*number, common).await,
        Task::Replay { chosen, common } => replay::replay(chosen, common).await,
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

async fn list(common: &CommonArgs) -> anyhow::Result<()> {
    let stream = open(&broker::connect(&common.nats).await?).await?;
    let letters = broker::search(&stream, subjects::DEAD_LETTERS_SUBJECT).await?;
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
