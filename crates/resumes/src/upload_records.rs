//! Upload records mark résumés without a stored event, so that a crash leaves no orphans.
//!
//! A record is written before the upload and removed once the event is stored. After an interrupted upload, `sitectl
//! sweep` looks for the event and removes a résumé without an event.

use async_nats::jetstream::{Context, message::StreamMessage};
use site_broker::{RecordError, Records, UPLOADS_BUCKET, buckets::open_bucket};

use crate::ResumeKey;

/// Record of one upload.
#[derive(Debug, Clone)]
pub struct UploadRecord {
    /// The provisional résumé.
    pub key: ResumeKey,
    /// Revision that the next write expects.
    revision: u64,
}

/// KV bucket of upload records.
#[derive(Clone)]
pub struct UploadRecords(Records);

impl UploadRecords {
    /// Opens the existing bucket.
    ///
    /// # Errors
    ///
    /// If the bucket is unavailable or missing.
    pub async fn open(context: &Context) -> Result<Self, RecordError> {
        let bucket = open_bucket(context, UPLOADS_BUCKET).await?;
        Ok(Self(Records::new(context, bucket)))
    }

    /// Writes the record, before the upload begins.
    ///
    /// # Errors
    ///
    /// If the write is not confirmed.
    pub async fn begin(&self, key: &ResumeKey) -> Result<UploadRecord, RecordError> {
        self.write(key, 0).await
    }

    /// Removes the record, once the résumé has an event or is removed.
    ///
    /// # Errors
    ///
    /// [`RecordError::Conflict`] if the record was claimed; [`RecordError::Unavailable`] without an answer.
    pub async fn end(&self, record: &UploadRecord) -> Result<(), RecordError> {
        self.0.remove(&record.key.upload_id(), record.revision).await
    }

    /// Claims the record of an interrupted upload, so that the upload can no longer remove the record.
    ///
    /// # Errors
    ///
    /// [`RecordError::Conflict`] if the upload has ended; [`RecordError::Unavailable`] without an answer.
    pub async fn claim(&self, record: &UploadRecord) -> Result<UploadRecord, RecordError> {
        self.write(&record.key, record.revision).await
    }

    async fn write(&self, key: &ResumeKey, revision: u64) -> Result<UploadRecord, RecordError> {
        let written = self
            .0
            .write(&key.upload_id(), &key.as_str(), revision, None)
            .await;
        Ok(UploadRecord {
            key: key.clone(),
            revision: written?,
        })
    }

    /// The record in a message of the bucket's stream, or `None` if the message is a deletion marker.
    pub fn record_of(&self, message: &StreamMessage) -> Option<UploadRecord> {
        let (_, key) = self.0.record_of(message).ok()??;
        Some(UploadRecord {
            key: ResumeKey::known(key),
            revision: message.sequence,
        })
    }

    /// Whether the résumé still has a record. If so, its event may be stored at any moment.
    ///
    /// # Errors
    ///
    /// If the broker does not answer.
    pub async fn is_provisional(&self, key: &ResumeKey) -> Result<bool, RecordError> {
        Ok(self.0.read::<String>(&key.upload_id()).await?.value.is_some())
    }
}
