//! `sitectl leads`: contact messages at hand without any other tool.

use clap::{Args, Subcommand};
use site_events::event::ContactReceived;

use crate::{
    common_args::CommonArgs,
    event_export::{Columns, Period, campaign_of, export, list},
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
    List(LeadsSelection),
    /// Writes contact messages to stdout, as CSV
    Export(LeadsSelection),
}

/// Which contact messages.
#[derive(Args, Debug)]
struct LeadsSelection {
    #[command(flatten)]
    period: Period,
    /// Only those whose campaign holds this text
    #[arg(long)]
    campaign: Option<String>,
    #[command(flatten)]
    common: CommonArgs,
}

impl LeadsSelection {
    fn takes(&self, lead: &ContactReceived) -> bool {
        let wanted = self.campaign.as_deref();
        wanted.is_none_or(|wanted| campaign_of(lead.attribution.as_ref()).contains(wanted))
    }
}

/// Does what was asked for.
///
/// # Errors
///
/// If the broker does not answer, or nobody takes what is written.
pub async fn run(args: &LeadsArgs) -> anyhow::Result<()> {
    match &args.command {
        Command::List(selection) => {
            let (period, common) = (&selection.period, &selection.common);
            list::<ContactReceived>(period, common, "leads", |lead| selection.takes(lead)).await
        }
        Command::Export(selection) => {
            let (period, common) = (&selection.period, &selection.common);
            export::<ContactReceived>(period, common, "leads", |lead| selection.takes(lead)).await
        }
    }
}

impl Columns for ContactReceived {
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
}
