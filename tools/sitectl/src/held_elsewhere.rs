//! Who else holds a person's data: the endpoints of webhooks that were sent their events, as the delivery records say. Those expire; of
//! an event that is older each endpoint may have been sent it that hears of such events.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

use anyhow::Context as _;
use async_nats::jetstream::{
    Context,
    consumer::{Config, Info},
    message::StreamMessage,
};
use futures_util::TryStreamExt as _;
use serde::Serialize;
use site_broker::{Endpoint, StreamReader};
use site_events::{EventType, subjects};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::Uuid;

use crate::{
    broker::{self, BucketReader},
    personal_data::PersonalData,
    webhooks,
};

/// The events of a subscription; where none is left, they were longer ago than events are kept.
const OF_SUBSCRIPTIONS: [EventType; 3] = [
    EventType::NewsletterRequested,
    EventType::NewsletterConfirmed,
    EventType::NewsletterUnsubscribed,
];

/// An endpoint that holds a person's data, or may.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Holder {
    /// Its name.
    endpoint: String,
    /// How many of their events it was sent.
    sent: usize,
    /// How many it may have been sent besides.
    may_have_been_sent: usize,
    /// Who tells it of the erasure.
    notice: Notice,
}

/// Who tells an endpoint that a person was erased.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Notice {
    /// The erasure itself, by its event.
    Told,
    /// The same, once the endpoint is not paused any more.
    Paused,
    /// Nobody but the operator: it does not hear of erasures, is switched off, or is not in the settings any more.
    ByYou,
}

/// An event, as far as it matters to whom it was sent.
struct Known {
    /// Its subject without the person, where that is known.
    kind: Option<String>,
    time: OffsetDateTime,
    /// Where the stream has it.
    sequence: Option<u64>,
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
    let consumers: BTreeMap<&str, &Info> = consumers
        .iter()
        .filter_map(|info| Some((info.name.strip_prefix(Endpoint::CONSUMER_PREFIX)?, info)))
        .collect();
    let records = Records::of(deliveries, found);
    let states = webhooks::states(context).await?;
    let recorded_since = OffsetDateTime::now_utc() - deliveries.stream().cached_info().config.max_age;
    let known = known_events(found);
    let names: BTreeSet<&str> = consumers.keys().copied().chain(records.endpoints()).collect();
    let holders = names.into_iter().filter_map(|name| {
        let consumer = consumers.get(name).copied();
        let sent = records.of_endpoint(name, Record::Sent);
        let tried = records.of_endpoint(name, Record::Tried);
        let may_have = known.iter().filter(|(id, event)| {
            let is_known = sent.contains(id) || tried.contains(id);
            let may_have_it = || consumer.is_some_and(|info| may_have_been_sent(info, event, recorded_since));
            !is_known && may_have_it()
        });
        let tried_only = tried.difference(&sent).count();
        let of_subscription = usize::from(consumer.is_some_and(|info| hears_of_forgotten(info, found)));
        let holder = Holder {
            endpoint: name.to_owned(),
            sent: sent.len(),
            may_have_been_sent: may_have.count() + tried_only + of_subscription,
            notice: match consumer {
                Some(info) if states.get(name).is_none_or(|state| state.off.is_none()) => notice(info),
                _ => Notice::ByYou,
            },
        };
        (holder.sent + holder.may_have_been_sent > 0).then_some(holder)
    });
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

/// What of the deliveries to endpoints is recorded, by endpoint and event.
struct Records<'a>(BTreeMap<(&'a str, Record), BTreeSet<Uuid>>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Record {
    /// The endpoint took it.
    Sent,
    /// It was tried in vain. A receiver may keep what it does not take.
    Tried,
}

impl<'a> Records<'a> {
    fn of(deliveries: &'a BucketReader, found: &'a PersonalData) -> Self {
        let mut records = Self(BTreeMap::new());
        for record in &found.deliveries {
            let key = deliveries.key_of(record).and_then(|key| key.split_once('.'));
            let Some((event, consumer)) = key else {
                continue;
            };
            // Names of endpoints have no underscore: what follows one says what came of failures.
            let (consumer, kind) = match consumer.split_once('_') {
                Some((consumer, _)) => (consumer, Record::Tried),
                None => (consumer, Record::Sent),
            };
            records.note(consumer, kind, event.parse().ok());
        }
        for letter in &found.dead_letters {
            let consumer = subjects::channel_of(&letter.subject);
            records.note(consumer, Record::Tried, broker::event_id(letter));
        }
        records
    }

