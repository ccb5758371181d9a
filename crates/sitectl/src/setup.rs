//! `sitectl setup`.

use std::io::{Write, stdout};

use async_nats::jetstream;
use clap::Args;
use resumes::{S3Settings, Store};
use serde_json::json;
use site_events::Provision;
use site_service::nats::{self, NatsSettings};

/// What the set-up needs to know.
#[derive(Args)]
pub struct Settings {
    /// The broker
    #[command(flatten)]
    nats: NatsSettings,
    /// The bucket of résumés
    #[command(flatten)]
    store: S3Settings,
    /// The streams
    #[command(flatten)]
    provision: Provision,
    /// Answers in JSON
    #[arg(long)]
    json: bool,
}

/// Creates what is missing, updates what differs, and tells what there is.
pub async fn setup(settings: &Settings) -> anyhow::Result<()> {
    let client = nats::connect(&settings.nats, "operator").await?;
    let mut there = site_events::provision(&jetstream::new(client), &settings.provision).await?;
    Store::new(&settings.store).ensure_bucket().await?;
    there.push(format!("S3 bucket {}", settings.store.s3_bucket));
    let mut out = stdout();
    if settings.json {
        writeln!(out, "{}", json!({ "ready": there }))?;
    } else {
        for what in there {
            writeln!(out, "ready: {what}")?;
        }
    }
    Ok(())
}
