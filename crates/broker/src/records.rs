//! Records: JSON values in a KV bucket, changed by compare-and-set.

use std::time::Duration;

use async_nats::jetstream::{
    Context,
    context::{PublishError, PublishErrorKind},
    kv::Store,
    message::{PublishMessage, StreamMessage},
};
use bytes::Bytes;
use serde::{Serialize, de::DeserializeOwned};
use site_service::status;
use tonic::Status;

use crate::{
    buckets::{KV_OPERATION, read_entry},
    elections,
};

/// TTL of a deletion marker: short, as the marker contains the key.
const MARKER_TTL: Duration = Duration::from_secs(1);

/// Why a record could not be read or changed.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The record has changed since it was read.
    #[error("the record was changed by another process")]
    Conflict,
    /// The bucket is unavailable.
    #[error("the bucket is unavailable: {0}")]
    Unavailable(String),
    /// The record does not parse. serde's message is omitted: it may repeat personal data.
    #[error("the record {key} cannot be read (line {}, column {})", .reason.line(), .reason.column())]
    Unreadable {
        /// The record's key.
        key: String,
        /// The parse error.
        reason: serde_json::Error,
    },
}

impl RecordError {
    /// The bucket is unavailable for this reason.
    pub fn unavailable(reason: impl std::fmt::Display) -> Self {
        Self::Unavailable(reason.to_string())
    }
}

impl From<PublishError> for RecordError {
    fn from(error: PublishError) -> Self {
        match error.kind() {
            PublishErrorKind::WrongLastSequence => Self::Conflict,
            _ => Self::unavailable(error),
        }
    }
}

impl From<RecordError> for Status {
    fn from(error: RecordError) -> Self {
        if let RecordError::Unreadable { .. } = error {
            tracing::error!(%error, "a record cannot be read");
            return Self::internal("the record cannot be read");
        }
        tracing::warn!(%error, "a record is not known to be stored");
        status::unavailable("the bucket is unavailable")
    }
}

/// A record and its revision.
#[derive(Debug, Clone, Default)]
pub struct Record<T> {
    /// The record, if it exists.
    pub value: Option<T>,
    /// Revision that the next change must name; 0 without an entry.
    pub revision: u64,
}

/// A bucket of records.
#[derive(Clone)]
pub struct Records {
    context: Context,
    bucket: Store,
}

impl Records {
    /// Records of this bucket.
    pub fn new(context: &Context, bucket: Store) -> Self {
        Self {
            context: context.clone(),
            bucket,
        }
    }

    /// Reads the record of a key.
    ///
    /// # Errors
    ///
    /// If the record does not parse, or the broker does not answer.
    pub async fn read<T: DeserializeOwned>(&self, key: &str) -> Result<Record<T>, RecordError> {
        let entry = read_entry(&self.bucket, key).await;
        let Record { value, revision } = entry.map_err(RecordError::unavailable)?;
        let value = value.map(|value| parse(key, &value)).transpose()?;
        Ok(Record { value, revision })
    }

    /// Writes a record if its revision is unchanged (0: no entry), and returns the new revision. The lifetime
    /// becomes a TTL in whole seconds, which the bucket must allow.
    ///
    /// # Errors
    ///
    /// [`RecordError::Conflict`] if the revision has changed; [`RecordError::Unavailable`] if the broker does
    /// not confirm.
    pub async fn write<T: Serialize>(
        &self,
        key: &str,
        record: &T,
        revision: u64,
        lifetime: Option<Duration>,
    ) -> Result<u64, RecordError> {
        let value = Bytes::from(serde_json::to_vec(record).expect("a record is plain values"));
        let message = || {
            let message = PublishMessage::build().payload(value.clone());
            match lifetime {
                Some(lifetime) => message.ttl(lifetime),
                None => message,
            }
        };
        self.store(key, revision, message).await
    }

    /// Removes a record if its revision is unchanged. The bucket must allow TTLs.
    ///
    /// # Errors
    ///
    /// As [`Self::write`].
    pub async fn remove(&self, key: &str, revision: u64) -> Result<(), RecordError> {
        let marker = || {
            PublishMessage::build()
                .header(KV_OPERATION, "DEL")
                .ttl(MARKER_TTL)
        };
        self.store(key, revision, marker).await.map(drop)
    }

    async fn store(
        &self,
        key: &str,
        revision: u64,
        message: impl Fn() -> PublishMessage,
    ) -> Result<u64, RecordError> {
        let subject = format!("{}{key}", self.bucket.prefix);
        let message = || message().expected_last_subject_sequence(revision);
        let ack = elections::store(&self.context, subject.into(), message).await?;
        Ok(ack.sequence)
    }

    /// Key and record of a stream entry; `None` for a deletion marker.
    ///
    /// # Errors
    ///
    /// If the record does not parse.
    pub fn record_of<'a, T: DeserializeOwned>(
        &self,
        entry: &'a StreamMessage,
    ) -> Result<Option<(&'a str, T)>, RecordError> {
        match entry.subject.strip_prefix(&self.bucket.prefix) {
            Some(key) if !entry.payload.is_empty() => Ok(Some((key, parse(key, &entry.payload)?))),
            _ => Ok(None),
        }
    }
}

fn parse<T: DeserializeOwned>(key: &str, value: &[u8]) -> Result<T, RecordError> {
    serde_json::from_slice(value).map_err(|reason| RecordError::Unreadable {
        key: key.to_owned(),
        reason,
    })
}
