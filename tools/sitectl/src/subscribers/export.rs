//! `sitectl subscribers export`.

use ::subscribers::Subscriber;
use anyhow::Context as _;
use clap::Args;
use futures_util::TryStreamExt as _;
use serde_json::{Map, Value};
use site_broker::SUBSCRIBERS_BUCKET;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use visitor::{links, links::LinkBuilder, token::TokenKey};

use crate::{
    broker::{self, BucketReader},
    common_args::CommonArgs,
    output::ListOutput,
};

/// The columns, and what they are called in JSON.
pub const COLUMNS: [(&str, &str); 8] = [
    ("email", "email"),
    ("state", "state"),
    ("requested", "requested"),
    ("confirmed", "confirmed"),
    ("ended", "ended"),
    ("source", "source"),
    ("consent", "consent"),
    ("consent_form", "consentForm"),
];
/// Those of an export that tells how each can unsubscribe.
const LINK_COLUMNS: [(&str, &str); 2] = [("unsubscribe", "unsubscribe"), ("one_click", "oneClick")];

/// Which subscribers, and what the links in an export are made with.
#[derive(Args, Debug)]
pub struct ExportArgs {
    /// Only those in this state; may be given more than once
    #[arg(long, value_parser = ["pending", "confirmed", "unsubscribed", "suppressed"])]
    state: Vec<String>,
    /// Key of the tokens in mailed links, at least 32 bytes, the same in every service; with it the export tells how
    /// each can unsubscribe
    #[arg(long, env = "TOKEN_KEY", hide_env_values = true, value_parser = TokenKey::new, requires = "site_url")]
    token_key: Option<TokenKey>,
    /// Address of the site, for these links
    #[arg(long, env = "SITE_URL", value_parser = links::site_url)]
    site_url: Option<String>,
    #[command(flatten)]
    common: CommonArgs,
}

/// Writes those who are in one of these states, or all; with their unsubscribe links where there is a key to sign them.
///
/// # Errors
///
/// If the broker does not answer, a record is not a subscriber's, or nobody takes what is written.
pub async fn export(args: &ExportArgs) -> anyhow::Result<()> {
    let context = broker::connect(&args.common.nats).await?;
    let bucket = BucketReader::open(&context, SUBSCRIBERS_BUCKET).await?;
    let links = args.token_key.as_ref().zip(args.site_url.as_deref());
    let links = links.map(|(key, site_url)| LinkBuilder::new(site_url, key));
    let mut columns = COLUMNS.to_vec();
    columns.extend(links.iter().flat_map(|_| LINK_COLUMNS));
    let headings: Vec<&str> = columns.iter().map(|(heading, _)| *heading).collect();
    let mut output = ListOutput::export_to_stdout(args.common.json, "subscribers", &headings)?;
    let now = OffsetDateTime::now_utc();
    let mut records = bucket.records();
    while let Some(record) = records.try_next().await? {
        // One that was removed left a marker.
        if record.payload.is_empty() {
            continue;
        }
        let subscriber: Option<Subscriber> = serde_json::from_slice(&record.payload).ok();
        let (subscriber, person) = subscriber
            .zip(broker::person_of(&record))
            .with_context(|| format!("The record {} is not a subscriber's.", record.subject))?;
        if !args.state.is_empty() && !args.state.iter().any(|state| state == subscriber.state_name()) {
            continue;
        }
        let mut cells = cells(&subscriber).to_vec();
        if let Some(links) = &links {
            let links = links.unsubscribe_links(&person, now);
            cells.extend([Some(links.page), Some(links.one_click)]);
        }
        output.item(&document(&columns, &cells), || text_of(&cells))?;
    }
    output.end("")
}

/// What stands under each of [`COLUMNS`].
pub fn cells(subscriber: &Subscriber) -> [Option<String>; 8] {
    let time = |time: OffsetDateTime| time.format(&Rfc3339).ok();
    let consent = subscriber.consent.clone();
    let (consent, consent_form) = consent.map(|consent| (consent.text, consent.form)).unzip();
    [
        // None of whoever left: see [`Subscriber::forgotten`].
        subscriber.email.as_ref().map(|email| email.as_str().to_owned()),
        Some(subscriber.state_name().to_owned()),
        time(subscriber.requested),
        subscriber.consented_at().and_then(time),
        subscriber.unsubscribed_at().and_then(time),
        subscriber.source.clone(),
        consent,
        consent_form,
    ]
}

fn document(columns: &[(&str, &str)], cells: &[Option<String>]) -> Map<String, Value> {
    let named = columns.iter().zip(cells);
    named
        .map(|((_, name), cell)| ((*name).to_owned(), cell.clone().into()))
        .collect()
}

fn text_of(cells: &[Option<String>]) -> Vec<String> {
    cells
        .iter()
        .map(|cell| cell.clone().unwrap_or_default())
        .collect()
}
