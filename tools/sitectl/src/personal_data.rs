//! All personal data of one person, in every store: search and erase.

use std::collections::BTreeSet;

use async_nats::jetstream::{Context, message::StreamMessage};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use issues::store::ISSUE_KEY_PREFIX;
use resumes::{ResumeKey, ResumeStore, S3Settings};
use serde::Serialize;
use site_broker::{
    DELIVERIES_BUCKET, ISSUES_BUCKET, Publisher, SUBSCRIBERS_BUCKET, StreamReader, UPLOADS_BUCKET,
    VISITOR_MAILS_BUCKET, ensure_person_key,
};
use site_events::{
    DEAD_LETTERS_STREAM, EventData as _, EventType, IssueId, SENDINGS_STREAM, SITE_STREAM,
    event::PersonErased, subjects,
};
use site_service::{RequestId, nats::NatsSettings};
use subscribers::Subscriber;
use uuid::Uuid;
use visitor::{InboxId, PersonId, PersonKey};

use crate::{
    broker::{self, BucketReader},
    held_elsewhere::{self, Holder},
    visitor_mails,
};

/// How many events' deliveries are searched at once.
const CONCURRENT_SEARCHES: usize = 16;

/// Every store that may hold personal data.
pub struct PersonalDataStores {
    context: Context,
    publisher: Publisher,
    events: StreamReader,
    dead_letters: StreamReader,
    sendings: StreamReader,
    issues: BucketReader,
    subscribers: BucketReader,
    deliveries: BucketReader,
    uploads: BucketReader,
    visitor_mails: BucketReader,
    resumes: ResumeStore,
    resumes_name: String,
}

/// Personal data that was found of one person.
#[derive(Default)]
pub struct PersonalData {
    /// Their events, replays included.
    pub events: Vec<StreamMessage>,
    /// Of those, what could not be delivered.
    pub dead_letters: Vec<StreamMessage>,
    /// The newsletter's mails to them that are still to be sent.
    pub sendings: Vec<StreamMessage>,
    /// The record of their newsletter subscription.
    pub subscriber: Option<StreamMessage>,
    /// What was delivered of their events.
    pub deliveries: Vec<StreamMessage>,
    /// The records of their uploads that were cut off.
    pub uploads: Vec<StreamMessage>,
    /// The records of the mails that their inbox got within a day.
    pub visitor_mails: Vec<StreamMessage>,
    /// Their résumés.
    pub resumes: Vec<ResumeKey>,
}

/// How much there is, by store.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    events: usize,
    dead_letters: usize,
    sendings: usize,
    subscriber: usize,
    deliveries: usize,
    uploads: usize,
    visitor_mails: usize,
    resumes: usize,
}

impl PersonalDataStores {
    /// Opens all of them.
    ///
    /// # Errors
    ///
    /// If the broker cannot be used, one of its stores is not there, or the installation has another key of person ids; S3 is asked
    /// later.
    pub async fn open(nats: &NatsSettings, store: &S3Settings, key: &PersonKey) -> anyhow::Result<Self> {
        let context = broker::connect(nats).await?;
        ensure_person_key(&context, key).await?;
        Ok(Self {
            publisher: Publisher::new(context.client()),
            events: broker::reader(&context, SITE_STREAM).await?,
            dead_letters: broker::reader(&context, DEAD_LETTERS_STREAM).await?,
            sendings: broker::reader(&context, SENDINGS_STREAM).await?,
            issues: BucketReader::open(&context, ISSUES_BUCKET).await?,
            subscribers: BucketReader::open(&context, SUBSCRIBERS_BUCKET).await?,
            deliveries: BucketReader::open(&context, DELIVERIES_BUCKET).await?,
            uploads: BucketReader::open(&context, UPLOADS_BUCKET).await?,
            visitor_mails: BucketReader::open(&context, VISITOR_MAILS_BUCKET).await?,
            resumes: ResumeStore::new(store),
            resumes_name: store.s3_bucket.clone(),
            context,
        })
    }

