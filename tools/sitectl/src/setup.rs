//! `sitectl setup`.

use anyhow::{Context as _, ensure};
use async_nats::jetstream::{self, stream::Stream};
use clap::Args;
use resumes::{ResumeStore, S3Settings};
use serde::Serialize;
use serde_json::json;
use site_broker::ProvisionSettings;
use site_events::SITE_STREAM;
use site_service::nats;
use visitor::PersonKeySettings;

use crate::{
    broker,
    common_args::{CommonArgs, Mode, ModeArgs},
    output::print_output,
};

/// What `--yes` is for in `setup`.
const SETUP_YES: &str =
    "Gives up what waits for endpoints that WEBHOOKS names no more; without this they are left alone";

/// What the set-up needs to know.
#[derive(Args, Debug)]
#[command(mut_arg("yes", |yes| yes.help(SETUP_YES)))]
pub struct SetupArgs {
    #[command(flatten)]
    common: CommonArgs,
    /// The bucket of résumés
    #[command(flatten)]
    store: S3Settings,
    /// The streams
    #[command(flatten)]
    provision: ProvisionSettings,
    #[command(flatten)]
    person: PersonKeySettings,
    #[command(flatten)]
    mode: ModeArgs,
}

/// Creates what is missing, updates what differs, and tells what there is.
///
/// # Errors
///
/// If the broker or the S3 bucket cannot be used or set up, or the installation has another key of person ids; or, once all else
/// is done, if events wait for an endpoint that is named no more.
pub async fn setup(args: &SetupArgs) -> anyhow::Result<()> {
    let client = nats::connect(&args.common.nats, "operator").await?;
    let context = jetstream::new(client);
    let provisioned = site_broker::provision(&context, &args.provision, &args.person.person_key).await?;
    ResumeStore::new(&args.store).ensure_bucket().await?;
    let mut ready = provisioned.ready;
    ready.push(format!("S3 bucket {}", args.store.s3_bucket));
    let site = broker::stream(&context, SITE_STREAM).await?;
    let (mut removed, mut left_alone) = (Vec::new(), Vec::new());
    for consumer in provisioned.orphaned_consumers {
        let orphaned = OrphanedConsumer::look_at(&site, consumer).await?;
        if orphaned.waiting > 0 && args.mode.mode() == Mode::DryRun {
            left_alone.push(orphaned);
        } else {
            orphaned.remove(&site).await?;
            removed.push(orphaned);
        }
    }
    print_setup(args.common.json, &ready, &removed, &left_alone)?;
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
