//! `sitectl webhooks enable`, `pause` and `resume`. The broker delivers nothing to a paused consumer, so no attempt is made.

use anyhow::{Context as _, ensure};
use async_nats::jetstream::{Context, consumer::Info};
use serde_json::json;
use site_broker::{Endpoint, Record, endpoint_state::EndpointState};
use site_events::SITE_STREAM;
use time::{Duration, OffsetDateTime};

use super::{dead_letters, records};
use crate::{broker, common_args::CommonArgs, output::print_output};

/// The broker requires an end of the pause. Events expire earlier.
const PAUSE: Duration = Duration::days(10 * 365);

/// # Errors
///
/// If the endpoint is on, or the broker is unavailable.
pub async fn enable(name: &str, common: &CommonArgs) -> anyhow::Result<()> {
    let context = broker::connect(&common.nats).await?;
    consumer_info(&context, name).await?;
    let records = records(&context).await?;
    let record: Record<EndpointState> = records.read(name).await?;
    let is_off = record.value.is_some_and(|state| state.off.is_some());
    ensure!(is_off, "The endpoint {name} is on.");
    let on = EndpointState::default();
    records.write(name, &on, record.revision, None).await?;
    let letters = dead_letters(&context, name).await?;
    let lines = [
        format!("Switched on: {name}. It receives new events."),
        format!(
            "Its dead letters: {letters}; replay them with `sitectl dead-letters replay`, numbers by \
             `sitectl dead-letters list`."
        ),
    ];
    let document = json!({ "name": name, "state": "on", "enabled": name, "deadLetters": letters });
    print_output(common.json, &document, lines)
}

/// # Errors
///
/// If the endpoint does not exist, or the broker is unavailable.
pub async fn pause(name: &str, common: &CommonArgs) -> anyhow::Result<()> {
    let context = broker::connect(&common.nats).await?;
    consumer_info(&context, name).await?;
    let site = broker::stream(&context, SITE_STREAM).await?;
    let until = OffsetDateTime::now_utc() + PAUSE;
    site.pause_consumer(&consumer(name), until).await?;
    let line = format!(
        "Paused: {name}. Current deliveries finish; new events wait until `sitectl webhooks resume {name}`."
    );
    let document = json!({ "name": name, "state": "paused", "paused": name });
    print_output(common.json, &document, [line])
}

/// # Errors
///
/// If the endpoint does not exist, it is not paused, or the broker is unavailable.
pub async fn resume(name: &str, common: &CommonArgs) -> anyhow::Result<()> {
    let context = broker::connect(&common.nats).await?;
    let info = consumer_info(&context, name).await?;
    ensure!(info.paused, "The endpoint {name} is not paused.");
    let site = broker::stream(&context, SITE_STREAM).await?;
    site.resume_consumer(&consumer(name)).await?;
    let waiting = broker::consumer_lag(&info);
    let line = format!("Resumed: {name}. Waiting events: {waiting}.");
    let document = json!({ "name": name, "state": "running", "resumed": name, "waiting": waiting });
    print_output(common.json, &document, [line])
}

/// # Errors
///
/// If the endpoint does not exist, or the broker is unavailable.
pub async fn consumer_info(context: &Context, name: &str) -> anyhow::Result<Info> {
    let site = broker::stream(context, SITE_STREAM).await?;
    let info = site.consumer_info(consumer(name)).await;
    info.with_context(|| format!("There is no endpoint {name}; see `sitectl webhooks list`."))
}

pub fn consumer(name: &str) -> String {
    format!("{}{name}", Endpoint::CONSUMER_PREFIX)
}
