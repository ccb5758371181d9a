//! `sitectl leads`: contact messages at hand without any other tool.

use clap::{Args, Subcommand};
use site_events::{Attribution, event::ContactReceived};

use crate::event_export::{Columns, EventSelection, campaign_of, export, list};

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
        Command::List(selection) => list::<ContactReceived>(selection, |_| true).await,
        Command::Export(selection) => export::<ContactReceived>(selection, |_| true).await,
    }
}

impl Columns for ContactReceived {
    const PLURAL: &'static str = "leads";
    const NAMES: &'static [&'static str] = &["name", "email", "message", "page", "referrer", "campaign"];
    const LISTED: &'static [&'static str] = &["name", "email", "campaign"];

    fn cells(&self) -> Vec<String> {
        let attribution = self.attribution.clone().unwrap_or_default();
        vec![
            self.name.clone(),
            self.email.as_str().to_owned(),
            self.message.clone(),
            attribution.page.clone().unwrap_or_default(),
            attribution.referrer.clone().unwrap_or_default(),
            campaign_of(self.attribution.as_ref()),
        ]
    }

    fn attribution(&self) -> Option<&Attribution> {
        self.attribution.as_ref()
    }
}
