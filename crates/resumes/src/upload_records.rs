//! Upload records mark provisional résumés, so that a crash leaves no orphan behind.
//!
//! A record is written before the upload and removed once the event is stored. After an interrupted upload, `sitectl
//! sweep` looks for the event and removes a résumé that has none.

use std::fmt::Display;

use async_nats::jetstream::{
    Context,
    context::{PublishError, PublishErrorKind},
    kv::Store,
    message::StreamMessage,
};
use site_broker::{
    UPLOADS_BUCKET,
    buckets::{open_bucket, read_value, remove_entry, write_entry},
};

use crate::ResumeKey;

/// Failure to write or remove a record.
#[derive(Debug, thiserror::Error)]
pub enum UploadRecordError {
    /// Another process has changed or removed it.
    #[error("the upload's record was changed by another process")]
    Conflict,
    /// The broker did not confirm the write.
    #[error("bucket {UPLOADS_BUCKET} cannot be used: {0}")]
    Away(String),
}

/// Record of one upload.
#[derive(Debug, Clone)]
pub struct UploadRecord {
    /// The provisional résumé.
    pub key: ResumeKey,
    /// Expected revision of the next write.
    revision: u64,
}

/// KV bucket of upload records.
#[derive(Clone)]
pub struct UploadRecords {
    context: Context,
    bucket: Store,
}

impl UploadRecords {
    /// Opens the existing bucket.
    ///
    /// # Errors
    ///
    /// If the bucket is unavailable or missing.
    pub async fn open(context: &Context) -> Result<Self, UploadRecordError> {
        let bucket = open_bucket(context, UPLOADS_BUCKET).await.map_err(away)?;
        Ok(Self {
            context: context.clone(),
            bucket,
        })
    }

    /// Writes the record, before the upload begins.
    ///
    /// # Errors
    ///
    /// If the write is not confirmed.
    pub async fn begin(&self, key: &ResumeKey) -> Result<UploadRecord, UploadRecordError> {
        self.write(key, 0).await
    }

    /// Removes the record, once the résumé has an event or is removed.
    ///
    /// # Errors
    ///
    /// [`UploadRecordError::Conflict`] if another process claimed it; [`UploadRecordError::Away`] without
    /// confirmation.
    pub async fn end(&self, record: &UploadRecord) -> Result<(), UploadRecordError> {
        let id = record.key.upload_id();
        let ended = remove_entry(&self.context, &self.bucket, &id, record.revision);
        ended.await.map_err(not_changed)
    }

    /// Claims the record of an interrupted upload, so that the upload can no longer end it.
    ///
    /// # Errors
    ///
    /// [`UploadRecordError::Conflict`] if it ended meanwhile; [`UploadRecordError::Away`] without confirmation.
    pub async fn claim(&self, record: &UploadRecord) -> Result<UploadRecord, UploadRecordError> {
        self.write(&record.key, record.revision).await
    }

    async fn write(&self, key: &ResumeKey, revision: u64) -> Result<UploadRecord, UploadRecordError> {
        let (id, value) = (key.upload_id(), key.to_string().into());
        let written = write_entry(&self.context, &self.bucket, &id, &value, revision, None).await;
        Ok(UploadRecord {
            key: key.clone(),
            revision: written.map_err(not_changed)?,
        })
    }

    /// The record in a message of the bucket's stream; `None` for a deletion marker.
    pub fn record_of(&self, message: &StreamMessage) -> Option<UploadRecord> {
        message.subject.strip_prefix(&self.bucket.prefix)?;
        let key = String::from_utf8(message.payload.to_vec()).ok()?;
        (!key.is_empty()).then(|| UploadRecord {
            key: ResumeKey::known(key),
            revision: message.sequence,
        })
    }

    /// Whether the résumé still has a record. Its event may be stored at any moment.
    ///
    /// # Errors
    ///
    /// If the broker does not answer.
    pub async fn is_provisional(&self, key: &ResumeKey) -> Result<bool, UploadRecordError> {
        let value = read_value(&self.bucket, &key.upload_id()).await;
        Ok(value.map_err(away)?.is_some())
    }
}

fn not_changed(error: PublishError) -> UploadRecordError {
    match error.kind() {
        PublishErrorKind::WrongLastSequence => UploadRecordError::Conflict,
        _ => away(error),
    }
}

fn away(error: impl Display) -> UploadRecordError {
    UploadRecordError::Away(error.to_string())
}
