//! Events of one type, written one after another, with how each channel of each fared.

use std::{
    collections::BTreeMap,
    io::{BufWriter, Write},
};

use anyhow::Context as _;
use async_nats::jetstream::{Context, message::StreamMessage};
use clap::Args;
use csv::{Terminator, Writer, WriterBuilder};
use futures_util::{StreamExt as _, TryStreamExt as _, stream::BoxStream};
use serde_json::{Value, json};
use site_broker::{DELIVERIES_BUCKET, Endpoint, StreamReader, WITHHELD, buckets::read_value};
use site_events::{Attribution, Channel, DEAD_LETTERS_STREAM, Event, EventData, SITE_STREAM, subjects};
use time::{
    Date, OffsetDateTime,
    format_description::{BorrowedFormatItem, well_known::Rfc3339},
    macros::format_description,
};
use uuid::Uuid;

use crate::{
    broker, common_args::CommonArgs, output::ListOutput, progress::stdout, subscribers::table::escape_formula,
};

/// How many events' channels are looked up at once.
const LOOKUPS_AT_ONCE: usize = 16;
const DAY: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");

/// From when and until when.
#[derive(Args, Debug)]
pub struct Period {
    /// Only from then on: a day (2026-11-20) or a time (RFC 3339)
    #[arg(long, value_parser = time)]
    since: Option<OffsetDateTime>,
    /// Only before then: a day (2026-11-20) or a time (RFC 3339)
    #[arg(long, value_parser = time)]
    until: Option<OffsetDateTime>,
}

/// Which events of a type, and how to answer.
#[derive(Args, Debug)]
pub struct EventSelection {
    #[command(flatten)]
    period: Period,
    /// Only those whose campaign holds this text
    #[arg(long)]
    campaign: Option<String>,
    #[command(flatten)]
    common: CommonArgs,
}

impl EventSelection {
    fn takes<D: Columns>(&self, event: &Event<D>) -> bool {
        let wanted = self.campaign.as_deref();
        !event.subject.is_synthetic()
            && self.period.takes(event.time)
            && wanted.is_none_or(|wanted| campaign_of(event.data.attribution()).contains(wanted))
    }
}

impl Period {
    fn takes(&self, time: OffsetDateTime) -> bool {
        self.since.is_none_or(|since| time >= since) && self.until.is_none_or(|until| time < until)
    }
}

fn time(raw: &str) -> Result<OffsetDateTime, &'static str> {
    let day = || Date::parse(raw, DAY).map(|day| day.midnight().assume_utc());
    let time = OffsetDateTime::parse(raw, &Rfc3339).or_else(|_| day());
    time.map_err(|_| "it is neither a day such as 2026-11-20 nor a time such as 2026-11-20T12:00:00Z")
}

/// What of an event stands in the columns of a table, beside its id, its time and how its channels fared.
pub trait Columns: EventData {
    /// What several of them are called.
    const PLURAL: &'static str;

    /// The columns' names.
    const NAMES: &'static [&'static str];

    /// Those of them that a list has, too.
    const LISTED: &'static [&'static str];

    /// What stands in them.
    fn cells(&self) -> Vec<String>;

    /// Where the visitor came from.
    fn attribution(&self) -> Option<&Attribution>;
}

/// The campaign in a line; empty where there is none.
pub fn campaign_of(attribution: Option<&Attribution>) -> String {
    attribution.and_then(Attribution::campaign).unwrap_or_default()
}

/// Lists events, a row for each.
///
/// # Errors
///
/// If the broker does not answer, or nobody reads stdout any more.
pub async fn list<D: Columns>(
    selection: &EventSelection,
    takes: impl Fn(&D) -> bool + Send + Sync,
) -> anyhow::Result<()> {
    let common = &selection.common;
    let source = Source::open::<D>(&broker::connect(&common.nats).await?).await?;
    let headings = source.headings(D::LISTED);
    let headings = headings.iter().map(|name| name.to_uppercase());
    let mut output = ListOutput::to_stdout(common.json, D::PLURAL, headings);
    let mut rows = source.rows(selection, takes);
    while let Some(row) = rows.try_next().await? {
        output.item(&row.document(), || row.cells(D::LISTED).collect())?;
    }
    output.end("There are none.")
}

