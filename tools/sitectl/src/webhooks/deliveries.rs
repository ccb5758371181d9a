//! `sitectl webhooks deliveries`.

use anyhow::Context as _;
use serde_json::json;
use site_broker::{
    ENDPOINTS_BUCKET,
    endpoint_state::{Attempt, attempts_key},
};
use time::format_description::well_known::Rfc3339;

use super::pausing;
use crate::{
    broker::{self, BucketReader},
    common_args::CommonArgs,
    output::{print_output, table},
};

/// What the list tells of each attempt.
const HEADINGS: [&str; 6] = ["TIME", "EVENT", "ATTEMPT", "STATUS", "TOOK", "RESULT"];

/// Lists the last attempts at an endpoint.
///
/// # Errors
///
/// If the broker does not answer, what is noted cannot be read, or nothing is and there is no such endpoint.
pub async fn list(name: &str, common: &CommonArgs) -> anyhow::Result<()> {
    let context = broker::connect(&common.nats).await?;
    let bucket = BucketReader::open(&context, ENDPOINTS_BUCKET).await?;
    let records = bucket.search(&attempts_key(name)).await?;
    let noted = records
        .last()
        .map(|record| serde_json::from_slice(&record.payload));
    let noted: Option<Vec<Attempt>> = noted.transpose().context("the attempts cannot be read")?;
    let mut attempts = noted.unwrap_or_default();
    attempts.reverse();
    let mut lines = table(HEADINGS, attempts.iter().map(cells))?;
    if lines.is_empty() {
        pausing::consumer_info(&context, name).await?;
        lines.push(format!("Nothing was sent to an endpoint {name} yet."));
    }
    print_output(
        common.json,
        &json!({ "endpoint": name, "deliveries": attempts }),
        lines,
    )
}

/// What stands under each of [`HEADINGS`].
fn cells(attempt: &Attempt) -> [String; 6] {
    let status = attempt.status.map(|status| status.to_string());
    [
        attempt.time.format(&Rfc3339).unwrap_or_default(),
        attempt.event.to_string(),
        attempt.attempt.to_string(),
        status.unwrap_or_else(|| "no answer".to_owned()),
        format!("{} ms", attempt.milliseconds),
        attempt.error.clone().unwrap_or_else(|| "taken".to_owned()),
    ]
}
