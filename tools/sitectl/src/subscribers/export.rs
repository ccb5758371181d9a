//! `sitectl subscribers export`.

use std::io::BufWriter;

use ::subscribers::Subscriber;
use anyhow::Context as _;
use async_nats::jetstream::message::StreamMessage;
use futures_util::TryStreamExt as _;
use site_broker::SUBSCRIBERS_BUCKET;
use time::OffsetDateTime;
use visitor::links::{LinkBuilder, UnsubscribeLinks};

use super::{
    state_name::StateName,
    table::{self, Row, Table},
};
use crate::{
    broker::{self, BucketReader},
    common_args::CommonArgs,
    output::ListOutput,
    progress::stdout,
};

/// Writes those who are in one of these states, or all; with their unsubscribe links where there is a key to sign them.
///
/// # Errors
///
/// If the broker does not answer, or a record is not a subscriber's: nobody is written then. All are read once before the first is
/// written, rather than held.
pub async fn export(
    states: &[StateName],
    links: Option<&LinkBuilder>,
    common: &CommonArgs,
) -> anyhow::Result<()> {
    let context = broker::connect(&common.nats).await?;
    let bucket = BucketReader::open(&context, SUBSCRIBERS_BUCKET).await?;
    let export = Export {
        bucket: &bucket,
        states,
        links,
        now: OffsetDateTime::now_utc(),
    };
    export.rows(|_| Ok(())).await?;
    if common.json {
        let mut list = ListOutput::to_stdout(true, "subscribers", [""; 0]);
        export.rows(|row| list.item(&row, Vec::new)).await?;
        return list.end("");
    }
    let columns = links.map_or(table::COLUMNS, |_| table::COLUMNS_WITH_LINKS);
    let mut table = Table::begin(BufWriter::new(stdout()), columns)?;
    export.rows(|row| table.write(&row)).await?;
    table.end()
}

/// What an export is asked for.
struct Export<'a> {
    bucket: &'a BucketReader,
    states: &'a [StateName],
    links: Option<&'a LinkBuilder>,
    now: OffsetDateTime,
}

impl Export<'_> {
    /// Hands over row after row.
    async fn rows(&self, mut take: impl FnMut(Row) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let mut records = self.bucket.records();
        while let Some(record) = records.try_next().await? {
            if let Some(row) = self.row(&record)? {
                take(row)?;
            }
        }
        Ok(())
    }

    /// The row of a record, unless it was removed or is in another state.
    fn row(&self, record: &StreamMessage) -> anyhow::Result<Option<Row>> {
        if record.payload.is_empty() {
            return Ok(None);
        }
        let subscriber = read(record)?;
        let is_named = |state: &StateName| state.name() == subscriber.state_name();
        if !self.states.is_empty() && !self.states.iter().any(is_named) {
            return Ok(None);
        }
        let links = self.links.map(|links| unsubscribe_links(links, record, self.now));
        Ok(Some(Row::of(&subscriber, links.transpose()?)))
    }
}

fn unsubscribe_links(
    links: &LinkBuilder,
    record: &StreamMessage,
    now: OffsetDateTime,
) -> anyhow::Result<UnsubscribeLinks> {
    let person = broker::person_of(record).with_context(|| not_a_subscribers(record))?;
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
