//! Personal data of one person in every store: search and erasure.

use std::collections::{BTreeMap, BTreeSet};

use async_nats::jetstream::{Context, consumer::Info, message::StreamMessage};
use futures_util::TryStreamExt as _;
use resumes::{ResumeKey, ResumeStore, S3Settings};
use serde::Serialize;
use serde_json::Value;
use site_broker::{
    DELIVERIES_BUCKET, Endpoint, GIVEN_UP_SUFFIX, ISSUES_BUCKET, Publisher, SUBSCRIBERS_BUCKET, StreamReader,
    UPLOADS_BUCKET, VISITOR_MAILS_BUCKET, endpoint_state::EndpointState, ensure_person_key,
};
use site_events::{
    DEAD_LETTERS_STREAM, EventData as _, EventType, IssueId, SENDINGS_STREAM, SITE_STREAM,
    event::PersonErased, subjects,
};
use site_service::{RequestId, nats::NatsSettings};
use subscribers::Subscriber;
use subscribers::issues::store::ISSUE_KEY_PREFIX;
use time::OffsetDateTime;
use uuid::Uuid;
use visitor::{PersonId, PersonKey};

use crate::{broker, webhooks};

/// Stream or bucket with personal data.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// Key in JSON.
    name: &'static str,
    /// Plural noun of its messages.
    what: &'static str,
    store: &'static str,
    is_bucket: bool,
}

/// Events, including replays.
pub const EVENTS: Place = Place::stream("events", "events", SITE_STREAM);
/// Dead letters.
pub const DEAD_LETTERS: Place = Place::stream("deadLetters", "dead letters", DEAD_LETTERS_STREAM);
/// Newsletter mails to send.
pub const SENDINGS: Place = Place::stream("sendings", "mails of the newsletter to be sent", SENDINGS_STREAM);
/// Record of the newsletter subscription.
pub const SUBSCRIBER: Place = Place::bucket("subscriber", "subscriber's records", SUBSCRIBERS_BUCKET);
/// Delivery records of events.
pub const DELIVERIES: Place = Place::bucket("deliveries", "delivery records", DELIVERIES_BUCKET);
/// Records of interrupted uploads.
const UPLOADS: Place = Place::bucket("uploads", "upload records", UPLOADS_BUCKET);
/// Records of a day's mails to an inbox.
pub const VISITOR_MAILS: Place =
    Place::bucket("visitorMails", "records of a day's mails", VISITOR_MAILS_BUCKET);

/// Newsletter issues; no personal data.
const ISSUES: Place = Place::bucket("issues", "issues", ISSUES_BUCKET);

/// All places, in order of output; erased in reverse order.
const PLACES: [Place; 7] = [
    EVENTS,
    DEAD_LETTERS,
    SENDINGS,
    SUBSCRIBER,
    DELIVERIES,
    UPLOADS,
    VISITOR_MAILS,
];

impl Place {
    const fn stream(name: &'static str, what: &'static str, store: &'static str) -> Self {
        Self {
            name,
            what,
            store,
            is_bucket: false,
        }
    }

    const fn bucket(name: &'static str, what: &'static str, store: &'static str) -> Self {
        let mut place = Self::stream(name, what, store);
        place.is_bucket = true;
        place
    }

    /// Name of the stream, or of the one behind the bucket.
    fn stream_name(self) -> String {
        let prefix = if self.is_bucket { "KV_" } else { "" };
        format!("{prefix}{}", self.store)
    }

    fn subject(self, key: &str) -> String {
        format!("$KV.{}.{key}", self.store)
    }
}

/// Webhook endpoint that may hold a person's data.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Holder {
    /// Name of the endpoint.
    pub endpoint: String,
    /// Events with a delivery record.
    pub sent: usize,
    /// Events older than the delivery records, and failed or current deliveries.
    pub may_have_been_sent: usize,
    /// Whether the erasure event notifies the endpoint, or the operator must.
    pub notice: &'static str,
}

