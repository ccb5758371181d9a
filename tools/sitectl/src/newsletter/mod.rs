//! `sitectl newsletter`: an issue of the newsletter, looked at, sent, watched, paused and ended.

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
    /// Shows the mail that subscribers would get; sends nothing
    Preview(preview::PreviewArgs),
    /// Sends an issue to addresses of your own, to look at it
    Test(send::TestArgs),
    /// Sends an issue to all who confirmed their subscription; without --yes it says how many those are
    Send(send::SendArgs),
    /// How far an issue is, or all of them
    Status {
        /// The issue's name
        name: Option<String>,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Has no mail of an issue begun, until it is resumed
    Pause(NamedArgs),
    /// Lets an issue that is paused go on
    Resume(NamedArgs),
    /// Ends an issue: who has no mail of it yet gets none
    Cancel {
        #[command(flatten)]
        named: NamedArgs,
        #[command(flatten)]
        mode: Mode,
    },
}

/// The issue, and how its links are written.
#[derive(Args, Debug)]
struct PostArgs {
    /// A post of the blog, or another Markdown file
    #[arg(value_name = "FILE")]
    post: PathBuf,
    /// What the issue is called; the file's name by default. No two that are sent have the same
    #[arg(long)]
    name: Option<String>,
    /// Address of the site, for its links and pictures
    #[arg(long, env = "SITE_URL", default_value = "http://localhost:8080", value_parser = visitor_links::site_url)]
    site_url: String,
    /// Goes on although a picture is missing, a link leads nowhere, or a placeholder is left
    #[arg(long)]
    force: bool,
}

impl PostArgs {
    /// What the issue is called.
    fn name(&self) -> String {
        let stem = || self.post.file_stem().unwrap_or_default().to_string_lossy();
        self.name.clone().unwrap_or_else(|| stem().into_owned())
    }
}

/// # Errors
///
/// If the issue cannot be read or is not known, the broker is unavailable, or it was not said to go ahead.
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
