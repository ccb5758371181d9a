//! Events of one type, written one after another, with how each channel of each fared.

use std::collections::{BTreeMap, HashMap};

use async_nats::jetstream::{Context, message::StreamMessage, stream::Stream};
use clap::Args;
use futures_util::TryStreamExt as _;
use serde::Deserialize as _;
use serde_json::{Value, json};
use site_broker::{DELIVERIES_BUCKET, Endpoint, WITHHELD};
use site_events::{Attribution, Channel, DEAD_LETTERS_STREAM, EventType, SITE_STREAM, subjects};
use time::{
    Date, OffsetDateTime,
    format_description::{BorrowedFormatItem, well_known::Rfc3339},
    macros::format_description,
};
use visitor::PersonId;

use crate::{
    broker::{self, BucketReader},
    common_args::CommonArgs,
    output::ListOutput,
};

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

/// The events of a form, as tables have them.
pub struct Form {
    /// What several of them are called.
    pub plural: &'static str,
    /// Their type.
    pub event_type: EventType,
    /// The columns beside id, time and channels, and where in the event's data their cells are (JSON pointers).
    pub columns: &'static [(&'static str, &'static str)],
    /// Those of the columns that a list has, too.
    pub listed: &'static [&'static str],
}

/// The column whose cell is made of several of the event's data.
pub const CAMPAIGN: (&str, &str) = ("campaign", "/attribution");

/// Form of the output.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A row for each, of some columns.
    List,
    /// CSV with all columns, which a spreadsheet may open safely; for machines it is the list.
    Export,
}

impl Form {
    /// Prints the events that are asked for, oldest first, with how each channel of each fared.
    ///
    /// # Errors
    ///
    /// If the broker does not answer, or nobody takes what is written.
    pub async fn print(
        &self,
        style: Style,
        selection: &EventSelection,
        takes: impl Fn(&Value) -> bool,
    ) -> anyhow::Result<()> {
        let json = selection.common.json;
        let context = broker::connect(&selection.common.nats).await?;
        let events = broker::reader(&context, SITE_STREAM).await?;
        let channels = Channels::read(&context, events.stream(), self.event_type).await?;
        let is_printed = |(name, _): &&(&str, &str)| style == Style::Export || self.listed.contains(name);
        let columns: Vec<&(&str, &str)> = self.columns.iter().filter(is_printed).collect();
        let mut headings = vec!["id", "time"];
        headings.extend(columns.iter().map(|(name, _)| *name));
        headings.extend(channels.done.keys().map(String::as_str));
        let mut output = match style {
            Style::List => {
                ListOutput::to_stdout(json, self.plural, headings.iter().map(|name| name.to_uppercase()))
            }
            Style::Export => ListOutput::export_to_stdout(json, self.plural, &headings)?,
        };
        let mut messages = broker::all(&events);
        while let Some(message) = messages.try_next().await? {
            let Some(event) = read(&message, self.event_type) else {
                continue;
            };
            if !selection.takes(&event) || !takes(&event["data"]) {
                continue;
            }
            let fared = channels.fared(message.sequence, &event);
            let document = json!({
                "id": event["id"],
                "time": event["time"],
                "person": event["subject"],
                "data": event["data"],
                "channels": fared,
            });
            output.item(&document, || {
                let mut cells = vec![text(&event["id"]), text(&event["time"])];
                cells.extend(columns.iter().map(|column| cell(&event["data"], column)));
                cells.extend(fared.values().cloned());
                cells
            })?;
        }
        output.end("There are none.")
    }
}

impl EventSelection {
    /// Those of checks are nobody's.
    fn takes(&self, event: &Value) -> bool {
        let time = event["time"]
            .as_str()
            .and_then(|time| OffsetDateTime::parse(time, &Rfc3339).ok());
        let wanted = self.campaign.as_deref();
        event["subject"] != PersonId::synthetic().as_str()
            && time.is_some_and(|time| self.period.takes(time))
            && wanted.is_none_or(|wanted| cell(&event["data"], &CAMPAIGN).contains(wanted))
    }
}

fn cell(data: &Value, column: &(&str, &str)) -> String {
    let value = data.pointer(column.1).unwrap_or(&Value::Null);
    if *column == CAMPAIGN {
        let attribution = Attribution::deserialize(value).ok();
        return attribution
            .and_then(|attribution| attribution.campaign())
            .unwrap_or_default();
    }
    text(value)
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// How events fared on the channels of their type: on the mails, and on the endpoints that are set up.
struct Channels {
    /// The number in the stream up to which all that was for a channel is done.
    done: BTreeMap<String, u64>,
    /// What is recorded of an event on a channel, by both.
    recorded: HashMap<String, String>,
}

impl Channels {
    async fn read(context: &Context, events: &Stream, event_type: EventType) -> anyhow::Result<Self> {
        let mails = Channel::ALL.into_iter();
        let mails = mails.filter(|channel| channel.event_type() == event_type);
        let mut done: BTreeMap<String, u64> = mails.map(|channel| (channel.name().to_owned(), 0)).collect();
        let subject = format!("{}.*", event_type.subject_prefix());
        let mut consumers = events.consumers();
        while let Some(consumer) = consumers.try_next().await? {
            let takes_it = consumer.config.filter_subjects.contains(&subject);
            let is_endpoint = takes_it && consumer.name.starts_with(Endpoint::CONSUMER_PREFIX);
            if is_endpoint || done.contains_key(&consumer.name) {
                done.insert(consumer.name, consumer.ack_floor.stream_sequence);
            }
        }
        let mut recorded = HashMap::new();
        let dead_letters = broker::reader(context, DEAD_LETTERS_STREAM).await?;
        let mut letters = broker::all(&dead_letters);
        while let Some(letter) = letters.try_next().await? {
            let id = text(&broker::content(&letter)["id"]);
            let channel = subjects::channel_of(&letter.subject);
            recorded.insert(format!("{id}.{channel}"), "dead letter".to_owned());
        }
        let deliveries = BucketReader::open(context, DELIVERIES_BUCKET).await?;
        let mut records = deliveries.records();
        while let Some(record) = records.try_next().await? {
            let value = String::from_utf8_lossy(&record.payload);
            if let Some(key) = deliveries.key_of(&record).filter(|_| !value.is_empty()) {
                let is_withheld = value.starts_with(WITHHELD);
                let fared = if is_withheld {
                    value.to_string()
                } else {
                    format!("delivered {value}")
                };
                recorded.insert(key.to_owned(), fared);
            }
        }
        Ok(Self { done, recorded })
    }

    /// How an event, which has this number in the stream, fared on each channel.
    fn fared(&self, number: u64, event: &Value) -> BTreeMap<&str, String> {
        let fared = self.done.iter().map(|(channel, done)| {
            let recorded = self.recorded.get(&format!("{}.{channel}", text(&event["id"])));
            // What is done without a record was so long ago that it is gone, was given up, or came before the channel.
            let unrecorded = if number <= *done { "no record" } else { "waiting" };
            (
                &**channel,
                recorded.cloned().unwrap_or_else(|| unrecorded.to_owned()),
            )
        });
        fared.collect()
    }
}

/// An event of this type.
pub fn read(message: &StreamMessage, event_type: EventType) -> Option<Value> {
    let is_of_it = subjects::without_person(&message.subject) == event_type.subject_prefix();
    is_of_it.then(|| broker::content(message))
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