fn endpoint_of(record: &str) -> Option<&str> {
    let (_, channel) = record.split_once('.')?;
    channel.strip_prefix(Endpoint::CONSUMER_PREFIX)?.split('_').next()
}

fn subscribes_to(endpoint: &Info, kind: &str) -> bool {
    let mut filters = endpoint.config.filter_subjects.iter();
    filters.any(|filter| subjects::without_person(filter) == kind)
}

/// Whether a delivery was attempted but is not acked. It may have reached the receiver.
fn is_begun(endpoint: &Info, event: &StreamMessage) -> bool {
    let (acked, delivered) = (&endpoint.ack_floor, &endpoint.delivered);
    (acked.stream_sequence + 1..=delivered.stream_sequence).contains(&event.sequence)
}

/// All stores with personal data.
pub struct PersonalDataStores {
    context: Context,
    /// Store of résumés.
    pub resumes: ResumeStore,
}

/// Search result for one person.
#[derive(Default)]
pub struct PersonalData {
    messages: BTreeMap<&'static str, Vec<StreamMessage>>,
    /// Keys of résumés.
    pub resumes: Vec<ResumeKey>,
}

impl PersonalDataStores {
    /// Connects to the broker, not yet to S3.
    ///
    /// # Errors
    ///
    /// If the broker is unavailable, or the installation has another key of person ids.
    pub async fn open(nats: &NatsSettings, store: &S3Settings, key: &PersonKey) -> anyhow::Result<Self> {
        let context = broker::connect(nats).await?;
        ensure_person_key(&context, key).await?;
        let resumes = ResumeStore::new(store);
        Ok(Self { context, resumes })
    }

    /// Searches every store. Finds delivery and mail records by event id, also for `further_events`, which may
    /// no longer be stored.
    ///
    /// # Errors
    ///
    /// If a store cannot be searched. No store is ever skipped.
    pub async fn search(
        &self,
        person: &PersonId,
        further_events: &BTreeSet<Uuid>,
    ) -> anyhow::Result<PersonalData> {
        let id = person.as_str();
        let [events, replays] = subjects::events_of(id);
        let by_person = [
            (EVENTS, events),
            (EVENTS, replays),
            (DEAD_LETTERS, subjects::dead_letters_of(id)),
            (SENDINGS, subjects::sending("*", id)),
            (SUBSCRIBER, SUBSCRIBER.subject(id)),
            (UPLOADS, UPLOADS.subject(&format!("{id}.*"))),
        ];
        let mut found = PersonalData::default();
        for (place, subject) in by_person {
            self.search_in(place, &subject, &mut found).await?;
        }
        found.resumes = self.resumes.keys_of_person(person).await?;
        let mut about_them = found.event_ids();
        about_them.extend(further_events);
        about_them.extend(self.issue_mails_of(&found).await?);
        for event in &about_them {
            let subject = DELIVERIES.subject(&format!("{event}.*"));
            self.search_in(DELIVERIES, &subject, &mut found).await?;
        }
        // A mail record's key is an inbox, not a person. So all records are read, and compared by event.
        let counted_mails = self.reader(VISITOR_MAILS).await?;
        let mut records = counted_mails.all();
        while let Some(record) = records.try_next().await? {
            if counts_any_of(&broker::content(&record), &about_them) {
                found.messages.entry(VISITOR_MAILS.name).or_default().push(record);
            }
        }
        Ok(found)
    }

    async fn search_in(&self, place: Place, subject: &str, found: &mut PersonalData) -> anyhow::Result<()> {
        let mut messages = broker::search(&self.reader(place).await?, subject).await?;
        messages.retain(|message| !is_erasure(message));
        found.messages.entry(place.name).or_default().extend(messages);
        Ok(())
    }

