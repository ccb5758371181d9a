//! `sitectl newsletter`: previews, sends and controls issues.

mod article;
mod control;
mod faults;
mod links;
mod post;
mod preview;
mod send;
mod status;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use subscribers::issues::IssueState;
use visitor::links as visitor_links;

use crate::common_args::{CommonArgs, Mode, NamedArgs};

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Shows the mail of an issue; sends nothing
    Preview(preview::PreviewArgs),
    /// Sends an issue to test addresses
    Test(send::TestArgs),
    /// Sends an issue to all confirmed subscribers; without --yes it prints their number
    Send(send::SendArgs),
    /// Shows the progress of one issue, or all
    Status {
        /// Name of the issue
        name: Option<String>,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Pauses an issue: no further mail is sent until it is resumed
    Pause(NamedArgs),
    /// Resumes a paused issue
    Resume(NamedArgs),
    /// Cancels an issue: no further mail is sent
    Cancel {
        #[command(flatten)]
        named: NamedArgs,
        #[command(flatten)]
        mode: Mode,
    },
}

/// Issue and its links.
#[derive(Args, Debug)]
struct PostArgs {
    /// A blog post, or another Markdown file
    #[arg(value_name = "FILE")]
    post: PathBuf,
    /// Unique name of the issue; the file's name by default
    #[arg(long)]
    name: Option<String>,
    /// Address of the site, for its links and pictures
    #[arg(long, env = "SITE_URL", default_value = "http://localhost:8080", value_parser = visitor_links::site_url)]
    site_url: String,
    /// Ignores missing pictures, dead links and unfilled placeholders
    #[arg(long)]
    force: bool,
}

impl PostArgs {
    fn name(&self) -> String {
        let stem = || self.post.file_stem().unwrap_or_default().to_string_lossy();
        self.name.clone().unwrap_or_else(|| stem().into_owned())
    }
}

/// # Errors
///
/// If the issue cannot be read or is unknown, or the broker is unavailable.
pub async fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::Preview(args) => preview::preview(args).await,
        Command::Test(args) => send::test(args).await,
        Command::Send(args) if args.refused => send::repeat_refused(args).await,
        Command::Send(args) => send::send(args).await,
        Command::Status { name, common } => status::status(name.as_deref(), common).await,
        Command::Pause(named) => control::change(named, IssueState::Paused, Mode { yes: true }).await,
        Command::Resume(named) => control::change(named, IssueState::Running, Mode { yes: true }).await,
        Command::Cancel { named, mode } => control::change(named, IssueState::Canceled, *mode).await,
    }
}
