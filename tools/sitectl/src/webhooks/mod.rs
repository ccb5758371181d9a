//! `sitectl webhooks`: shows, tests and controls endpoints.

mod control;
mod trying;

use std::collections::BTreeMap;

use async_nats::jetstream::{Context, consumer::Info};
use clap::Subcommand;
use futures_util::TryStreamExt as _;
use serde_json::{Value, json};
use site_broker::{
    ENDPOINTS_BUCKET, Endpoint, Records,
    buckets::open_bucket,
    endpoint_state::{EndpointState, attempts_key},
};
use site_events::{DEAD_LETTERS_STREAM, SITE_STREAM, subjects};
use time::format_description::well_known::Rfc3339;

use crate::{
    broker,
    common_args::{CommonArgs, NamedArgs},
    output::{Column, print_output, table},
};

#[derive(Subcommand, Debug)]
pub enum Command {
    /// Lists the endpoints with their state
    List(CommonArgs),
    /// Switches an endpoint on again
    Enable(NamedArgs),
    /// Lists the latest attempts of an endpoint, newest first
    Deliveries(NamedArgs),
    /// Pauses deliveries to an endpoint; new events wait
    Pause(NamedArgs),
    /// Resumes deliveries to a paused endpoint
    Resume(NamedArgs),
    /// Shows the requests of a sample event, and sends nothing
    Preview(trying::TryArgs),
    /// Sends a marked sample event, and shows the requests and responses
    Test(trying::TryArgs),
}

/// # Errors
///
/// If the broker is unavailable, the endpoint does not exist, is not in the right state, or rejects a sample.
pub async fn run(command: &Command) -> anyhow::Result<()> {
    match command {
        Command::List(common) => list(common).await,
        Command::Enable(NamedArgs { name, common }) => control::enable(name, common).await,
        Command::Deliveries(NamedArgs { name, common }) => deliveries(name, common).await,
        Command::Pause(NamedArgs { name, common }) => control::pause(name, common).await,
        Command::Resume(NamedArgs { name, common }) => control::resume(name, common).await,
        Command::Preview(args) => trying::preview(args),
        Command::Test(args) => trying::test(args).await,
    }
}

pub async fn records(context: &Context) -> anyhow::Result<Records> {
    let bucket = open_bucket(context, ENDPOINTS_BUCKET).await?;
    Ok(Records::new(context, bucket))
}

const COLUMNS: [Column; 4] = [
    ("NAME", "name"),
    ("WAITING", "waiting"),
    ("DEAD LETTERS", "deadLetters"),
    ("STATE", "state"),
];

async fn list(common: &CommonArgs) -> anyhow::Result<()> {
    let rows = endpoints(&broker::connect(&common.nats).await?).await?;
    let lines = table(&COLUMNS, &rows, "There are no endpoints.")?;
    print_output(common.json, &json!({ "endpoints": rows }), lines)
}

const DELIVERY_COLUMNS: [Column; 6] = [
    ("TIME", "time"),
    ("EVENT", "event"),
    ("ATTEMPT", "attempt"),
    ("STATUS", "status"),
    ("MS", "milliseconds"),
    ("ERROR", "error"),
];

async fn deliveries(name: &str, common: &CommonArgs) -> anyhow::Result<()> {
    let context = broker::connect(&common.nats).await?;
    let record = records(&context).await?.read(&attempts_key(name)).await?;
    let mut attempts: Vec<Value> = record.value.unwrap_or_default();
    attempts.reverse();
    if attempts.is_empty() {
        control::consumer_info(&context, name).await?;
    }
    let nothing = format!("Nothing was sent to an endpoint {name} yet.");
    let lines = table(&DELIVERY_COLUMNS, &attempts, &nothing)?;
    let document = json!({ "endpoint": name, "deliveries": attempts });
    print_output(common.json, &document, lines)
}

/// Endpoints and their state, by name.
///
/// # Errors
///
/// If a record cannot be read, or the broker is unavailable.
pub async fn endpoints(context: &Context) -> anyhow::Result<Vec<Value>> {
    let records = records(context).await?;
    let site = broker::stream(context, SITE_STREAM).await?;
    let consumers: Vec<Info> = site.consumers().try_collect().await?;
    let mut rows = BTreeMap::new();
    for consumer in &consumers {
        let Some(name) = consumer.name.strip_prefix(Endpoint::CONSUMER_PREFIX) else {
            continue;
        };
        let state: Option<EndpointState> = records.read(name).await?.value;
        let state = state.unwrap_or_default();
        let (off, held) = (state.off, state.held);
        let since = state.failing_since.and_then(|since| since.format(&Rfc3339).ok());
        let state = match (&off, &held, &since) {
            (Some(reason), ..) => format!("off: {reason}"),
            (None, Some(refusal), _) if consumer.paused => format!("held: {refusal}"),
            _ if consumer.paused => "paused".to_owned(),
            (None, _, Some(since)) => format!("on, but fails since {since}"),
            (None, _, None) => "on".to_owned(),
        };
        let row = json!({
            "name": name,
            "state": state,
            "on": off.is_none(),
            "paused": consumer.paused,
            "held": held,
            "off": off,
            "failingSince": since,
            "waiting": broker::consumer_lag(consumer),
            "deadLetters": dead_letters(context, name).await?,
        });
        rows.insert(name, row);
    }
    Ok(rows.into_values().collect())
}

async fn dead_letters(context: &Context, name: &str) -> anyhow::Result<u64> {
    let letters = broker::reader(context, DEAD_LETTERS_STREAM).await?;
    let subject = subjects::dead_letter(&control::consumer(name), "*");
    Ok(letters.count(&subject).await?)
}
