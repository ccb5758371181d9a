//! `sitectl person-key`: the key of person ids changes, and what lies under the ids of the former one follows.

mod keys;
mod left;
mod records;

use anyhow::ensure;
use clap::{Args, Subcommand};
use serde_json::json;

use self::{keys::BothKeys, left::Left};
use crate::{
    broker,
    common_args::{CommonArgs, Mode, ModeArgs},
    output::print_output,
};

/// Which of the commands, and what it needs to know.
#[derive(Args, Debug)]
pub struct PersonKeyCommandArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Moves subscribers from the ids of the former key to those of the current one, and tells what is left
    Move {
        #[command(flatten)]
        mode: ModeArgs,
        #[command(flatten)]
        keys: BothKeys,
        #[command(flatten)]
        common: CommonArgs,
    },
}

/// Does what was asked for.
///
/// # Errors
///
/// If the broker does not answer, or not every record was moved; repeating it goes on from there.
pub async fn run(args: &PersonKeyCommandArgs) -> anyhow::Result<()> {
    let Command::Move { mode, keys, common } = &args.command;
    move_people(mode.mode(), keys, common).await
}

async fn move_people(mode: Mode, keys: &BothKeys, common: &CommonArgs) -> anyhow::Result<()> {
    let context = broker::connect(&common.nats).await?;
    let records = records::walk(&context, keys, mode).await?;
    let left = Left::count(&context, &keys.person_key_former).await?;
    let (would, key) = match mode {
        Mode::Apply => ("", "moved"),
        Mode::DryRun => ("would be ", "wouldMove"),
    };
    let document = json!({
        key: records.moved,
        "withoutAddress": records.without_address,
        "underAnotherKey": records.under_another_key,
        "unreadable": records.unreadable,
        "left": left,
    });
    let mut lines = vec![format!("{would}moved: {} subscribers", records.moved)];
    lines.extend(records.notes());
    lines.extend(left.notes());
    if mode == Mode::DryRun {
        lines.push("Nothing was changed; repeat it with --yes.".to_owned());
    }
    print_output(common.json, &document, lines)?;
    ensure!(
        records.conflicts == 0,
        "{} records changed in the same moment and were not moved; repeat it.",
        records.conflicts
    );
    Ok(())
}