    /// Event ids of newsletter mails to the person's subscription.
    async fn issue_mails_of(&self, found: &PersonalData) -> anyhow::Result<Vec<Uuid>> {
        let record = found.of(SUBSCRIBER).first();
        let subscriber = record.and_then(|record| serde_json::from_slice(&record.payload).ok());
        let Some(Subscriber { subscription, .. }) = subscriber else {
            return Ok(Vec::new());
        };
        let prefix = ISSUES.subject(ISSUE_KEY_PREFIX);
        let issues = broker::search(&self.reader(ISSUES).await?, &format!("{prefix}*")).await?;
        let issues = issues.iter().filter_map(|record| {
            let issue = record.subject.strip_prefix(&*prefix)?.to_owned();
            Some(IssueId::from(&PersonId::try_from(issue).ok()?).sending_id(subscription))
        });
        Ok(issues.collect())
    }

    async fn reader(&self, place: Place) -> anyhow::Result<StreamReader> {
        broker::reader(&self.context, &place.stream_name()).await
    }

    /// Webhook endpoints that received a person's events, or may have.
    ///
    /// # Errors
    ///
    /// If the broker is unavailable.
    pub async fn holders(&self, found: &PersonalData) -> anyhow::Result<Vec<Holder>> {
        let deliveries = broker::stream(&self.context, &DELIVERIES.stream_name()).await?;
        let recorded_since = OffsetDateTime::now_utc() - deliveries.cached_info().config.max_age;
        let records = found.delivery_records();
        let site = broker::stream(&self.context, SITE_STREAM).await?;
        let consumers: Vec<Info> = site.consumers().try_collect().await?;
        let states = webhooks::records(&self.context).await?;
        let recorded = records.iter().filter_map(|record| endpoint_of(record));
        let names = consumers.iter();
        let names = names.filter_map(|info| info.name.strip_prefix(Endpoint::CONSUMER_PREFIX));
        let names: BTreeSet<&str> = names.chain(recorded).collect();
        let mut holders = Vec::new();
        for name in names {
            let channel = format!("{}{name}", Endpoint::CONSUMER_PREFIX);
            // A removed endpoint has no consumer.
            let consumer = consumers.iter().find(|info| info.name == channel);
            let subscribes_to = |kind: &str| consumer.is_some_and(|info| subscribes_to(info, kind));
            let (mut sent, mut may_have_been_sent) = (0, 0);
            let events = found.of(EVENTS).iter();
            for (event, id) in events.filter_map(|event| Some((event, broker::event_id(event)?))) {
                let record = format!("{id}.{channel}");
                let time = broker::time_of(&broker::content(event)).unwrap_or(event.time);
                let is_begun = time < recorded_since || consumer.is_some_and(|info| is_begun(info, event));
                if records.contains(&*record) {
                    sent += 1;
                } else if is_begun && subscribes_to(subjects::without_person(&event.subject))
                    || records.contains(&*format!("{record}{GIVEN_UP_SUFFIX}"))
                {
                    may_have_been_sent += 1;
                }
            }
            let state: Option<EndpointState> = states.read(name).await?.value;
            let is_on = state.is_none_or(|state| state.off.is_none());
            let is_notified = is_on && subscribes_to(EventType::PersonErased.subject_prefix());
            if sent + may_have_been_sent > 0 {
                holders.push(Holder {
                    endpoint: name.to_owned(),
                    sent,
                    may_have_been_sent,
                    notice: if is_notified { "told" } else { "to be told by you" },
                });
            }
        }
        Ok(holders)
    }

    /// Erases what a search found. The erasure event is published before other events are erased, so that endpoints are
    /// notified even after an interruption. Returns the erasure event's id.
    ///
    /// # Errors
    ///
    /// If a store fails. Some data may be erased.
    pub async fn erase(&self, person: &PersonId, data: &PersonalData) -> anyhow::Result<Uuid> {
        for resume in &data.resumes {
            self.resumes.delete(resume).await?;
        }
        // After an interruption, a repeated search needs the subscription to find newsletter deliveries, and the events to
        // find deliveries and mail records.
        for place in PLACES[1..].iter().rev() {
            self.erase_from(*place, data).await?;
        }
        let erasure = PersonErased::TYPE.id_for(Uuid::new_v4());
        let publisher = Publisher::new(self.context.client());
        let request = RequestId::accept(None);
        publisher
            .publish(&request, erasure, person, PersonErased {})
            .await?;
        self.erase_from(EVENTS, data).await?;
        Ok(erasure)
    }