    /// Searches everywhere, under the person's id. Deliveries and counted mails are found by the events that are there, and by
    /// `further_events`, which may be gone already; counted mails in the records of these inboxes, or where they are not known
    /// in all records.
    ///
    /// # Errors
    ///
    /// If one of the stores cannot be searched: it is never passed over.
    pub async fn search(
        &self,
        person: &PersonId,
        inboxes: Option<&[InboxId]>,
        further_events: &BTreeSet<Uuid>,
    ) -> anyhow::Result<PersonalData> {
        let mut found = PersonalData::default();
        self.search_under(person, &mut found).await?;
        let mut about_them = found.event_ids();
        about_them.extend(further_events);
        about_them.extend(self.issue_mails_of(&found).await?);
        found.deliveries = self.deliveries_of(&about_them).await?;
        found.visitor_mails = visitor_mails::search(&self.visitor_mails, inboxes, &about_them).await?;
        Ok(found)
    }

    async fn search_under(&self, id: &PersonId, found: &mut PersonalData) -> anyhow::Result<()> {
        for subject in subjects::events_of(id.as_str()) {
            let events = broker::search(&self.events, &subject).await?;
            found
                .events
                .extend(events.into_iter().filter(|event| !tells_of_erasure(event)));
        }
        let dead_letters = subjects::dead_letters_of(id.as_str());
        let dead_letters = broker::search(&self.dead_letters, &dead_letters).await?;
        found.dead_letters.extend(dead_letters);
        let sendings = subjects::sending("*", id.as_str());
        found
            .sendings
            .extend(broker::search(&self.sendings, &sendings).await?);
        found.subscriber = self.subscribers.search(id.as_str()).await?.pop();
        found
            .uploads
            .extend(self.uploads.search(&format!("{id}.*")).await?);
        found.resumes.extend(self.resumes.keys_of_person(id).await?);
        Ok(())
    }

    /// The ids of the mails that issues of the newsletter may have had for the subscription.
    async fn issue_mails_of(&self, found: &PersonalData) -> anyhow::Result<Vec<Uuid>> {
        let record = found.subscriber.as_ref();
        let Some(Subscriber { subscription, .. }) =
            record.and_then(|record| serde_json::from_slice(&record.payload).ok())
        else {
            return Ok(Vec::new());
        };
        let issues = self.issues.search(&format!("{ISSUE_KEY_PREFIX}*")).await?;
        let issues = issues.iter().filter_map(|record| self.issues.key_of(record));
        let issues = issues.filter_map(|key| key.strip_prefix(ISSUE_KEY_PREFIX)?.parse::<IssueId>().ok());
        Ok(issues.map(|issue| issue.sending_id(subscription)).collect())
    }

    async fn deliveries_of(&self, events: &BTreeSet<Uuid>) -> anyhow::Result<Vec<StreamMessage>> {
        let searches = stream::iter(events).map(async |event| {
            let found = self.deliveries.search(&format!("{event}.*")).await;
            found.map(|found| stream::iter(found).map(anyhow::Ok))
        });
        let found = searches.buffered(CONCURRENT_SEARCHES).try_flatten();
        found.try_collect().await
    }

    /// Who else holds what was found of a person.
    ///
    /// # Errors
    ///
    /// As [`held_elsewhere::search`].
    pub async fn held_elsewhere(&self, data: &PersonalData) -> anyhow::Result<Vec<Holder>> {
        held_elsewhere::search(&self.context, &self.events, &self.deliveries, data).await
    }

    /// Erases what was found of a person. The events go late: by them the deliveries and counted mails are found again,
    /// should this end half-way and be repeated. So that whoever was told of the person hears of it all the same, the event that says
    /// so comes before they go. Gives the id of the event that tells of it.
    ///
    /// # Errors
    ///
    /// If a store does not erase something; what came before it is erased.
    pub async fn erase(&self, person: &PersonId, data: &PersonalData) -> anyhow::Result<Uuid> {
        for resume in &data.resumes {
            self.resumes.delete(resume).await?;
        }
        for sending in &data.sendings {
            broker::secure_delete(self.sendings.stream(), sending.sequence).await?;
        }
        // By the subscription the deliveries of the newsletter are found again.
        self.deliveries.purge(&data.deliveries).await?;
        self.subscribers.purge(data.subscriber.as_slice()).await?;
        self.uploads.purge(&data.uploads).await?;
        self.visitor_mails.purge(&data.visitor_mails).await?;
        for letter in &data.dead_letters {
            broker::secure_delete(self.dead_letters.stream(), letter.sequence).await?;
        }
        let told = self.tell_of_erasure(person).await?;
        for event in &data.events {
            broker::secure_delete(self.events.stream(), event.sequence).await?;
        }
        Ok(told)
    }

