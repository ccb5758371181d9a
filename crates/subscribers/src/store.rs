//! The subscribers' bucket: one record per person, changed by compare-and-set.

use std::time::Duration;

use async_nats::{
    Client,
    jetstream::{Context, context::PublishErrorKind, kv::Store, message::StreamMessage},
};
use site_broker::{
    Messages, SUBSCRIBERS_BUCKET, StreamReader,
    buckets::{BucketEntry, open_expiring_bucket, read_entry, remove_entry, write_entry},
};
use site_service::{nats, status};
use tonic::Status;
use uuid::Uuid;
use visitor::PersonId;

use crate::{Retention, Subscriber};

/// Why a record could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum SubscriberStoreError {
    /// Someone else changed the record meanwhile; read it again.
    #[error("the record was changed by another request")]
    Conflict,
    /// The bucket cannot be used now.
    #[error("the subscribers' bucket is away: {0}")]
    Away(String),
    /// What lies there is not a subscriber. The reader's own words may repeat what lies there.
    #[error("the record of {person} cannot be read (line {}, column {})", .reason.line(), .reason.column())]
    Unreadable {
        /// Whose record.
        person: PersonId,
        /// What is wrong with it.
        reason: serde_json::Error,
    },
}

impl From<SubscriberStoreError> for Status {
    fn from(error: SubscriberStoreError) -> Self {
        match error {
            SubscriberStoreError::Unreadable { .. } => {
                tracing::error!(%error, "a subscriber's record is broken");
                Status::internal("the record cannot be read")
            }
            SubscriberStoreError::Conflict | SubscriberStoreError::Away(_) => {
                tracing::warn!(%error, "subscriber not stored");
                status::unavailable("the subscribers' bucket is away")
            }
        }
    }
}

/// Entry of the bucket: a record and the revision it was read at; revision 0 where there is none.
pub struct SubscriberEntry {
    /// The record, where there is one.
    pub subscriber: Option<Subscriber>,
    /// What a change must name.
    pub revision: u64,
}

/// The bucket.
pub struct Subscribers {
    client: Client,
    context: Context,
    bucket: Store,
    reader: StreamReader,
}

impl Subscribers {
    /// Opens the bucket, which must be there and let records expire.
    ///
    /// # Errors
    ///
    /// If it is away, not there, or its records cannot expire.
    pub async fn open(client: Client) -> Result<Self, SubscriberStoreError> {
        let context = nats::jetstream(client.clone());
        let bucket = open_expiring_bucket(&context, SUBSCRIBERS_BUCKET).await;
        let bucket = bucket.map_err(away)?;
        Ok(Self {
            reader: StreamReader::new(&context, bucket.stream.clone()),
            client,
            context,
            bucket,
        })
    }

    /// The bucket's entries from this sequence on, as they were stored; what is changed meanwhile comes again.
    pub fn since(&self, sequence: u64) -> Messages<'_> {
        self.reader.since(sequence)
    }

    /// The record of an entry, and under whose id it lies; `None` of what is none: the marker of a removed one.
    ///
    /// # Errors
    ///
    /// As [`Self::read`].
    pub fn record_of(
        &self,
        entry: &StreamMessage,
    ) -> Result<Option<(PersonId, Subscriber)>, SubscriberStoreError> {
        let key = entry
            .subject
            .strip_prefix(&self.bucket.prefix)
            .unwrap_or_default();
        let Ok(person) = PersonId::try_from(key.to_owned()) else {
            return Ok(None);
        };
        if entry.payload.is_empty() {
            return Ok(None);
        }
        match serde_json::from_slice(&entry.payload) {
            Ok(subscriber) => Ok(Some((person, subscriber))),
            Err(reason) => Err(SubscriberStoreError::Unreadable { person, reason }),
        }
    }

    /// What lies under this id.
    ///
    /// # Errors
    ///
    /// [`SubscriberStoreError::Unreadable`] if the record is none of ours; [`SubscriberStoreError::Away`] if the broker did
    /// not answer.
    pub async fn read(&self, person: &PersonId) -> Result<SubscriberEntry, SubscriberStoreError> {
        self.connected().await?;
        let entry = read_entry(&self.bucket, person.as_str()).await;
        let BucketEntry { value, revision, .. } = entry.map_err(away)?;
        let unreadable = |reason| SubscriberStoreError::Unreadable {
            person: person.clone(),
            reason,
        };
        let subscriber = value.map(|value| serde_json::from_slice(&value).map_err(unreadable));
        Ok(SubscriberEntry {
            subscriber: subscriber.transpose()?,
            revision,
        })
    }

    /// Writes the record if it still is what was read at `revision`; gives the new revision.
    ///
    /// # Errors
    ///
    /// [`SubscriberStoreError::Conflict`] if somebody else wrote in between; [`SubscriberStoreError::Away`] if it is not
    /// known to be written.
    pub async fn write(
        &self,
        person: &PersonId,
        subscriber: &Subscriber,
        revision: u64,
        retention: Retention,
    ) -> Result<u64, SubscriberStoreError> {
        self.connected().await?;
        let value = serde_json::to_vec(subscriber).expect("a subscriber is plain values");
        // Without one the new record never expires, whatever the former did.
        let lifetime = match retention {
            Retention::Expires(lifetime) => Some(whole_seconds(lifetime)),
            Retention::Forever => None,
        };
        let value = value.into();
        let written = write_entry(
            &self.context,
            &self.bucket,
            person.as_str(),
            &value,
            revision,
            lifetime,
        );
        written.await.map_err(|error| match error.kind() {
            PublishErrorKind::WrongLastSequence => SubscriberStoreError::Conflict,
            _ => away(error),
        })
    }

    /// Stores the marker of a record that never was, which expires at once, in the steps and the time of [`Self::write`].
    ///
    /// # Errors
    ///
    /// [`SubscriberStoreError::Away`] if it is not known to be stored.
    pub async fn write_decoy(&self) -> Result<(), SubscriberStoreError> {
        self.connected().await?;
        // With its hyphens it is no person's id.
        let nobody = Uuid::new_v4().to_string();
        let written = remove_entry(&self.context, &self.bucket, &nobody, 0);
        written.await.map_err(away)
    }

    /// Removes the record if it still is what was read at `revision`.
    ///
    /// # Errors
    ///
    /// [`SubscriberStoreError::Away`] if it is not known to be gone.
    pub async fn delete(&self, person: &PersonId, revision: u64) -> Result<(), SubscriberStoreError> {
        self.connected().await?;
        let gone = remove_entry(&self.context, &self.bucket, person.as_str(), revision);
        gone.await.map_err(away)
    }

    async fn connected(&self) -> Result<(), SubscriberStoreError> {
        nats::is_connected_soon(&self.client)
            .await
            .then_some(())
            .ok_or_else(|| SubscriberStoreError::Away("not connected".to_owned()))
    }
}

/// The broker counts lifetimes in seconds, at least one.
fn whole_seconds(lifetime: Duration) -> Duration {
    Duration::from_secs(lifetime.as_secs().max(1))
}

fn away(error: impl std::fmt::Display) -> SubscriberStoreError {
    SubscriberStoreError::Away(error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lifetime_is_whole_seconds_and_at_least_one() {
        assert_eq!(
            whole_seconds(Duration::from_millis(90_500)),
            Duration::from_secs(90)
        );
        assert_eq!(whole_seconds(Duration::from_millis(1)), Duration::from_secs(1));
    }
}
