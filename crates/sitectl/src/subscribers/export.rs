//! `sitectl subscribers export`.

use std::io::{Write, stdout};

use ::subscribers::Subscriber;
use anyhow::Context as _;
use async_nats::jetstream::message::StreamMessage;
use serde_json::json;
use site_broker::SUBSCRIBERS_BUCKET;
use site_events::subjects;
use time::OffsetDateTime;
use visitor::{
    PersonId,
    links::{LinkBuilder, UnsubscribeLinks},
};

use super::{
    state_name::StateName,
    table::{self, Row},
};
use crate::{broker, common_args::CommonArgs};

/// Writes those who are in one of these states, or all; with their unsubscribe links where there is a key to sign them.
///
/// # Errors
///
/// If the broker does not answer, or a record is not a subscriber's: nobody is written then.
pub async fn export(
    states: &[StateName],
    links: Option<&LinkBuilder>,
    common: &CommonArgs,
) -> anyhow::Result<()> {
    let context = broker::connect(&common.nats).await?;
    let bucket = broker::bucket(&context, SUBSCRIBERS_BUCKET).await?;
    let everybody = format!("{}*", bucket.prefix);
    let records = broker::search(&bucket.stream, &everybody).await?;
    let now = OffsetDateTime::now_utc();
    let mut rows = Vec::new();
    for record in records.iter().filter(|record| !record.payload.is_empty()) {
        let read = read(record)?;
        let Some(subscriber) = subscriber_of(read, &records) else {
            continue;
        };
        if states.is_empty() || states.iter().any(|state| state.name() == subscriber.state_name()) {
            let unsubscribe_links = links
                .map(|links| unsubscribe_links(links, record, now))
                .transpose()?;
            rows.push(Row::of(&subscriber, unsubscribe_links));
        }
    }
    let mut out = stdout().lock();
    if common.json {
        writeln!(out, "{}", json!({ "subscribers": rows }))?;
    } else {
        let columns = if links.is_some() {
            table::COLUMNS_WITH_LINKS
        } else {
            table::COLUMNS
        };
        out.write_all(&table::write(columns, &rows)?)?;
    }
    Ok(())
}

/// Whom a record tells of: nobody where it moved, and is there by now.
fn subscriber_of(read: Subscriber, records: &[StreamMessage]) -> Option<Subscriber> {
    let Some(to) = read.moved_to() else {
        return Some(read);
    };
    let carried = read.carried()?;
    let is_there = |record: &StreamMessage| {
        subjects::person_of(&record.subject) == to.as_str() && !record.payload.is_empty()
    };
    (!records.iter().any(is_there)).then_some(carried)
}

fn unsubscribe_links(
    links: &LinkBuilder,
    record: &StreamMessage,
    now: OffsetDateTime,
) -> anyhow::Result<UnsubscribeLinks> {
    let person = subjects::person_of(&record.subject).to_owned();
    let person = PersonId::try_from(person)
        .ok()
        .with_context(|| not_a_subscribers(record))?;
    Ok(links.unsubscribe_links(&person, now))
}

fn read(record: &StreamMessage) -> anyhow::Result<Subscriber> {
    let read = serde_json::from_slice(&record.payload);
    // The reader's own words may repeat what lies there.
    read.ok().with_context(|| not_a_subscribers(record))
}

fn not_a_subscribers(record: &StreamMessage) -> String {
    format!("The record {} is not a subscriber's.", record.subject)
}
