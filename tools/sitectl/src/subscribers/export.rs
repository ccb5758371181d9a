//! `sitectl subscribers export`.

use ::subscribers::{Subscriber, Subscribers};
use clap::Args;
use futures_util::TryStreamExt as _;
use serde_json::{Value, json};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{
    broker,
    common_args::CommonArgs,
    output::{Column, ListOutput, cells},
};

/// Columns, and their names in JSON.
pub const COLUMNS: [Column; 8] = [
    ("email", "email"),
    ("state", "state"),
    ("requested", "requested"),
    ("confirmed", "confirmed"),
    ("ended", "ended"),
    ("source", "source"),
    ("consent", "consent"),
    ("consent_form", "consentForm"),
];

#[derive(Args, Debug)]
pub struct ExportArgs {
    /// Only subscribers in this state; repeatable
    #[arg(long, value_parser = ["pending", "confirmed", "unsubscribed", "suppressed"])]
    state: Vec<String>,
    #[command(flatten)]
    common: CommonArgs,
}

/// # Errors
///
/// If the broker is unavailable, a record is invalid, or the output cannot be written.
pub async fn export(args: &ExportArgs) -> anyhow::Result<()> {
    let context = broker::connect(&args.common.nats).await?;
    let subscribers = Subscribers::open(context.client()).await?;
    let headings = COLUMNS.map(|(heading, _)| heading);
    let mut output = ListOutput::export_to_stdout(args.common.json, "subscribers", &headings)?;
    let mut records = subscribers.since(1);
    while let Some(record) = records.try_next().await? {
        let Some((_, subscriber)) = subscribers.record_of(&record)? else {
            continue;
        };
        if args.state.is_empty() || args.state.iter().any(|state| state == subscriber.state_name()) {
            let document = document(&subscriber);
            output.item(&document, || cells(&COLUMNS, &document))?;
        }
    }
    output.end("")
}

/// Subscriber by the names of [`COLUMNS`]. Former subscribers have no address (see [`Subscriber::forgotten`]).
pub fn document(subscriber: &Subscriber) -> Value {
    let time = |time: OffsetDateTime| time.format(&Rfc3339).ok();
    let consent = subscriber.consent.as_ref();
    json!({
        "email": subscriber.email,
        "state": subscriber.state_name(),
        "requested": time(subscriber.requested),
        "confirmed": subscriber.consented_at().and_then(time),
        "ended": subscriber.unsubscribed_at().and_then(time),
        "source": subscriber.source,
        "consent": consent.map(|consent| &consent.text),
        "consentForm": consent.map(|consent| &consent.form),
    })
}
