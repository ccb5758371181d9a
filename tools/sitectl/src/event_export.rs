//! Lists and exports events of one form, with their outcome on each channel.

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

const CAMPAIGN: &str = "campaign";
const DAY: &[BorrowedFormatItem<'_>] = format_description!("[year]-[month]-[day]");

/// Selection of events.
#[derive(Args, Debug)]
pub struct EventSelection {
    /// Only events since this day (2026-11-20) or time (RFC 3339)
    #[arg(long, value_parser = time)]
    since: Option<OffsetDateTime>,
    /// Only events before this day (2026-11-20) or time (RFC 3339)
    #[arg(long, value_parser = time)]
    until: Option<OffsetDateTime>,
    /// Only events whose campaign contains this text
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

/// Form whose events are listed and exported.
pub struct Form {
    /// Plural noun, as key of the JSON array.
    pub plural: &'static str,
    pub event_type: EventType,
    /// Columns in addition to id, time, form fields, attribution and channels.
    pub more: &'static [&'static str],
    /// Columns of the table.
    pub listed: &'static [&'static str],
}

#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Style {
    List,
    /// CSV with all columns, safe in a spreadsheet.
    Export,
}

impl Form {
    /// Prints the selected events, oldest first, with their outcome on each channel.
    ///
    /// # Errors
    ///
    /// If the broker is unavailable, or the output cannot be written.
    pub async fn print(
        &self,
        style: Style,
        selection: &EventSelection,
        position: Option<&str>,
    ) -> anyhow::Result<()> {
        let json = selection.common.json;
        let context = broker::connect(&selection.common.nats).await?;
        let events = broker::reader(&context, SITE_STREAM).await?;
        let channels = Channels::read(&context, events.stream(), self.event_type).await?;
        let is_printed = |name: &&str| style == Style::Export || self.listed.contains(name);
        let columns: Vec<&str> = self.columns().filter(is_printed).collect();
        let mut headings = vec!["id", "time"];
        headings.extend(&columns);
        headings.extend(channels.acked.keys().map(String::as_str));
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
            let data = &event["data"];
            let has_position = position.is_none_or(|part| text(&data["position"]).contains(part));
            if !selection.selects(&event) || !has_position {
                continue;
            }
            let outcomes = channels.outcomes(message.sequence, &event);
            let document = json!({
                "id": event["id"],
                "time": event["time"],
                "person": event["subject"],
                "data": data,
                "channels": outcomes,
            });
            output.item(&document, || {
                let head = ["id", "time"].map(|name| text(&event[name]));
                let fields = columns.iter().map(|name| cell(data, name));
                let outcomes = outcomes.values().map(|outcome| (*outcome).to_owned());
                head.into_iter().chain(fields).chain(outcomes).collect()
            })?;
        }
        output.end("There are none.")
    }

    fn columns(&self) -> impl Iterator<Item = &'static str> {
        let fields = self.event_type.form_fields().iter().map(|(name, _)| *name);
        let more = self.more.iter().copied();
        fields.chain(more).chain(["page", "referrer", CAMPAIGN])
    }
}

impl EventSelection {
    /// Leaves out synthetic submissions.
    fn selects(&self, event: &Value) -> bool {
        let time = broker::time_of(event);
        let campaign = self.campaign.as_deref();
        event["subject"] != PersonId::synthetic().as_str()
            && time.is_some_and(|time| self.since.is_none_or(|since| time >= since))
            && time.is_some_and(|time| self.until.is_none_or(|until| time < until))
            && campaign.is_none_or(|part| cell(&event["data"], CAMPAIGN).contains(part))
    }
}

fn cell(data: &Value, column: &str) -> String {
    let attribution = &data["attribution"];
    match column {
        "resume" => text(&data["resume"]["fileName"]),
        "page" | "referrer" => text(&attribution[column]),
        CAMPAIGN => {
            let attribution = Attribution::deserialize(attribution).ok();
            let campaign = attribution.and_then(|attribution| attribution.campaign());
            campaign.unwrap_or_default()
        }
        _ => text(&data[column]),
    }
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// Outcomes of events on the channels of their type: mails, and configured endpoints.
struct Channels {
    /// Sequence up to which each channel has acked every event.
    acked: BTreeMap<String, u64>,
    /// Recorded outcomes, by event id and channel.
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
            // The subject is `$KV.deliveries.<event id>.<channel>`.
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
            acked: of_type.collect(),
            recorded,
        })
    }

    /// Outcome of an event, by channel. An event without a record is older than 30 days, was dropped, or preceded the channel.
    fn outcomes(&self, sequence: u64, event: &Value) -> BTreeMap<&str, &str> {
        let outcome = |(channel, acked): (&String, &u64)| {
            let recorded = self.recorded.get(&format!("{}.{channel}", text(&event["id"])));
            let unrecorded = if sequence <= *acked {
                "no record"
            } else {
                "waiting"
            };
            recorded.map_or(unrecorded, String::as_str)
        };
        let channels = self.acked.iter();
        channels.map(|entry| (entry.0.as_str(), outcome(entry))).collect()
    }
}

/// The event of a message, if it has this type.
pub fn read(message: &StreamMessage, event_type: EventType) -> Option<Value> {
    let is_of_type = subjects::without_person(&message.subject) == event_type.subject_prefix();
    is_of_type.then(|| broker::content(message))
}