    fn note(&mut self, consumer: &'a str, kind: Record, event: Option<Uuid>) {
        if let Some((name, event)) = consumer.strip_prefix(Endpoint::CONSUMER_PREFIX).zip(event) {
            self.0.entry((name, kind)).or_default().insert(event);
        }
    }

    fn endpoints(&self) -> impl Iterator<Item = &'a str> {
        self.0.keys().map(|(name, _)| *name)
    }

    fn of_endpoint(&self, name: &str, kind: Record) -> BTreeSet<Uuid> {
        self.0.get(&(name, kind)).cloned().unwrap_or_default()
    }
}

fn known_events(found: &PersonalData) -> BTreeMap<Uuid, Known> {
    let mut known = BTreeMap::new();
    let letters = found.dead_letters.iter().map(|letter| (letter, None));
    let events = found.events.iter();
    for (message, sequence) in events.map(|event| (event, Some(event.sequence))).chain(letters) {
        if let Some(id) = broker::event_id(message) {
            known.entry(id).or_insert_with(|| Known::of(message, sequence));
        }
    }
    known
}

impl Known {
    fn of(message: &StreamMessage, sequence: Option<u64>) -> Self {
        let event = broker::content(message);
        let event_type = event["type"].as_str().and_then(EventType::named);
        let by_subject = || subjects::without_person(&message.subject).to_owned();
        let is_original = sequence.is_some() && !subjects::is_replay(&message.subject);
        // A restored or replayed event was stored anew.
        let time = event["time"].as_str();
        let time = time.and_then(|time| OffsetDateTime::parse(time, &Rfc3339).ok());
        Self {
            kind: event_type
                .map(|event_type| event_type.subject_prefix().to_owned())
                .or_else(|| is_original.then(by_subject)),
            time: time.map_or(message.time, |time| time.min(message.time)),
            sequence,
        }
    }
}

/// Whether an endpoint may have been sent an event of which it has no record: because that has expired, or the event is under way.
fn may_have_been_sent(consumer: &Info, event: &Known, recorded_since: OffsetDateTime) -> bool {
    let is_heard_of = event
        .kind
        .as_ref()
        .is_some_and(|kind| hears_of(&consumer.config, kind));
    let is_under_way =
        |sequence| sequence <= consumer.delivered.stream_sequence && event.time >= consumer.created;
    is_heard_of && (event.time < recorded_since || event.sequence.is_none_or(is_under_way))
}

/// Whether an endpoint hears of subscriptions, and there is one whose events are gone.
fn hears_of_forgotten(consumer: &Info, found: &PersonalData) -> bool {
    let is_of_one = |event: &StreamMessage| {
        let mut types = OF_SUBSCRIPTIONS.iter();
        types.any(|event_type| event.subject.starts_with(event_type.subject_prefix()))
    };
    let is_forgotten = found.subscriber.is_some() && !found.events.iter().any(is_of_one);
    let mut types = OF_SUBSCRIPTIONS.iter();
    is_forgotten && types.any(|event_type| hears_of(&consumer.config, event_type.subject_prefix()))
}

fn notice(consumer: &Info) -> Notice {
    let is_told = hears_of(&consumer.config, EventType::PersonErased.subject_prefix());
    match (is_told, consumer.paused) {
        (false, _) => Notice::ByYou,
        (true, true) => Notice::Paused,
        (true, false) => Notice::Told,
    }
}

/// Whether a consumer takes events of this kind, whoever they are about.
fn hears_of(consumer: &Config, kind: &str) -> bool {
    let filters = consumer.filter_subjects.iter().chain([&consumer.filter_subject]);
    let mut filters = filters.filter(|filter| !filter.is_empty());
    filters.any(|filter| subjects::without_person(filter) == kind)
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            endpoint,
            sent,
            may_have_been_sent,
            notice,
        } = self;
        write!(f, "{endpoint}: ")?;
        match (sent, may_have_been_sent) {
            (0, may) => write!(f, "may have been sent {may} of their events")?,
            (sent, 0) => write!(f, "was sent {sent} of their events")?,
            (sent, may) => write!(
                f,
                "was sent {sent} of their events, and may have been sent {may} more"
            )?,
        }
        write!(f, "; {notice}")
    }
}

impl Serialize for Notice {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Told => "told",
            Self::Paused => "told once it is resumed",
            Self::ByYou => "to be told by you",
        })
    }
}
