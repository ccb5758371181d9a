//! The subscribers' bucket: one record per person, changed by compare-and-set.

use std::time::Duration;

use async_nats::{Client, jetstream::message::StreamMessage};
use site_broker::{
    Messages, Record, RecordError, Records, SUBSCRIBERS_BUCKET, StreamReader, buckets::open_bucket,
};
use site_service::nats;
use visitor::PersonId;

use crate::{Retention, Subscriber};

/// Entry of the bucket: a record and the revision it was read at; revision 0 where there is none.
pub struct SubscriberEntry {
    /// The record, where there is one.
    pub subscriber: Option<Subscriber>,
    /// What a change must name.
    pub revision: u64,
}

/// The bucket.
pub struct Subscribers {
    records: Records,
    reader: StreamReader,
}

impl Subscribers {
    /// Opens the bucket, which must be there.
    ///
    /// # Errors
    ///
    /// If it is unavailable or not there.
    pub async fn open(client: Client) -> Result<Self, RecordError> {
        let context = nats::jetstream(client);
        let bucket = open_bucket(&context, SUBSCRIBERS_BUCKET).await;
        let bucket = bucket.map_err(RecordError::unavailable)?;
        Ok(Self {
            reader: StreamReader::new(&context, bucket.stream.clone()),
            records: Records::new(&context, bucket),
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
    pub fn record_of(&self, entry: &StreamMessage) -> Result<Option<(PersonId, Subscriber)>, RecordError> {
        let record = self.records.record_of(entry)?;
        Ok(record.and_then(|(key, subscriber)| Some((PersonId::try_from(key.to_owned()).ok()?, subscriber))))
    }

    /// What lies under this id.
    ///
    /// # Errors
    ///
    /// If the record is none of ours, or the broker does not answer.
    pub async fn read(&self, person: &PersonId) -> Result<SubscriberEntry, RecordError> {
        let Record { value, revision } = self.records.read(person.as_str()).await?;
        Ok(SubscriberEntry {
            subscriber: value,
            revision,
        })
    }

    /// Writes the record if it still is what was read at `revision`; gives the new revision.
    ///
    /// # Errors
    ///
    /// As [`Records::write`].
    pub async fn write(
        &self,
        person: &PersonId,
        subscriber: &Subscriber,
        revision: u64,
        retention: Retention,
    ) -> Result<u64, RecordError> {
        // Without one the new record never expires, whatever the former did.
        let lifetime = match retention {
            Retention::Expires(lifetime) => Some(whole_seconds(lifetime)),
            Retention::Forever => None,
        };
        let written = self
            .records
            .write(person.as_str(), subscriber, revision, lifetime);
        written.await
    }

    /// Removes the record if it still is what was read at `revision`.
    ///
    /// # Errors
    ///
    /// As [`Records::write`].
    pub async fn delete(&self, person: &PersonId, revision: u64) -> Result<(), RecordError> {
        self.records.remove(person.as_str(), revision).await
    }
}

/// The broker counts lifetimes in seconds, at least one.
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