/// Writes events as a table, which a spreadsheet may open safely; for machines it is the list.
///
/// # Errors
///
/// If the broker does not answer, or nobody takes what is written.
pub async fn export<D: Columns>(
    selection: &EventSelection,
    takes: impl Fn(&D) -> bool + Send + Sync,
) -> anyhow::Result<()> {
    if selection.common.json {
        return list(selection, takes).await;
    }
    let source = Source::open::<D>(&broker::connect(&selection.common.nats).await?).await?;
    let mut rows = source.rows(selection, takes);
    let out = BufWriter::new(stdout());
    let mut table = WriterBuilder::new().terminator(Terminator::CRLF).from_writer(out);
    table.write_record(source.headings(D::NAMES))?;
    while let Some(row) = rows.try_next().await? {
        row.write_to(&mut table)?;
    }
    Ok(table.flush()?)
}

type Rows<'a, D> = BoxStream<'a, anyhow::Result<Row<D>>>;

/// An event, and how its channels fared, by their names.
struct Row<D> {
    event: Event<D>,
    channels: BTreeMap<String, String>,
}

impl<D: Columns> Row<D> {
    fn document(&self) -> Value {
        json!({
            "id": self.event.id,
            "time": self.event.time.format(&Rfc3339).ok(),
            "person": self.event.subject,
            "data": self.event.data,
            "channels": self.channels,
        })
    }

    /// What stands under the headings of these columns.
    fn cells(&self, columns: &[&str]) -> impl Iterator<Item = String> {
        let time = self.event.time.format(&Rfc3339).unwrap_or_default();
        let named = D::NAMES.iter().zip(self.event.data.cells());
        let taken = named.filter_map(move |(name, cell)| columns.contains(name).then_some(cell));
        let fared = self.channels.values().cloned();
        [self.event.id.to_string(), time]
            .into_iter()
            .chain(taken)
            .chain(fared)
    }

    fn write_to(&self, table: &mut Writer<impl Write>) -> anyhow::Result<()> {
        let cells = self.cells(D::NAMES);
        Ok(table.write_record(cells.map(|cell| escape_formula(&cell).into_owned()))?)
    }
}

/// Where events, and how they fared, are read.
struct Source {
    events: StreamReader,
    dead_letters: StreamReader,
    deliveries: async_nats::jetstream::kv::Store,
    /// The channels of the type, which are mails, and the endpoints that are set up; and the number in the stream up to which all
    /// that was for them is done.
    channels: BTreeMap<String, u64>,
}

impl Source {
    async fn open<D: EventData>(context: &Context) -> anyhow::Result<Self> {
        let events = broker::reader(context, SITE_STREAM).await?;
        let mails = Channel::ALL
            .into_iter()
            .filter(|channel| channel.event_type() == D::TYPE);
        let mut channels: BTreeMap<String, u64> =
            mails.map(|channel| (channel.name().to_owned(), 0)).collect();
        let mut consumers = events.stream().consumers();
        let subject = format!("{}.*", D::TYPE.subject_prefix());
        while let Some(consumer) = consumers.try_next().await? {
            let takes_it = consumer.config.filter_subjects.contains(&subject);
            let is_endpoint = takes_it && consumer.name.starts_with(Endpoint::CONSUMER_PREFIX);
            if is_endpoint || channels.contains_key(&consumer.name) {
                channels.insert(consumer.name, consumer.ack_floor.stream_sequence);
            }
        }
        drop(consumers);
        Ok(Self {
            events,
            dead_letters: broker::reader(context, DEAD_LETTERS_STREAM).await?,
            deliveries: broker::bucket(context, DELIVERIES_BUCKET).await?,
            channels,
        })
    }

