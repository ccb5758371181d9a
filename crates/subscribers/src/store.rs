//! Bucket of the subscribers' records.

use std::time::Duration;

use async_nats::{Client, jetstream::message::StreamMessage};
use site_broker::{
    Messages, Record, RecordError, Records, SUBSCRIBERS_BUCKET, StreamReader, buckets::open_bucket,
};
use site_service::nats;
use visitor::PersonId;

use crate::Subscriber;

/// Bucket of subscribers.
pub struct Subscribers {
    records: Records,
    reader: StreamReader,
}

impl Subscribers {
    /// Opens the bucket.
    ///
    /// # Errors
    ///
    /// If the bucket is missing or the broker unavailable.
    pub async fn open(client: Client) -> Result<Self, RecordError> {
        let context = nats::jetstream(client);
        let bucket = open_bucket(&context, SUBSCRIBERS_BUCKET).await?;
        Ok(Self {
            reader: StreamReader::new(&context, bucket.stream.clone()),
            records: Records::new(&context, bucket),
        })
    }

    /// Entries from this sequence on, in stored order. An entry that changes during the read appears again.
    pub fn since(&self, sequence: u64) -> Messages<'_> {
        self.reader.since(sequence)
    }

    /// Person and record of an entry; `None` if the entry marks a removed record.
    ///
    /// # Errors
    ///
    /// If the record is unreadable.
    pub fn record_of(&self, entry: &StreamMessage) -> Result<Option<(PersonId, Subscriber)>, RecordError> {
        let record = self.records.record_of(entry)?;
        Ok(record.and_then(|(key, subscriber)| Some((PersonId::try_from(key.to_owned()).ok()?, subscriber))))
    }

    /// Reads a person's record.
    ///
    /// # Errors
    ///
    /// If the record is unreadable or the broker unavailable.
    pub async fn read(&self, person: &PersonId) -> Result<Record<Subscriber>, RecordError> {
        self.records.read(person.as_str()).await
    }

    /// Writes the record if `revision` is still current, and returns the new revision. Without `lifetime`, the
    /// record never expires, even if its previous version had a lifetime.
    ///
    /// # Errors
    ///
    /// As [`Records::write`].
    pub async fn write(
        &self,
        person: &PersonId,
        subscriber: &Subscriber,
        revision: u64,
        lifetime: Option<Duration>,
    ) -> Result<u64, RecordError> {
        let lifetime = lifetime.map(whole_seconds);
        let written = self
            .records
            .write(person.as_str(), subscriber, revision, lifetime);
        written.await
    }

    /// Removes the record if `revision` is still current.
    ///
    /// # Errors
    ///
    /// As [`Records::write`].
    pub async fn delete(&self, person: &PersonId, revision: u64) -> Result<(), RecordError> {
        self.records.remove(person.as_str(), revision).await
    }
}

/// Rounds a lifetime to what the broker accepts: whole seconds, at least one.
fn whole_seconds(lifetime: Duration) -> Duration {
    Duration::from_secs(lifetime.as_secs().max(1))
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
