//! Events of one type, written one after another, with their outcome on each channel.

use std::collections::{BTreeMap, HashMap};

use async_nats::jetstream::{Context, message::StreamMessage, stream::Stream};
use clap::Args;
use futures_util::TryStreamExt as _;
use serde::Deserialize as _;
use serde_json::{Value, json};
use site_broker::{DELIVERIES_BUCKET, WITHHELD};
use site_events::{Attribution, DEAD_LETTERS_STREAM, EventType, SITE_STREAM, subjects};
use time::{
    Date, OffsetDateTime,
    format_description::{BorrowedFormatItem, well_known::Rfc3339},
    macros::format_description,
};
use visitor::PersonId;

use crate::{broker, common_args::CommonArgs, output::ListOutput};

const DAY: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");

/// Which events of a type, and how to answer.
#[derive(Args, Debug)]
pub struct EventSelection {
    /// Only from then on: a day (2026-11-20) or a time (RFC 3339)
    #[arg(long, value_parser = time)]
    since: Option<OffsetDateTime>,
    /// Only before then: a day (2026-11-20) or a time (RFC 3339)
    #[arg(long, value_parser = time)]
    until: Option<OffsetDateTime>,
    /// Only those whose campaign holds this text
    #[arg(long)]
    campaign: Option<String>,
    #[command(flatten)]
    common: CommonArgs,
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
    /// Columns beside id, time, fields, attribution and channels: heading, and JSON pointer in the event's data.
    pub more: &'static [(&'static str, &'static str)],
    /// Columns of a list.
    pub listed: &'static [&'static str],
}

const CAMPAIGN: &str = "campaign";

/// Form of the output.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Style {
    /// A row for each, of some columns.
    List,
    /// CSV with all columns, which a spreadsheet may open safely; for machines it is the list.
    Export,
}

impl Form {
    /// Prints the selected events, oldest first, with their outcome on each channel.
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
        let is_printed = |name: &str| style == Style::Export || self.listed.contains(&name);
        let columns: Vec<_> = self.columns().filter(|(name, _)| is_printed(name)).collect();
        let mut headings = vec!["id", "time"];
        headings.extend(columns.iter().map(|(name, _)| *name));
        headings.extend(channels.done.keys().map(String::as_str));
        let mut output = match style {
            Style::List => {
                ListOutput::to_stdout(json, self.plural, headings.iter().map(|name| name.to_uppercase()))
            }
            Style::Export => ListOutput::export_to_stdout(json, self.plural, &headings)?,
        };
        let mut messages = events.all();
        while let Some(message) = messages.try_next().await? {
            let Some(event) = read(&message, self.event_type) else {
                continue;
            };
            if !selection.takes(&event) || !takes(&event["data"]) {
                continue;
            }
            let outcomes = channels.outcomes(message.sequence, &event);
            let document = json!({
                "id": event["id"],
                "time": event["time"],
                "person": event["subject"],
                "data": event["data"],
                "channels": outcomes,
            });
            output.item(&document, || {
                let mut cells = vec![text(&event["id"]), text(&event["time"])];
                cells.extend(
                    columns
                        .iter()
                        .map(|(name, pointer)| cell(&event["data"], name, pointer)),
                );
                cells.extend(outcomes.values().map(|outcome| (*outcome).to_owned()));
                cells
            })?;
        }
        output.end("There are none.")
    }

    fn columns(&self) -> impl Iterator<Item = (&'static str, String)> {
        let attribution = [
            ("page", "/attribution/page"),
            ("referrer", "/attribution/referrer"),
            (CAMPAIGN, "/attribution"),
        ];
        let fields = self.event_type.form_fields().iter();
        let fields = fields.map(|(name, _)| (*name, format!("/{name}")));
        let others = self.more.iter().copied().chain(attribution);
        fields.chain(others.map(|(name, pointer)| (name, pointer.to_owned())))
    }
}

impl EventSelection {
    /// Those of checks are nobody's.
    fn takes(&self, event: &Value) -> bool {
        let time = broker::time_of(event);
        let wanted = self.campaign.as_deref();
        event["subject"] != PersonId::synthetic().as_str()
            && time.is_some_and(|time| self.since.is_none_or(|since| time >= since))
            && time.is_some_and(|time| self.until.is_none_or(|until| time < until))
            && wanted.is_none_or(|wanted| cell(&event["data"], CAMPAIGN, "/attribution").contains(wanted))
    }
}

fn cell(data: &Value, name: &str, pointer: &str) -> String {
    let value = data.pointer(pointer).unwrap_or(&Value::Null);
    if name == CAMPAIGN {
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

/// Outcomes of events on the channels of their type: the mails, and the endpoints that are set up.
struct Channels {
    /// Sequence up to which each channel has handled everything.
    done: BTreeMap<String, u64>,
    /// Outcomes that are recorded, by event id and channel.
    recorded: HashMap<String, String>,
}

impl Channels {
    async fn read(context: &Context, events: &Stream, event_type: EventType) -> anyhow::Result<Self> {
        let subject = format!("{}.*", event_type.subject_prefix());
        let consumers: Vec<_> = events.consumers().try_collect().await?;
        let of_type = consumers
            .into_iter()
            .filter(|consumer| consumer.config.filter_subjects.contains(&subject))
            .map(|consumer| (consumer.name, consumer.ack_floor.stream_sequence));
        let mut recorded = HashMap::new();
        let dead_letters = broker::reader(context, DEAD_LETTERS_STREAM).await?;
        let mut letters = dead_letters.all();
        while let Some(letter) = letters.try_next().await? {
            let id = text(&broker::content(&letter)["id"]);
            let channel = subjects::channel_of(&letter.subject);
            recorded.insert(format!("{id}.{channel}"), "dead letter".to_owned());
        }
        let deliveries = broker::bucket(context, DELIVERIES_BUCKET).await?;
        let mut records = deliveries.all();
        while let Some(record) = records.try_next().await? {
            // $KV.deliveries.<event id>.<channel>
            let key = record.subject.splitn(3, '.').nth(2).unwrap_or_default();
            match String::from_utf8_lossy(&record.payload) {
                removed if removed.is_empty() => {}
                withheld if withheld.starts_with(WITHHELD) => {
                    recorded.insert(key.to_owned(), withheld.into_owned());
                }
                time => {
                    recorded.insert(key.to_owned(), format!("delivered {time}"));
                }
            }
        }
        Ok(Self {
            done: of_type.collect(),
            recorded,
        })
    }

    /// Outcome of an event, by channel. Without a record it is older than 30 days, was given up, or came before the channel.
    fn outcomes(&self, sequence: u64, event: &Value) -> BTreeMap<&str, &str> {
        let outcome = |(channel, done): (&String, &u64)| {
            let recorded = self.recorded.get(&format!("{}.{channel}", text(&event["id"])));
            let unrecorded = if sequence <= *done { "no record" } else { "waiting" };
            recorded.map_or(unrecorded, String::as_str)
        };
        let channels = self.done.iter();
        channels.map(|entry| (entry.0.as_str(), outcome(entry))).collect()
    }
}

/// An event of this type.
pub fn read(message: &StreamMessage, event_type: EventType) -> Option<Value> {
    let is_of_it = subjects::without_person(&message.subject) == event_type.subject_prefix();
    is_of_it.then(|| broker::content(message))
}
