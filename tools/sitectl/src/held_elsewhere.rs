//! Who else holds a person's data: the endpoints of webhooks that were sent their events, as the delivery records say. Those expire; of
//! an event that is older each endpoint may have been sent it that hears of such events. So may one that answers with errors.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use anyhow::Context as _;
use async_nats::jetstream::{Context, consumer::Info, message::StreamMessage};
use futures_util::TryStreamExt as _;
use serde::Serialize;
use site_broker::{Endpoint, StreamReader};
use site_events::{EventType, subjects};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{
    broker::{self, BucketReader},
    personal_data::PersonalData,
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
pub async fn search(
    context: &Context,
    events: &StreamReader,
    deliveries: &BucketReader,
    found: &PersonalData,
) -> anyhow::Result<Vec<Holder>> {
    let consumers = events.stream().consumers().try_collect::<Vec<Info>>().await;
    let consumers = consumers.context("the endpoints of webhooks cannot be listed")?;
    let states = webhooks::states(context).await?;
    let recorded_since = OffsetDateTime::now_utc() - deliveries.stream().cached_info().config.max_age;

    let mut sent = BTreeMap::<&str, BTreeSet<&str>>::new();
    let mut tried = sent.clone();
    for record in &found.deliveries {
        let key = deliveries.key_of(record).and_then(|key| key.split_once('.'));
        let endpoint = key.and_then(|(event, to)| Some((event, to.strip_prefix(Endpoint::CONSUMER_PREFIX)?)));
        // Names of endpoints have no underscore: what follows one says what came of failures.
        match endpoint.map(|(event, name)| (event, name.split_once('_'), name)) {
            Some((event, Some((name, _)), _)) => tried.entry(name).or_default().insert(event),
            Some((event, None, name)) => sent.entry(name).or_default().insert(event),
            None => false,
        };
    }
    let consumers: BTreeMap<&str, &Info> = consumers
        .iter()
        .filter_map(|info| Some((info.name.strip_prefix(Endpoint::CONSUMER_PREFIX)?, info)))
        .collect();
    let names = consumers.keys().chain(sent.keys()).chain(tried.keys());
    let names: BTreeSet<&str> = names.copied().collect();
    let holders = names.into_iter().map(|name| {
        let consumer = consumers.get(name);
        let hears_of = |kind: &str| consumer.is_some_and(|info| hears_of(info, kind));
        let is_on = states.get(name).is_none_or(|state| state.off.is_none());
        let is_told = is_on && hears_of(EventType::PersonErased.subject_prefix());
        let (sent, tried) = (sent.get(name), tried.get(name));
        let may_have_been_sent = found.events.iter().filter(|event| {
            let id = broker::event_id(event).map(|id| id.to_string());
            let is_in = |ids: Option<&BTreeSet<&str>>| {
                ids.zip(id.as_deref()).is_some_and(|(ids, id)| ids.contains(id))
            };
            let is_old = time(event) < recorded_since;
            let is_under_way = consumer.is_some_and(|info| is_under_way(info, event));
            let fits = hears_of(subjects::without_person(&event.subject));
            !is_in(sent) && (is_in(tried) || fits && (is_old || is_under_way))
        });
        Holder {
            endpoint: name.to_owned(),
            sent: sent.map_or(0, BTreeSet::len),
            may_have_been_sent: may_have_been_sent.count(),
            notice: if is_told { "told" } else { "to be told by you" },
        }
    });
    let holders = holders.filter(|holder| holder.sent + holder.may_have_been_sent > 0);
    Ok(holders.collect())
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
