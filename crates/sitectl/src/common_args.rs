//! What most commands need to know.

use clap::Args;
use site_service::nats::NatsSettings;

/// The broker, and how to answer.
#[derive(Args, Debug)]
pub struct CommonArgs {
    /// The broker
    #[command(flatten)]
    pub nats: NatsSettings,
    /// Answers in JSON
    #[arg(long)]
    pub json: bool,
}