    /// Publishes that a person was erased; gives the event's id.
    async fn tell_of_erasure(&self, person: &PersonId) -> anyhow::Result<Uuid> {
        let event = PersonErased::TYPE.id_for(Uuid::new_v4());
        let request = RequestId::accept(None);
        self.publisher
            .publish(&request, event, person, PersonErased {})
            .await?;
        Ok(event)
    }

    /// A résumé's content.
    ///
    /// # Errors
    ///
    /// If it is not there, or not all of it arrived.
    pub async fn resume(&self, key: &ResumeKey) -> anyhow::Result<Vec<u8>> {
        Ok(self.resumes.get(key).await?)
    }

    /// Summary of the counts: a line for each store.
    pub fn summary(&self, counts: &Counts) -> [String; 8] {
        [
            format!("events: {} (stream {SITE_STREAM})", counts.events),
            format!(
                "dead letters: {} (stream {DEAD_LETTERS_STREAM})",
                counts.dead_letters
            ),
            format!(
                "mails of the newsletter to be sent: {} (stream {SENDINGS_STREAM})",
                counts.sendings
            ),
            format!(
                "subscriber's records: {} (bucket {SUBSCRIBERS_BUCKET})",
                counts.subscriber
            ),
            format!(
                "delivery records: {} (bucket {DELIVERIES_BUCKET})",
                counts.deliveries
            ),
            format!("upload records: {} (bucket {UPLOADS_BUCKET})", counts.uploads),
            format!(
                "records of a day's mails: {} (bucket {VISITOR_MAILS_BUCKET})",
                counts.visitor_mails
            ),
            format!("résumés: {} (S3 bucket {})", counts.resumes, self.resumes_name),
        ]
    }
}

impl PersonalData {
    /// How much there is.
    pub fn counts(&self) -> Counts {
        Counts {
            events: self.events.len(),
            dead_letters: self.dead_letters.len(),
            sendings: self.sendings.len(),
            subscriber: usize::from(self.subscriber.is_some()),
            deliveries: self.deliveries.len(),
            uploads: self.uploads.len(),
            visitor_mails: self.visitor_mails.len(),
            resumes: self.resumes.len(),
        }
    }

    /// The name of a résumé's file, safe to name a file: as its event tells it. A provisional résumé
    /// has none.
    pub fn file_name_of(&self, key: &ResumeKey) -> String {
        let told = self.events.iter().chain(&self.dead_letters).find_map(|message| {
            let event = broker::content(message);
            let resume = &event["data"]["resume"];
            let file_name = resume["fileName"].as_str()?;
            (resume["key"] == key.as_str()).then(|| resumes::safe_file_name(file_name))
        });
        told.unwrap_or_else(|| "resume".to_owned())
    }

    /// The ids of all events found.
    pub fn event_ids(&self) -> BTreeSet<Uuid> {
        event_ids(&self.events)
            .chain(event_ids(&self.dead_letters))
            .chain(event_ids(&self.sendings))
            .collect()
    }
}

/// Whether an event says that its person was erased: it holds nothing of them, and stays.
fn tells_of_erasure(event: &StreamMessage) -> bool {
    event
        .subject
        .starts_with(EventType::PersonErased.subject_prefix())
}

fn event_ids(messages: &[StreamMessage]) -> impl Iterator<Item = Uuid> {
    messages.iter().filter_map(broker::event_id)
}

impl Counts {
    /// The buckets whose files may still hold, as free space, what told of the person:
    /// see [`BucketReader::purge`]. A delivery record tells of nobody.
    pub fn freed(&self) -> Vec<&'static str> {
        [
            (self.subscriber, SUBSCRIBERS_BUCKET),
            (self.uploads, UPLOADS_BUCKET),
            (self.visitor_mails, VISITOR_MAILS_BUCKET),
        ]
        .into_iter()
        .filter_map(|(count, bucket)| (count > 0).then_some(bucket))
        .collect()
    }

    /// Whether there is nothing at all.
    pub fn is_nothing(&self) -> bool {
        *self == Self::default()
    }
}