    async fn erase_from(&self, place: Place, data: &PersonalData) -> anyhow::Result<()> {
        let stream = broker::stream(&self.context, &place.stream_name()).await?;
        for message in data.of(place) {
            if place.is_bucket {
                // The broker deletes no single message of a bucket. A purge removes the message without
                // overwriting it, and leaves no marker with its key.
                stream.purge().filter(message.subject.as_str()).await?;
            } else {
                broker::secure_delete(&stream, message.sequence).await?;
            }
        }
        Ok(())
    }
}

impl PersonalData {
    /// Messages of one place.
    pub fn of(&self, place: Place) -> &[StreamMessage] {
        self.messages.get(place.name).map_or(&[], Vec::as_slice)
    }

    /// Keys of delivery records: event id and channel, with a suffix if the delivery failed.
    fn delivery_records(&self) -> BTreeSet<&str> {
        let records = self.of(DELIVERIES).iter();
        let keys = records.filter_map(|record| record.subject.splitn(3, '.').last());
        keys.collect()
    }

    /// Message count of each place, by its name.
    pub fn counts(&self) -> BTreeMap<&'static str, usize> {
        let mut counts = BTreeMap::from(PLACES.map(|place| (place.name, self.of(place).len())));
        counts.insert("resumes", self.resumes.len());
        counts
    }

    /// A line per place; `bucket` is the name of the résumés' bucket.
    pub fn summary(&self, bucket: &str) -> Vec<String> {
        let messages = PLACES.map(|place| {
            let kind = if place.is_bucket { "bucket" } else { "stream" };
            let Place { what, store, .. } = place;
            format!("{what}: {} ({kind} {store})", self.of(place).len())
        });
        let resumes = format!("résumés: {} (S3 bucket {bucket})", self.resumes.len());
        messages.into_iter().chain([resumes]).collect()
    }

    /// Whether the search found nothing.
    pub fn is_nothing(&self) -> bool {
        self.resumes.is_empty() && self.messages.values().all(Vec::is_empty)
    }

    /// Safe file name of a résumé, from its event. A résumé without an event has a default name.
    pub fn file_name_of(&self, key: &ResumeKey) -> String {
        let mut events = self.of(EVENTS).iter().chain(self.of(DEAD_LETTERS));
        let named = events.find_map(|message| {
            let event = broker::content(message);
            let resume = &event["data"]["resume"];
            let file_name = resume["fileName"].as_str()?;
            (resume["key"] == key.as_str()).then(|| resumes::safe_file_name(file_name))
        });
        named.unwrap_or_else(|| "resume".to_owned())
    }

    /// Ids of all events found.
    pub fn event_ids(&self) -> BTreeSet<Uuid> {
        let places = [EVENTS, DEAD_LETTERS, SENDINGS].into_iter();
        let messages = places.flat_map(|place| self.of(place));
        messages.filter_map(broker::event_id).collect()
    }
}

/// Erasure events have no personal data, and stay.
fn is_erasure(event: &StreamMessage) -> bool {
    let erased = EventType::PersonErased.subject_prefix();
    event.subject.starts_with(erased)
}

/// Whether a mail record names one of these events.
fn counts_any_of(record: &Value, events: &BTreeSet<Uuid>) -> bool {
    let mails = record["mails"].as_object().into_iter().flatten();
    let mut counted = mails.filter_map(|(mail, _)| mail.split_once('.')?.0.parse().ok());
    counted.any(|event: Uuid| events.contains(&event))
}