    /// The names of the id, the time, these columns, and the channels.
    fn headings(&self, columns: &[&str]) -> Vec<String> {
        let fixed = ["id", "time"].into_iter().chain(columns.iter().copied());
        fixed
            .map(str::to_owned)
            .chain(self.channels.keys().cloned())
            .collect()
    }

    /// The events that are asked for, oldest first; those of checks are nobody's.
    fn rows<'a, D: Columns + 'a>(
        &'a self,
        selection: &'a EventSelection,
        takes: impl Fn(&D) -> bool + Send + Sync + 'a,
    ) -> Rows<'a, D> {
        let events = broker::all(&self.events).map_err(anyhow::Error::from);
        let events = events.try_filter_map(move |message| {
            let event = read::<D>(&message);
            let taken = event.filter(|event| selection.takes(event) && takes(&event.data));
            async move { Ok(taken.map(|event| (message.sequence, event))) }
        });
        events
            .map(async |event| {
                let (number, event) = event?;
                self.row(number, event).await
            })
            .buffered(LOOKUPS_AT_ONCE)
            .boxed()
    }

    /// The row of an event, which has this number in the stream.
    async fn row<D: EventData>(&self, number: u64, event: Event<D>) -> anyhow::Result<Row<D>> {
        let mut channels = BTreeMap::new();
        for (channel, done) in &self.channels {
            let recorded = self.recorded(event.id, event.subject.as_str(), channel).await?;
            // What is done without a record was so long ago that it is gone, was given up, or came before the channel.
            let unrecorded = if number <= *done { "no record" } else { "waiting" };
            channels.insert(channel.clone(), recorded.unwrap_or_else(|| unrecorded.to_owned()));
        }
        Ok(Row { event, channels })
    }

    /// How an event fared on a channel, where that is recorded.
    async fn recorded(&self, event: Uuid, person: &str, channel: &str) -> anyhow::Result<Option<String>> {
        let record = read_value(&self.deliveries, &format!("{event}.{channel}")).await;
        let record = record.context("the delivery records cannot be read")?;
        if let Some(record) = record {
            let record = String::from_utf8_lossy(&record).into_owned();
            let is_withheld = record.starts_with(WITHHELD);
            return Ok(Some(match is_withheld {
                true => record,
                false => format!("delivered {record}"),
            }));
        }
        let subject = subjects::dead_letter(channel, person);
        let letters = broker::search(&self.dead_letters, &subject).await?;
        let is_dead = letters
            .iter()
            .any(|letter| broker::event_id(letter) == Some(event));
        Ok(is_dead.then(|| "dead letter".to_owned()))
    }
}

/// An event of this type; what cannot be read is a dead letter of its own.
pub fn read<D: EventData>(message: &StreamMessage) -> Option<Event<D>> {
    let is_of_it = subjects::without_person(&message.subject) == D::TYPE.subject_prefix();
    is_of_it.then(|| serde_json::from_slice(&message.payload).ok())?
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    #[test]
    fn a_period_is_of_days_or_times_and_its_end_is_not_in_it() {
        assert_eq!(time("2026-11-20"), Ok(datetime!(2026-11-20 00:00 UTC)));
        assert_eq!(
            time("2026-11-20T12:00:00+01:00"),
            Ok(datetime!(2026-11-20 11:00 UTC))
        );
        assert!(time("yesterday").is_err());
        let period = Period {
            since: time("2026-11-20").ok(),
            until: time("2026-11-21").ok(),
        };
        assert!(period.takes(datetime!(2026-11-20 00:00 UTC)));
        assert!(!period.takes(datetime!(2026-11-21 00:00 UTC)));
        assert!(!period.takes(datetime!(2026-11-19 23:59:59 UTC)));
    }
}
