//! `sitectl setup`.

use anyhow::{Context as _, ensure};
use async_nats::jetstream;
use clap::Args;
use resumes::{ResumeStore, S3Settings};
use serde_json::json;
use site_broker::ProvisionSettings;
use site_events::SITE_STREAM;
use site_service::nats;
use visitor::PersonKeySettings;

use crate::{
    broker,
    common_args::{CommonArgs, Mode},
    output::print_output,
};

const SETUP_YES: &str = "Deletes consumers with waiting events of endpoints that are no longer in WEBHOOKS; without this they are kept";

#[derive(Args, Debug)]
#[command(mut_arg("yes", |yes| yes.help(SETUP_YES)))]
pub struct SetupArgs {
    #[command(flatten)]
    common: CommonArgs,
    #[command(flatten)]
    store: S3Settings,
    #[command(flatten)]
    provision: ProvisionSettings,
    #[command(flatten)]
    person: PersonKeySettings,
    #[command(flatten)]
    mode: Mode,
}

/// # Errors
///
/// If the broker or the S3 bucket cannot be set up, or the installation has another `PERSON_KEY`; or, after
/// everything else, if events wait for an endpoint that is no longer configured.
pub async fn setup(args: &SetupArgs) -> anyhow::Result<()> {
    let client = nats::connect(&args.common.nats, "operator").await?;
    let context = jetstream::new(client);
    let provisioned = site_broker::provision(&context, &args.provision, &args.person.person_key).await?;
    ResumeStore::new(&args.store).ensure_bucket().await?;
    let mut ready = provisioned.ready;
    ready.push(format!("S3 bucket {}", args.store.s3_bucket));
    let mut lines: Vec<String> = ready.iter().map(|what| format!("ready: {what}")).collect();
    let (mut removed, mut left_alone, mut waiting_for) = (Vec::new(), Vec::new(), Vec::new());
    let site = broker::stream(&context, SITE_STREAM).await?;
    for consumer in provisioned.orphaned_consumers {
        let info = site.consumer_info(&consumer).await;
        let info = info.with_context(|| format!("consumer {consumer} cannot be read; repeat it"))?;
        let waiting = broker::consumer_lag(&info);
        let document = json!({ "consumer": consumer, "waiting": waiting });
        if waiting > 0 && !args.mode.yes {
            lines.push(format!(
                "left alone: consumer {consumer}; waiting for it: {waiting}"
            ));
            left_alone.push(document);
            waiting_for.push(format!("{consumer} ({waiting})"));
        } else {
            let deleted = site.delete_consumer(&consumer).await;
            deleted.with_context(|| format!("consumer {consumer} cannot be removed; repeat it"))?;
            lines.push(format!("removed: consumer {consumer}; dropped events: {waiting}"));
            removed.push(document);
        }
    }
    let document = json!({ "ready": ready, "removed": removed, "leftAlone": left_alone });
    print_output(args.common.json, &document, lines)?;
    ensure!(
        waiting_for.is_empty(),
        "Events wait for endpoints that are no longer in WEBHOOKS: {}. Add them again, or repeat it with --yes \
         to drop the events.",
        waiting_for.join(", ")
    );
    Ok(())
}
