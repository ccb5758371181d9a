//! `sitectl leads`: contact messages at hand without any other tool.

use clap::Subcommand;
use site_events::EventType;

use crate::event_export::{EventSelection, Form, Style};

const LEADS: Form = Form {
    plural: "leads",
    event_type: EventType::ContactReceived,
    more: &[],
    listed: &["name", "email", "campaign"],
};

/// Which of the commands, and what it needs to know.
#[derive(Subcommand, Debug)]
pub enum LeadsCommand {
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
pub async fn run(command: &LeadsCommand) -> anyhow::Result<()> {
    match command {
        LeadsCommand::List(selection) => LEADS.print(Style::List, selection, |_| true).await,
        LeadsCommand::Export(selection) => LEADS.print(Style::Export, selection, |_| true).await,
    }
}
