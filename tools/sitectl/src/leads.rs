//! `sitectl leads`: lists and exports contact messages.

use clap::Subcommand;
use site_events::EventType;

use crate::event_export::{EventSelection, Form, Style};

const LEADS: Form = Form {
    plural: "leads",
    event_type: EventType::ContactReceived,
    more: &[],
    listed: &["name", "email", "campaign"],
};

#[derive(Subcommand, Debug)]
pub enum LeadsCommand {
    /// Lists contact messages
    List(EventSelection),
    /// Writes contact messages to stdout, as CSV
    Export(EventSelection),
}

/// # Errors
///
/// As [`Form::print`].
pub async fn run(command: &LeadsCommand) -> anyhow::Result<()> {
    match command {
        LeadsCommand::List(selection) => LEADS.print(Style::List, selection, None).await,
        LeadsCommand::Export(selection) => LEADS.print(Style::Export, selection, None).await,
    }
}
