//! `sitectl webhooks`: how the endpoints fare, trying one, and switching one on again.

mod deliveries;
mod pausing;
mod trying;

use std::collections::BTreeMap;

use anyhow::{Context as _, ensure};
use async_nats::jetstream::{Context, consumer::Info, kv::Store};
use clap::{Args, Subcommand};
use futures_util::TryStreamExt as _;
use serde::Serialize;
use serde_json::json;
use site_broker::{
    ENDPOINTS_BUCKET, Endpoint,
    endpoint_state::{EndpointState, is_attempts_key},
};
use site_events::{DEAD_LETTERS_STREAM, SITE_STREAM, subjects};
use time::format_description::well_known::Rfc3339;

use crate::{
    broker::{self, BucketReader},
    common_args::CommonArgs,
    output::{ListOutput, print_output},
};

/// Which of the commands, and what it needs to know.
#[derive(Args, Debug)]
pub struct WebhooksArgs {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand, Debug)]
enum Command {
    /// Lists the endpoints and how they fare
    List(CommonArgs),
    /// Switches an endpoint on again
    Enable {
        /// Its name in the list
        name: String,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Lists the last attempts at an endpoint, the newest first
    Deliveries {
        /// Its name in the list
        name: String,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Lets nothing more go to an endpoint until it is resumed: what comes waits
    Pause {
        /// Its name in the list
        name: String,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Lets what waits go to an endpoint that was paused
    Resume {
        /// Its name in the list
        name: String,
        #[command(flatten)]
        common: CommonArgs,
    },
    /// Shows what an endpoint would be sent of a sample, and sends nothing
    Preview(trying::TryArgs),
    /// Sends a sample that is marked as one to an endpoint, and shows what was sent and answered
    Test(trying::TryArgs),
}

/// Does what was asked for.
///
/// # Errors
///
/// If the broker does not answer, there is no such endpoint, the endpoint that is to be enabled is on, or a sample is not taken.
pub async fn run(args: &WebhooksArgs) -> anyhow::Result<()> {
    match &args.command {
        Command::List(common) => list(common).await,
        Command::Enable { name, common } => enable(name, common).await,
        Command::Deliveries { name, common } => deliveries::list(name, common).await,
        Command::Pause { name, common } => pausing::pause(name, common).await,
        Command::Resume { name, common } => pausing::resume(name, common).await,
        Command::Preview(args) => trying::preview(args),
        Command::Test(args) => trying::test(args).await,
    }
}

/// How the endpoints fare of which anything is known, by name.
///
/// # Errors
///
/// If the bucket is not there, a record of it cannot be read, or the broker does not answer.
pub async fn states(context: &Context) -> anyhow::Result<BTreeMap<String, EndpointState>> {
    let bucket = BucketReader::open(context, ENDPOINTS_BUCKET).await?;
    let (mut states, mut records) = (BTreeMap::new(), bucket.records());
    while let Some(record) = records.try_next().await? {
        // An empty one is the marker of a record that was removed by hand.
        let is_state = |key: &&str| !record.payload.is_empty() && !is_attempts_key(key);
        let Some(name) = bucket.key_of(&record).filter(is_state) else {
            continue;
        };
        let state = serde_json::from_slice(&record.payload);
        let state = state.with_context(|| format!("the record of endpoint {name} cannot be read"))?;
        states.insert(name.to_owned(), state);
    }
    Ok(states)
}

/// What the list tells of each endpoint.
const HEADINGS: [&str; 4] = ["NAME", "WAITING", "DEAD LETTERS", "STATE"];

/// One endpoint, as it is listed.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Row {
    name: String,
    on: bool,
    /// Whether what comes waits until it is resumed.
    paused: bool,
    /// How it refused our credentials: it is asked once an hour.
    held: Option<String>,
    /// Why it is off.
    off: Option<String>,
    failing_since: Option<String>,
    waiting: u64,
    dead_letters: u64,
}

impl Row {
    /// What stands under each of [`HEADINGS`].
    fn cells(&self) -> Vec<String> {
        let fares = match (&self.off, &self.held, &self.failing_since) {
            (Some(reason), ..) => format!("off: {reason}"),
            (None, Some(refusal), _) if self.paused => format!("held: {refusal}"),
            _ if self.paused => "paused".to_owned(),
            (None, _, Some(since)) => format!("on, but fails since {since}"),
            (None, _, None) => "on".to_owned(),
        };
        let (waiting, letters) = (self.waiting.to_string(), self.dead_letters.to_string());
        vec![self.name.clone(), waiting, letters, fares]
    }
}

async fn list(common: &CommonArgs) -> anyhow::Result<()> {
    let context = broker::connect(&common.nats).await?;
    let mut states = states(&context).await?;
    let site = broker::stream(&context, SITE_STREAM).await?;
    let consumers: Vec<Info> = site.consumers().try_collect().await?;
    let mut rows = Vec::new();
    for consumer in &consumers {
        let Some(name) = consumer.name.strip_prefix(Endpoint::CONSUMER_PREFIX) else {
            continue;
        };
        let state = states.remove(name).unwrap_or_default();
        let since = state.failing_since.and_then(|since| since.format(&Rfc3339).ok());
        rows.push(Row {
            name: name.to_owned(),
            on: state.off.is_none(),
            paused: consumer.paused,
            held: state.held,
            off: state.off,
            failing_since: since,
            waiting: broker::consumer_lag(consumer),
            dead_letters: dead_letters(&context, name).await?,
        });
    }
    rows.sort_by(|a, b| a.name.cmp(&b.name));
    let mut list = ListOutput::to_stdout(common.json, "endpoints", HEADINGS);
    for row in &rows {
        list.item(&json!(row), || row.cells())?;
    }
    list.end("There are no endpoints.")
}

async fn enable(name: &str, common: &CommonArgs) -> anyhow::Result<()> {
    let context = broker::connect(&common.nats).await?;
    let state = states(&context).await?.remove(name);
    let state = state.with_context(|| {
        format!("There is no endpoint {name} that ever failed; see `sitectl webhooks list`.")
    })?;
    ensure!(state.off.is_some(), "The endpoint {name} is on.");
    let bucket: Store = broker::bucket(&context, ENDPOINTS_BUCKET).await?;
    let well = serde_json::to_vec(&EndpointState::default())?;
    bucket.put(name, well.into()).await?;
    let letters = dead_letters(&context, name).await?;
    let lines = [
        format!("Switched on: {name}. It gets what comes from now on."),
        format!(
            "Dead letters of it: {letters}; hand them over with `sitectl dead-letters replay`, numbers by \
             `sitectl dead-letters list`."
        ),
    ];
    print_output(
        common.json,
        &json!({ "name": name, "state": "on", "enabled": name, "deadLetters": letters }),
        lines,
    )
}

/// How many dead letters an endpoint has.
async fn dead_letters(context: &Context, name: &str) -> anyhow::Result<u64> {
    let letters = broker::reader(context, DEAD_LETTERS_STREAM).await?;
    let consumer = format!("{}{name}", Endpoint::CONSUMER_PREFIX);
    let subject = subjects::dead_letter(&consumer, "*");
    Ok(letters.count(&subject).await?)
}
