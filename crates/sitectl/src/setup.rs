//! `sitectl setup`.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use async_nats::{
    header::NATS_MESSAGE_TTL,
    jetstream::{self, Context, message::StreamMessage, stream::Stream},
};
use clap::Args;
use futures_util::TryStreamExt as _;
use resumes::{ResumeStore, S3Settings};
use serde::Serialize;
use serde_json::json;
use site_broker::{ProvisionSettings, SUBSCRIBERS_BUCKET};
use site_events::SITE_STREAM;
use site_service::nats::{self, NatsSettings};
use subscribers::{Retention, Subscriber, SubscriberStoreError, Subscribers};
use visitor::PersonId;

use crate::{
    broker::{self, BucketReader},
    output::print_output,
    person_key::records::{expires, person_of},
    subscribers::everybody::everybody,
};

/// TTL of sign-ups from releases that let none expire.
const LEGACY_SIGN_UP_TTL: Duration = Duration::from_secs(48 * 60 * 60);

/// The keys of all notes of where subscribers moved from.
const ALL_NOTES_OF_MOVES: &str = "*.*";

/// What the set-up needs to know.
#[derive(Args, Debug)]
pub struct SetupArgs {
    /// The broker
    #[command(flatten)]
    nats: NatsSettings,
    /// The bucket of résumés
    #[command(flatten)]
    store: S3Settings,
    /// The streams
    #[command(flatten)]
    provision: ProvisionSettings,
    /// Gives up what waits for endpoints that WEBHOOKS names no more; without this they are left alone
    #[arg(long)]
    yes: bool,
    /// Answers in JSON
    #[arg(long)]
    json: bool,
}

/// Creates what is missing, updates what differs, and tells what there is.
///
/// # Errors
///
/// If the broker or the S3 bucket cannot be used or set up; or, once all else is done, if events wait for an endpoint
/// that is named no more.
pub async fn setup(args: &SetupArgs) -> anyhow::Result<()> {
    let client = nats::connect(&args.nats, "operator").await?;
    let context = jetstream::new(client);
    let provisioned = site_broker::provision(&context, &args.provision).await?;
    migrate_subscribers(&context).await?;
    ResumeStore::new(&args.store).ensure_bucket().await?;
    let mut ready = provisioned.ready;
    ready.push(format!("S3 bucket {}", args.store.s3_bucket));
    let site = broker::stream(&context, SITE_STREAM).await?;
    let (mut removed, mut left_alone) = (Vec::new(), Vec::new());
    for consumer in provisioned.orphaned_consumers {
        let orphaned = OrphanedConsumer::look_at(&site, consumer).await?;
        if orphaned.waiting > 0 && !args.yes {
            left_alone.push(orphaned);
        } else {
            orphaned.remove(&site).await?;
            removed.push(orphaned);
        }
    }
    print_setup(args.json, &ready, &removed, &left_alone)?;
    let waited_for: Vec<String> = left_alone.iter().map(OrphanedConsumer::in_short).collect();
    ensure!(
        left_alone.is_empty(),
        "Events wait for endpoints that WEBHOOKS names no more: {}. Name those again, or repeat it with --yes to give \
         the events up.",
        waited_for.join(", ")
    );
    Ok(())
}

/// Orphaned consumer: its endpoint is named no more.
#[derive(Serialize)]
struct OrphanedConsumer {
    consumer: String,
    /// How many events have no outcome yet.
    waiting: u64,
}

impl OrphanedConsumer {
    async fn look_at(site: &Stream, consumer: String) -> anyhow::Result<Self> {
        let info = site.consumer_info(&consumer).await;
        let info = info.with_context(|| format!("consumer {consumer} cannot be looked at; repeat it"))?;
        let waiting = broker::consumer_lag(&info);
        Ok(Self { consumer, waiting })
    }

    async fn remove(&self, site: &Stream) -> anyhow::Result<()> {
        let removed = site.delete_consumer(&self.consumer).await;
        removed.with_context(|| format!("consumer {} cannot be removed; repeat it", self.consumer))?;
        Ok(())
    }

    fn in_short(&self) -> String {
        format!("{} ({})", self.consumer, self.waiting)
    }
}

fn print_setup(
    json: bool,
    ready: &[String],
    removed: &[OrphanedConsumer],
    left_alone: &[OrphanedConsumer],
) -> anyhow::Result<()> {
    let document = json!({ "ready": ready, "removed": removed, "leftAlone": left_alone });
    let ready = ready.iter().map(|what| format!("ready: {what}"));
    let removed = removed
        .iter()
        .map(|OrphanedConsumer { consumer, waiting }| match waiting {
            0 => format!("removed: consumer {consumer}; nothing waited for it"),
            _ => format!("removed: consumer {consumer}; given up with it: {waiting}"),
        });
    let left_alone = left_alone.iter().map(|OrphanedConsumer { consumer, waiting }| {
        format!("left alone: consumer {consumer}; waiting for it: {waiting}")
    });
    print_output(json, &document, ready.chain(removed).chain(left_alone))
}

/// What older releases stored otherwise. Sign-ups would stay for ever: each gets the time that its link had. Of records that moved
/// nothing noted where from.
async fn migrate_subscribers(context: &Context) -> anyhow::Result<()> {
    let bucket = BucketReader::open(context, SUBSCRIBERS_BUCKET).await?;
    let subscribers = Subscribers::open(context.client()).await?;
    let (mut moved, mut everybody) = (0, everybody(&bucket));
    while let Some(record) = everybody.try_next().await? {
        let Some((person, subscriber)) = subscriber_of(&record) else {
            continue;
        };
        moved += u64::from(subscriber.moved_to().is_some());
        if record.headers.get(NATS_MESSAGE_TTL).is_none() {
            migrate_sign_up_ttl(&subscribers, &person, &subscriber, record.sequence).await?;
        }
    }
    drop(everybody);
    if bucket.count(ALL_NOTES_OF_MOVES).await? < moved {
        note_moves(&subscribers, &bucket).await?;
    }
    Ok(())
}

async fn migrate_sign_up_ttl(
    subscribers: &Subscribers,
    person: &PersonId,
    subscriber: &Subscriber,
    revision: u64,
) -> anyhow::Result<()> {
    let retention = subscriber.retention(LEGACY_SIGN_UP_TTL);
    if retention == Retention::Forever {
        return Ok(());
    }
    match subscribers.write(person, subscriber, revision, retention).await {
        // Who signs up or confirms in this moment does so by the new rules.
        Ok(_) | Err(SubscriberStoreError::Conflict) => Ok(()),
        Err(error) => Err(error).context("old sign-ups were not all given their time; repeat it"),
    }
}

async fn note_moves(subscribers: &Subscribers, bucket: &BucketReader) -> anyhow::Result<()> {
    let mut everybody = everybody(bucket);
    while let Some(record) = everybody.try_next().await? {
        let Some((from, subscriber)) = subscriber_of(&record) else {
            continue;
        };
        if let Some(to) = subscriber.moved_to() {
            let noted = subscribers.note_move(&from, to, expires(&record)).await;
            noted.context("not all moves of subscribers are noted; repeat it")?;
        }
    }
    Ok(())
}

/// Whose record it is, and what it says.
fn subscriber_of(record: &StreamMessage) -> Option<(PersonId, Subscriber)> {
    Some((person_of(record)?, serde_json::from_slice(&record.payload).ok()?))
}
