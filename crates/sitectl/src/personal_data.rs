//! All personal data of one person, in every store: search and erase.

use std::collections::BTreeSet;

use anyhow::Context as _;
use async_nats::jetstream::{kv::Store as Bucket, message::StreamMessage, stream::Stream};
use resumes::{ResumeKey, ResumeStore, S3Settings};
use serde::Serialize;
use site_broker::{DELIVERIES_BUCKET, SUBSCRIBERS_BUCKET, UPLOADS_BUCKET, VISITOR_MAILS_BUCKET};
use site_events::{DEAD_LETTERS_STREAM, SITE_STREAM, subjects};
use site_service::nats::NatsSettings;
use subscribers::Subscriber;
use uuid::Uuid;
use visitor::{PersonId, PersonIds};

use crate::{broker, visitor_mails};

/// Every store that may hold personal data.
pub struct PersonalDataStores {
    events: Stream,
    dead_letters: Stream,
    subscribers: Bucket,
    deliveries: Bucket,
    uploads: Bucket,
    visitor_mails: Bucket,
    resumes: ResumeStore,
    resumes_name: String,
}

/// Personal data that was found of one person.
pub struct PersonalData {
    /// Their events, replays included.
    pub events: Vec<StreamMessage>,
    /// Of those, what could not be delivered.
    pub dead_letters: Vec<StreamMessage>,
    /// Their newsletter subscription, and what leads to it from where it was before the key of person ids changed.
    pub subscriber: Vec<StreamMessage>,
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Counts {
    events: usize,
    dead_letters: usize,
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
    /// If the broker cannot be used, or one of its stores is not there; S3 is asked later.
    pub async fn open(nats: &NatsSettings, store: &S3Settings) -> anyhow::Result<Self> {
        let context = broker::connect(nats).await?;
        Ok(Self {
            events: broker::stream(&context, SITE_STREAM).await?,
            dead_letters: broker::stream(&context, DEAD_LETTERS_STREAM).await?,
            subscribers: broker::bucket(&context, SUBSCRIBERS_BUCKET).await?,
            deliveries: broker::bucket(&context, DELIVERIES_BUCKET).await?,
            uploads: broker::bucket(&context, UPLOADS_BUCKET).await?,
            visitor_mails: broker::bucket(&context, VISITOR_MAILS_BUCKET).await?,
            resumes: ResumeStore::new(store),
            resumes_name: store.s3_bucket.clone(),
        })
    }

    /// Every id under which something may lie of a person: those that the keys give, and those that their subscription moved
    /// from or to, of which a key may be gone.
    ///
    /// # Errors
    ///
    /// If the bucket of subscribers cannot be searched.
    pub async fn ids_of(&self, person: &PersonIds) -> anyhow::Result<Vec<PersonId>> {
        let moves = self.moves().await?;
        let mut ids: Vec<PersonId> = person.all().cloned().collect();
        let mut looked_at = 0;
        while let Some(id) = ids.get(looked_at).cloned() {
            looked_at += 1;
            for (from, to) in &moves {
                for (one, other) in [(from, to), (to, from)] {
                    if *one == id && !ids.contains(other) {
                        ids.push(other.clone());
                    }
                }
            }
        }
        Ok(ids)
    }

    /// The ids that subscriptions moved from and to.
    async fn moves(&self) -> anyhow::Result<Vec<(PersonId, PersonId)>> {
        let everybody = format!("{}*", self.subscribers.prefix);
        let (mut moves, mut from) = (Vec::new(), 1);
        while let Some(message) = broker::next(&self.subscribers.stream, &everybody, from).await? {
            from = message.sequence + 1;
            let person = PersonId::try_from(subjects::person_of(&message.subject).to_owned());
            let record = serde_json::from_slice::<Subscriber>(&message.payload).ok();
            let to = record.as_ref().and_then(Subscriber::moved_to).cloned();
            moves.extend(person.ok().zip(to));
        }
        Ok(moves)
    }

    /// Searches everywhere, under each of these ids. Deliveries and counted mails are found by the events that are there, and by
    /// `further_events`, which may be gone already.
    ///
    /// # Errors
    ///
    /// If one of the stores cannot be searched: it is never passed over.
    pub async fn search(
        &self,
        ids: &[PersonId],
        further_events: &BTreeSet<Uuid>,
    ) -> anyhow::Result<PersonalData> {
        let (mut events, mut dead_letters) = (Vec::new(), Vec::new());
        let (mut subscriber, mut uploads, mut resumes) = (Vec::new(), Vec::new(), Vec::new());
        for id in ids {
            for subject in subjects::events_of(id.as_str()) {
                events.extend(broker::search(&self.events, &subject).await?);
            }
            let subject = subjects::dead_letters_of(id.as_str());
            dead_letters.extend(broker::search(&self.dead_letters, &subject).await?);
            subscriber.extend(search(&self.subscribers, id.as_str()).await?);
            uploads.extend(search(&self.uploads, &format!("{id}.*")).await?);
            let keys = self.resumes.keys_of_person(id).await;
            resumes.extend(
                keys.context("S3 cannot be used (settings S3_ENDPOINT, S3_BUCKET, S3_ACCESS_KEY_ID)")?,
            );
        }
        let about_them: BTreeSet<Uuid> = event_ids(&events)
            .chain(event_ids(&dead_letters))
            .chain(further_events.iter().copied())
            .collect();
        let mut deliveries = Vec::new();
        for id in &about_them {
            deliveries.extend(search(&self.deliveries, &format!("{id}.*")).await?);
        }
        Ok(PersonalData {
            events,
            dead_letters,
            subscriber,
            deliveries,
            uploads,
            visitor_mails: visitor_mails::search(&self.visitor_mails, &about_them).await?,
            resumes,
        })
    }

    /// Erases what was found. The events go last: by them the deliveries and counted mails are found again,
    /// should this end half-way and be repeated.
    ///
    /// # Errors
    ///
    /// If a store does not erase something; what came before it is erased.
    pub async fn erase(&self, data: &PersonalData) -> anyhow::Result<()> {
        for resume in &data.resumes {
            self.resumes.delete(resume).await?;
        }
        purge(&self.subscribers, &data.subscriber).await?;
        purge(&self.deliveries, &data.deliveries).await?;
        purge(&self.uploads, &data.uploads).await?;
        purge(&self.visitor_mails, &data.visitor_mails).await?;
        broker::secure_delete(&self.dead_letters, &data.dead_letters).await?;
        broker::secure_delete(&self.events, &data.events).await
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
    pub fn summary(&self, counts: &Counts) -> [String; 7] {
        [
            format!("events: {} (stream {SITE_STREAM})", counts.events),
            format!(
                "dead letters: {} (stream {DEAD_LETTERS_STREAM})",
                counts.dead_letters
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

async fn search(bucket: &Bucket, keys: &str) -> anyhow::Result<Vec<StreamMessage>> {
    broker::search(&bucket.stream, &format!("{}{keys}", bucket.prefix)).await
}

/// Removes keys from a bucket without leaving a marker, which would name them. The broker
/// refuses to delete a bucket's messages one by one, so what lay there is not overwritten
/// but freed.
async fn purge(bucket: &Bucket, records: &[StreamMessage]) -> anyhow::Result<()> {
    for record in records {
        bucket.stream.purge().filter(record.subject.as_str()).await?;
    }
    Ok(())
}

impl PersonalData {
    /// How much there is.
    pub fn counts(&self) -> Counts {
        Counts {
            events: self.events.len(),
            dead_letters: self.dead_letters.len(),
            subscriber: self.subscriber.len(),
            deliveries: self.deliveries.len(),
            uploads: self.uploads.len(),
            visitor_mails: self.visitor_mails.len(),
            resumes: self.resumes.len(),
        }
    }

    /// The record of the subscription, rather than what leads to it.
    pub fn subscription(&self) -> Option<&StreamMessage> {
        let leads_elsewhere = |record: &&StreamMessage| {
            let record = serde_json::from_slice::<Subscriber>(&record.payload).ok();
            record.is_some_and(|record| record.moved_to().is_some() && record.carried().is_none())
        };
        let records = self.subscriber.iter().rev();
        records
            .clone()
            .find(|record| !leads_elsewhere(record))
            .or(self.subscriber.last())
    }

    /// The name of a résumé's file, safe to name a file: as its event tells it, or as keys of former releases do. A résumé
    /// that is provisional has neither.
    pub fn file_name_of(&self, key: &ResumeKey) -> String {
        let told = self.events.iter().chain(&self.dead_letters).find_map(|message| {
            let event = broker::content(message);
            let resume = &event["data"]["resume"];
            let file_name = resume["fileName"].as_str()?;
            (resume["key"] == key.as_str()).then(|| resumes::safe_file_name(file_name))
        });
        told.or_else(|| key.file_name())
            .unwrap_or_else(|| "resume".to_owned())
    }

    /// The ids of all events found.
    pub fn event_ids(&self) -> BTreeSet<Uuid> {
        event_ids(&self.events)
            .chain(event_ids(&self.dead_letters))
            .collect()
    }
}

fn event_ids(messages: &[StreamMessage]) -> impl Iterator<Item = Uuid> {
    messages.iter().filter_map(broker::event_id)
}

impl Counts {
    /// The buckets whose files may still hold, as free space, what told of the person:
    /// see [`purge`]. A delivery record tells of nobody.
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
        *self
            == Self {
                events: 0,
                dead_letters: 0,
                subscriber: 0,
                deliveries: 0,
                uploads: 0,
                visitor_mails: 0,
                resumes: 0,
            }
    }
}
