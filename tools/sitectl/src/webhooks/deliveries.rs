//! `sitectl webhooks deliveries`.

use serde_json::{Value, json};
use site_broker::endpoint_state::attempts_key;

use super::{control, records};
use crate::{
    broker,
    common_args::CommonArgs,
    output::{Column, print_output, table},
};

const COLUMNS: [Column; 6] = [
    ("TIME", "time"),
    ("EVENT", "event"),
    ("ATTEMPT", "attempt"),
    ("STATUS", "status"),
    ("MS", "milliseconds"),
    ("ERROR", "error"),
];

/// Lists the latest attempts of an endpoint.
///
/// # Errors
///
/// If the broker is unavailable, the record is invalid, or the endpoint does not exist.
pub async fn list(name: &str, common: &CommonArgs) -> anyhow::Result<()> {
    let context = broker::connect(&common.nats).await?;
    let record = records(&context).await?.read(&attempts_key(name)).await?;
    let mut attempts: Vec<Value> = record.value.unwrap_or_default();
    attempts.reverse();
    if attempts.is_empty() {
        control::consumer_info(&context, name).await?;
    }
    let nothing = format!("Nothing was sent to an endpoint {name} yet.");
    let lines = table(&COLUMNS, &attempts, &nothing)?;
    let document = json!({ "endpoint": name, "deliveries": attempts });
    print_output(common.json, &document, lines)
}
