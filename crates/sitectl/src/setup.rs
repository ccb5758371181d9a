//! `sitectl setup`.

use std::{
    io::{Write, stdout},
    time::Duration,
};

use anyhow::Context as _;
use async_nats::{
    header::NATS_MESSAGE_TTL,
    jetstream::{self, Context, message::StreamMessage},
};
use clap::Args;
use resumes::{S3Settings, Store};
use serde_json::json;
use site_events::{Provision, SUBSCRIBERS, subjects};
use site_service::nats::{self, NatsSettings};
use subscribers::{Kept, StoreError, Subscriber, Subscribers};
use visitor::PersonId;

use crate::broker;

/// For how long a sign-up was good in the releases that let none expire.
const OLD_LIFETIME: Duration = Duration::from_secs(48 * 60 * 60);

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
    let context = jetstream::new(client);
    let mut there = site_events::provision(&context, &settings.provision).await?;
    let_old_sign_ups_expire(&context).await?;
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

/// Sign-ups that an older release stored would stay for ever: each gets the time that its link had.
async fn let_old_sign_ups_expire(context: &Context) -> anyhow::Result<()> {
    let bucket = broker::bucket(context, SUBSCRIBERS).await?;
    let subscribers = Subscribers::open(context.client()).await?;
    let everybody = format!("{}*", bucket.prefix);
    for record in broker::search(&bucket.stream, &everybody).await? {
        let Some((person, subscriber)) = without_time(&record) else {
            continue;
        };
        let kept = subscriber.kept(OLD_LIFETIME);
        if kept == Kept::ForGood {
            continue;
        }
        let written = subscribers.write(&person, &subscriber, record.sequence, kept);
        match written.await {
            // Who signs up or confirms in this moment does so by the new rules.
            Ok(_) | Err(StoreError::Conflict) => {}
            Err(error) => return Err(error).context("old sign-ups were not all given their time; repeat it"),
        }
    }
    Ok(())
}

/// Whose record this is, if it says nothing of when it expires.
fn without_time(record: &StreamMessage) -> Option<(PersonId, Subscriber)> {
    if record.headers.get(NATS_MESSAGE_TTL).is_some() {
        return None;
    }
    let person = subjects::person_of(&record.subject).to_owned();
    let subscriber = serde_json::from_slice(&record.payload).ok()?;
    Some((person.try_into().ok()?, subscriber))
}
