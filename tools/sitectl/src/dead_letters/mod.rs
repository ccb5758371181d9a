//! `sitectl dead-letters`: what could not be delivered, to be looked at, replayed or dropped.

mod letter;
mod replay;
mod selection;

use clap::{Args, Subcommand};
use futures_util::TryStreamExt as _;
use serde_json::json;

use self::{
    letter::ListedDeadLetter,
    selection::{Selection, comma_separated, open},
};
pub use self::{letter::document, replay::replay_letters};
use crate::{
    broker,
    common_args::{CommonArgs, Mode, ModeArgs},
    output::{ListOutput, print_output, table},
};

/// Which of the commands, and what it needs to know.
#[derive(Args, Debug)]
pub struct DeadLettersArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
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
        selection: Selection,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Gives dead letters up for good
    Drop {
        #[command(flatten)]
        selection: Selection,
        #[command(flatten)]
        mode: ModeArgs,
        #[command(flatten)]
        common: CommonArgs,
    },
}

/// Does what was asked for.
///
/// # Errors
///
/// If a dead letter that is named is not there, one cannot be replayed, or the broker does not answer.
pub async fn run(args: &DeadLettersArgs) -> anyhow::Result<()> {
    match &args.command {
        Command::List(common) => list(common).await,
        Command::Show { number, common } => show(*number, common).await,
        Command::Replay { selection, common } => replay::replay(selection, common).await,
        Command::Drop {
            selection,
            mode,
            common,
        } => match mode.mode() {
            Mode::Apply => drop_for_good(selection, common).await,
            Mode::DryRun => print_dry_run(selection, common).await,
        },
    }
}

async fn list(common: &CommonArgs) -> anyhow::Result<()> {
    let stream = open(&broker::connect(&common.nats).await?).await?;
    let mut list = ListOutput::to_stdout(common.json, "deadLetters", letter::HEADINGS);
    let mut letters = broker::all(&stream);
    while let Some(letter) = letters.try_next().await? {
        let listed = ListedDeadLetter::of(&letter);
        list.item(&listed, || listed.cells().to_vec())?;
    }
    list.end("There are no dead letters.")
}

async fn show(number: u64, common: &CommonArgs) -> anyhow::Result<()> {
    let stream = open(&broker::connect(&common.nats).await?).await?;
    let letter = selection::get(stream.stream(), number).await?;
    let event = serde_json::to_string_pretty(&broker::content(&letter))?;
    let mut lines = table(letter::HEADINGS, [ListedDeadLetter::of(&letter).cells()])?;
    lines.push(event);
    print_output(common.json, &document(&letter), lines)
}

async fn drop_for_good(selection: &Selection, common: &CommonArgs) -> anyhow::Result<()> {
    let stream = open(&broker::connect(&common.nats).await?).await?;
    let (mut letters, mut dropped) = (selection.find(&stream).await?, Vec::new());
    while let Some(letter) = letters.try_next().await? {
        broker::secure_delete(stream.stream(), letter.sequence).await?;
        dropped.push(letter.sequence);
    }
    drop(letters);
    print_output(
        common.json,
        &json!({ "dropped": dropped }),
        [format!("dropped: {}", comma_separated(&dropped))],
    )
}

async fn print_dry_run(selection: &Selection, common: &CommonArgs) -> anyhow::Result<()> {
    let stream = open(&broker::connect(&common.nats).await?).await?;
    let letters = selection.find(&stream).await?;
    let numbers: Vec<u64> = letters.map_ok(|letter| letter.sequence).try_collect().await?;
    let lines = [
        format!("would drop: {}", comma_separated(&numbers)),
        "Nothing was dropped; repeat it with --yes.".to_owned(),
    ];
    print_output(common.json, &json!({ "wouldDrop": numbers }), lines)
}
