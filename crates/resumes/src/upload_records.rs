//! Upload records: which résumés are provisional, so that no crash leaves an orphan that nobody finds.
//!
//! A record is written before the upload and removed once the event is stored. What is left of an upload that was cut off is its
//! record; `sitectl sweep` looks for its event and removes the résumé that has none.

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

/// Why a record could not be written or removed.
#[derive(Debug, thiserror::Error)]
pub enum UploadRecordError {
    /// Another process has changed or removed it.
    #[error("the upload's record was changed by another process")]
    Conflict,
    /// It is not known to be written.
    #[error("bucket {UPLOADS_BUCKET} cannot be used: {0}")]
    Away(String),
}

/// The record of one upload.
#[derive(Debug, Clone)]
pub struct UploadRecord {
    /// The résumé that is provisional.
    pub key: ResumeKey,
    /// What a change must name.
    revision: u64,
}

/// The KV bucket of upload records.
#[derive(Clone)]
pub struct UploadRecords {
    context: Context,
    bucket: Store,
}

impl UploadRecords {
    /// Opens the bucket, which must be there.
    ///
    /// # Errors
    ///
    /// If it is away or not there.
    pub async fn open(context: &Context) -> Result<Self, UploadRecordError> {
        let bucket = open_bucket(context, UPLOADS_BUCKET).await.map_err(away)?;
        Ok(Self {
            context: context.clone(),
            bucket,
        })
    }

    /// Writes the record of an upload that is about to begin.
    ///
    /// # Errors
    ///
    /// If it is not known to be written.
    pub async fn begin(&self, key: &ResumeKey) -> Result<UploadRecord, UploadRecordError> {
        self.write(key, 0).await
    }

    /// Removes the record: the résumé has an event, or is gone.
    ///
    /// # Errors
    ///
    /// [`UploadRecordError::Conflict`] if another process claimed it; [`UploadRecordError::Away`] if it is not known to be gone.
    pub async fn end(&self, record: &UploadRecord) -> Result<(), UploadRecordError> {
        let id = record.key.upload_id();
        let ended = remove_entry(&self.context, &self.bucket, &id, record.revision);
        ended.await.map_err(not_changed)
    }

    /// Claims the record of an upload that was cut off: from now on its upload cannot end it any more.
    ///
    /// # Errors
    ///
    /// [`UploadRecordError::Conflict`] if it ended meanwhile; [`UploadRecordError::Away`] if it is not known to be claimed.
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

    /// The record that a message of the bucket's stream holds; `None` for a marker of one that was removed.
    pub fn record_of(&self, message: &StreamMessage) -> Option<UploadRecord> {
        message.subject.strip_prefix(&self.bucket.prefix)?;
        let key = String::from_utf8(message.payload.to_vec()).ok()?;
        (!key.is_empty()).then(|| UploadRecord {
            key: ResumeKey::known(key),
            revision: message.sequence,
        })
    }

    /// Whether the résumé still has a record: it is provisional, and its event may be stored in the next moment.
    ///
    /// # Errors
    ///
    /// If the broker does not say.
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
