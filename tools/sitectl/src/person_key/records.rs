//! The subscribers' records: those of the former key's ids move.

use ::subscribers::{Retention, Subscriber, SubscriberStoreError, Subscribers};
use anyhow::Context as _;
use async_nats::{
    header::NATS_MESSAGE_TTL,
    jetstream::{Context, message::StreamMessage},
};
use futures_util::TryStreamExt as _;
use site_broker::SUBSCRIBERS_BUCKET;
use time::{Duration, OffsetDateTime};
use visitor::PersonId;

use super::keys::BothKeys;
use crate::{
    broker::{self, BucketReader},
    common_args::Mode,
    subscribers::everybody::everybody,
};

/// What became, or would become, of the records.
#[derive(Debug, Default)]
pub struct Records {
    /// Moved to the ids of the current key.
    pub moved: u64,
    /// Changed by somebody else in the same moment.
    pub conflicts: u64,
    /// Of people who left: under which key such a record lies, it does not tell.
    pub without_address: u64,
    /// Under the id of neither key.
    pub under_another_key: u64,
    /// None of ours.
    pub unreadable: u64,
}

/// What a record is to this change of the key.
enum Place {
    /// It lies, or is on its way, from an id of the former key.
    ToMove(PersonId),
    Current,
    MovedAlready,
    WithoutAddress,
    UnderAnotherKey,
    Unreadable,
}

/// Moves every record of an id of the former key, or counts them.
///
/// # Errors
///
/// If the broker does not answer; repeating it goes on from there.
pub async fn walk(context: &Context, keys: &BothKeys, mode: Mode) -> anyhow::Result<Records> {
    let bucket = BucketReader::open(context, SUBSCRIBERS_BUCKET).await?;
    let subscribers = Subscribers::open(context.client()).await?;
    let (mut records, mut everybody) = (Records::default(), everybody(&bucket));
    while let Some(message) = everybody.try_next().await? {
        // Deleted.
        if message.payload.is_empty() {
            continue;
        }
        match place(&message, keys) {
            Place::ToMove(to) if mode == Mode::Apply => {
                let moved = move_record(&subscribers, &message, to).await;
                match moved {
                    Ok(()) => records.moved += 1,
                    Err(SubscriberStoreError::Conflict) => records.conflicts += 1,
                    Err(error) => return Err(error).context("not every record was moved; repeat it"),
                }
            }
            Place::ToMove(_) => records.moved += 1,
            Place::Current | Place::MovedAlready => {}
            Place::WithoutAddress => records.without_address += 1,
            Place::UnderAnotherKey => records.under_another_key += 1,
            Place::Unreadable => records.unreadable += 1,
        }
    }
    Ok(records)
}

fn place(message: &StreamMessage, keys: &BothKeys) -> Place {
    let (Some(person), Ok(subscriber)) = (
        broker::person_of(message),
        serde_json::from_slice::<Subscriber>(&message.payload),
    ) else {
        return Place::Unreadable;
    };
    match (subscriber.moved_to(), &subscriber.email) {
        (Some(to), _) if subscriber.unfinished().is_some() => Place::ToMove(to.clone()),
        (Some(_), _) => Place::MovedAlready,
        (None, None) => Place::WithoutAddress,
        (None, Some(email)) if keys.person_key.person(email) == person => Place::Current,
        (None, Some(email)) if keys.person_key_former.person(email) == person => {
            Place::ToMove(keys.person_key.person(email))
        }
        (None, Some(_)) => Place::UnderAnotherKey,
    }
}

/// A message of the bucket holds the record, and its sequence is the record's revision. Whoever is killed after the first
/// write leaves a record that is on its way: the next who meets it, a service or this command, finishes that.
async fn move_record(
    subscribers: &Subscribers,
    message: &StreamMessage,
    to: PersonId,
) -> Result<(), SubscriberStoreError> {
    let (Some(person), Ok(subscriber)) = (
        broker::person_of(message),
        serde_json::from_slice::<Subscriber>(&message.payload),
    ) else {
        return Ok(());
    };
    if subscriber.moved_to().is_none() {
        let expires = expires(message);
        // First, so that none moves without it.
        subscribers.note_move(&person, &to, expires).await?;
        let left = expires.map(|expires| expires - OffsetDateTime::now_utc());
        let retention = left.map_or(Retention::Forever, |left| {
            Retention::Expires(left.try_into().unwrap_or_default())
        });
        let moving = subscriber.moving(to, expires);
        subscribers
            .write(&person, &moving, message.sequence, retention)
            .await?;
    }
    subscribers.find(&person).await.map(drop)
}

/// When the broker lets the record expire (ADR-43 of NATS).
fn expires(message: &StreamMessage) -> Option<OffsetDateTime> {
    let lifetime = message.headers.get(NATS_MESSAGE_TTL)?.as_str();
    let seconds: i64 = lifetime.trim_end_matches('s').parse().ok()?;
    Some(message.time + Duration::seconds(seconds))
}

impl Records {
    /// What a person should know of those that were not moved.
    pub fn notes(&self) -> Vec<String> {
        [
            (
                self.without_address,
                "records of people who left, without an address: such a record cannot be moved, and those of the former key \
                 say that somebody left only as long as the services know that key",
            ),
            (
                self.under_another_key,
                "records under the id of neither key: give the keys that the services use",
            ),
            (self.unreadable, "records that are no subscriber's"),
        ]
        .into_iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, what)| format!("left alone: {count} {what}"))
        .collect()
    }
}
