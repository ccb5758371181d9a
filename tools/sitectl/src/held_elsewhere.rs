//! Who else holds a person's data: the endpoints of webhooks that were sent their events, as the delivery records say. Those expire; of
//! an event that is older each endpoint may have been sent it that hears of such events. So may one that answers with errors.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use anyhow::Context as _;
use async_nats::jetstream::{Context, consumer::Info, message::StreamMessage, stream::Stream};
use futures_util::TryStreamExt as _;
use serde::Serialize;
use site_broker::Endpoint;
use site_events::{EventType, subjects};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::Uuid;

use crate::{
    broker,
    personal_data::{DELIVERIES, EVENTS, PersonalData},
    webhooks,
};

/// An endpoint that holds a person's data, or may.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Holder {
    /// Its name.
    endpoint: String,
    /// How many of their events it was sent.
    sent: usize,
    /// How many it may have been sent besides.
    may_have_been_sent: usize,
    /// Who tells it of the erasure: the event, or nobody but the operator, where it does not hear of that or is off.
    notice: &'static str,
}

/// The holders of what was found of a person.
///
/// # Errors
///
/// If the broker does not answer, or how an endpoint fares cannot be read.
pub async fn search(context: &Context, found: &PersonalData) -> anyhow::Result<Vec<Holder>> {
    let events = broker::stream(context, &EVENTS.stream_name()).await?;
    let deliveries = broker::stream(context, &DELIVERIES.stream_name()).await?;
    let consumers = endpoint_consumers(&events).await?;
    let known = webhooks::endpoints(context).await?;
    let recorded_since = OffsetDateTime::now_utc() - deliveries.cached_info().config.max_age;

    let records = found.of(DELIVERIES).iter();
    let records: BTreeSet<&str> = records
        .filter_map(|record| record.subject.splitn(3, '.').last())
        .collect();
    let recorded = records.iter().filter_map(|record| endpoint_of(record));
    let names: BTreeSet<&str> = consumers.keys().map(String::as_str).chain(recorded).collect();
    let mut holders = Vec::new();
    for name in names {
        let consumer = consumers.get(name);
        let hears_of = |kind: &str| consumer.is_some_and(|info| hears_of(info, kind));
        let record_of = |event: &Uuid| format!("{event}.{}{name}", Endpoint::CONSUMER_PREFIX);
        let is_sent = |event: &Uuid| records.contains(&*record_of(event));
        let has_failed = |event: &Uuid| {
            let failures = format!("{}_", record_of(event));
            records.iter().any(|record| record.starts_with(&failures))
        };
        let may_have_been_sent = found.of(EVENTS).iter().filter(|event| {
            let was_begun =
                time(event) < recorded_since || consumer.is_some_and(|info| is_under_way(info, event));
            let is_told = hears_of(subjects::without_person(&event.subject)) && was_begun;
            broker::event_id(event).is_some_and(|id| !is_sent(&id) && (is_told || has_failed(&id)))
        });
        let is_on = known
            .iter()
            .all(|known| known["name"] != name || known["on"] == true);
        let is_told = is_on && hears_of(EventType::PersonErased.subject_prefix());
        let holder = Holder {
            endpoint: name.to_owned(),
            sent: found.event_ids().iter().filter(|event| is_sent(event)).count(),
            may_have_been_sent: may_have_been_sent.count(),
            notice: if is_told { "told" } else { "to be told by you" },
        };
        if holder.sent + holder.may_have_been_sent > 0 {
            holders.push(holder);
        }
    }
    Ok(holders)
}

/// The endpoints' consumers, by the endpoints' names.
async fn endpoint_consumers(events: &Stream) -> anyhow::Result<BTreeMap<String, Info>> {
    let infos = events.consumers().try_collect::<Vec<Info>>().await;
    let infos = infos.context("the endpoints of webhooks cannot be listed")?;
    let endpoints = infos.into_iter().filter_map(|info| {
        let name = info.name.strip_prefix(Endpoint::CONSUMER_PREFIX)?.to_owned();
        Some((name, info))
    });
    Ok(endpoints.collect())
}

/// The endpoint of a delivery record, which is of an event and a channel. Names of endpoints have no underscore: what follows one says
/// what came of failures.
fn endpoint_of(record: &str) -> Option<&str> {
    let (_, channel) = record.split_once('.')?;
    channel.strip_prefix(Endpoint::CONSUMER_PREFIX)?.split('_').next()
}

/// The same for people: a line for each.
pub fn lines(holders: &[Holder]) -> Vec<String> {
    if holders.is_empty() {
        return vec!["No endpoint of webhooks is known to have been sent anything of them.".to_owned()];
    }
    let heading = "Held elsewhere too, by endpoints of webhooks:".to_owned();
    std::iter::once(heading)
        .chain(holders.iter().map(ToString::to_string))
        .collect()
}

/// When an event happened. One that was restored from a backup was stored later.
fn time(event: &StreamMessage) -> OffsetDateTime {
    let told = broker::content(event)["time"]
        .as_str()
        .and_then(|time| OffsetDateTime::parse(time, &Rfc3339).ok());
    told.unwrap_or(event.time)
}

/// Whether an endpoint was sent an event, or is, and did not take it yet: it may have read it all the same.
fn is_under_way(endpoint: &Info, event: &StreamMessage) -> bool {
    let (taken, begun) = (&endpoint.ack_floor, &endpoint.delivered);
    (taken.stream_sequence + 1..=begun.stream_sequence).contains(&event.sequence)
}

/// Whether an endpoint takes events of this kind, whoever they are about.
fn hears_of(endpoint: &Info, kind: &str) -> bool {
    let config = &endpoint.config;
    let mut filters = config.filter_subjects.iter().chain([&config.filter_subject]);
    filters.any(|filter| subjects::without_person(filter) == kind)
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sent, may) = (self.sent, self.may_have_been_sent);
        write!(f, "{}: ", self.endpoint)?;
        match (sent, may) {
            (0, _) => write!(f, "may have been sent {may} of their events")?,
            (_, 0) => write!(f, "was sent {sent} of their events")?,
            _ => write!(
                f,
                "was sent {sent} of their events, and may have been sent {may} more"
            )?,
        }
        write!(f, "; {}", self.notice)
    }
}
