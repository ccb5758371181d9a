//! `sitectl subscribers export`.

use std::io::{Write, stdout};

use ::subscribers::Subscriber;
use anyhow::Context as _;
use async_nats::jetstream::message::StreamMessage;
use serde_json::json;
use site_events::SUBSCRIBERS;

use super::{Stage, Usual, table};
use crate::broker;

/// Writes those who are in one of these states, or all.
pub async fn export(states: &[Stage], usual: &Usual) -> anyhow::Result<()> {
    let context = broker::connect(&usual.nats).await?;
    let bucket = broker::bucket(&context, SUBSCRIBERS).await?;
    let everybody = format!("{}*", bucket.prefix);
    let records = broker::search(&bucket.stream, &everybody).await?;
    let mut chosen = Vec::new();
    for record in records.iter().filter(|record| !record.payload.is_empty()) {
        let subscriber = read(record)?;
        if states.is_empty() || states.contains(&Stage::of(&subscriber)) {
            chosen.push(subscriber);
        }
    }
    let mut out = stdout().lock();
    if usual.json {
        let rows: Vec<table::Row<'_>> = chosen.iter().map(table::Row::of).collect();
        writeln!(out, "{}", json!({ "subscribers": rows }))?;
    } else {
        out.write_all(&table::write(&chosen)?)?;
    }
    Ok(())
}

fn read(record: &StreamMessage) -> anyhow::Result<Subscriber> {
    let read = serde_json::from_slice(&record.payload);
    // The reader's own words may repeat what lies there.
    read.ok()
        .with_context(|| format!("The record {} is not a subscriber's.", record.subject))
}
