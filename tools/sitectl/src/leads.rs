//! `sitectl leads`: contact messages at hand without any other tool.

use clap::{Args, Subcommand};
use site_events::EventType;

use crate::event_export::{CAMPAIGN, EventSelection, Form, Style};

const LEADS: Form = Form {
    plural: "leads",
    event_type: EventType::ContactReceived,
    columns: &[
        ("name", "/name"),
        ("email", "/email"),
        ("message", "/message"),
        ("page", "/attribution/page"),
        ("referrer", "/attribution/referrer"),
        CAMPAIGN,
    ],
    listed: &["name", "email", "campaign"],
};

/// Which of the commands, and what it needs to know.
#[derive(Args, Debug)]
pub struct LeadsArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Lists contact messages, a row for each
    List(EventSelection),
    /// Writes contact messages to stdout, as CSV
    Export(EventSelection),
}

/// Does what was asked for.
///
/// # Errors
///
/// If the broker does not answer, or nobody takes what is written.
pub async fn run(args: &LeadsArgs) -> anyhow::Result<()> {
    match &args.command {
        Command::List(selection) => LEADS.print(Style::List, selection, |_| true).await,
        Command::Export(selection) => LEADS.print(Style::Export, selection, |_| true).await,
    }
}
