//! `sitectl subscribers`: the newsletter's subscribers, to be taken out, brought in, or given another chance.

mod args;
mod export;
pub mod forget;
#[cfg(test)]
mod fuzz;
mod import;
mod lift;
mod lines;
mod state_name;
pub mod table;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use visitor::PersonKeySettings;

use self::{args::LinkArgs, state_name::StateName};
use crate::common_args::{CommonArgs, ModeArgs};

/// What `--yes` is for in `lift`.
const LIFT_YES: &str = "Forgets a sign-up that was never confirmed; without this that is a dry run";

/// Which of the commands, and what it needs to know.
#[derive(Args, Debug)]
pub struct SubscribersArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Writes all subscribers to stdout, as CSV
    Export {
        /// Only those in this state; may be given more than once
        #[arg(long, value_enum)]
        state: Vec<StateName>,
        #[command(flatten)]
        links: LinkArgs,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Brings in who gave their consent elsewhere, and who left elsewhere; nobody gets a mail by it
    Import {
        /// CSV with at least the columns email, confirmed (RFC 3339) and source; or, for those whose state is
        /// unsubscribed, email and state, and ended (RFC 3339) where it is known; - reads stdin
        #[arg(value_name = "FILE")]
        from: PathBuf,
        #[command(flatten)]
        mode: ModeArgs,
        #[command(flatten)]
        key: PersonKeySettings,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Lets mails go again to an address that came back as not existing
    #[command(mut_arg("yes", |yes| yes.help(LIFT_YES)))]
    Lift {
        /// The subscriber's e-mail address
        #[arg(value_name = "E-MAIL")]
        email: String,
        #[command(flatten)]
        mode: ModeArgs,
        #[command(flatten)]
        key: PersonKeySettings,
        #[command(flatten)]
        common: CommonArgs,
    },
}

/// Does what was asked for.
///
/// # Errors
///
/// If the broker does not answer, a record or a line of a table cannot be read, or an address that is to be lifted is
/// not suppressed.
pub async fn run(args: &SubscribersArgs) -> anyhow::Result<()> {
    match &args.command {
        Command::Export { state, links, common } => {
            export::export(state, links.maker().as_ref(), common).await
        }
        Command::Import {
            from,
            mode,
            key,
            common,
        } => import::import(from, mode.mode(), &key.person_key, common).await,
        Command::Lift {
            email,
            mode,
            key,
            common,
        } => lift::lift(email, mode.mode(), &key.person_key, common).await,
    }
}
