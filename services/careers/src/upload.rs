//! The résumé on its way out: an upload is provisional, by a record that is written before it, until its event is stored.
//!
//! Nothing here removes a résumé. Whether an event names it, only the sweep can tell: an event that was sent twice is told to be a
//! duplicate of itself, and one that was refused may be stored.

use std::time::Duration;

use backon::{ConstantBuilder, Retryable};
use resumes::{ResumeKey, ResumeStore, ResumeStoreError, UploadRecord, UploadRecordError, UploadRecords};
use site_events::event::{Scan, StoredResume};
use uuid::Uuid;
use visitor::PersonId;

use crate::{apply::CheckedResume, spool::Spooled};

/// How long a sweep is waited for that has claimed a record: longer than the store may take to remove the résumé, which is
/// 40 s.
const SWEEP_CHECKS: ConstantBuilder = ConstantBuilder::new()
    .with_delay(Duration::from_secs(1))
    .with_max_times(45);

/// Why a résumé could not be stored.
#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    #[error(transparent)]
    Record(#[from] UploadRecordError),
    #[error(transparent)]
    Store(#[from] ResumeStoreError),
}

/// A résumé that is stored and provisional. Dropped, it is left to the sweep.
pub struct Upload {
    pub stored: StoredResume,
    record: UploadRecord,
    spooled: Spooled,
}

/// Stores résumés, each beside its record.
pub struct Uploads {
    pub store: ResumeStore,
    pub records: UploadRecords,
}

impl Uploads {
    /// Writes the record, then stores the résumé.
    ///
    /// # Errors
    ///
    /// If the broker does not store the record, or the store the résumé; what it may have stored is left to the sweep.
    pub async fn start(
        &self,
        person: &PersonId,
        resume: CheckedResume,
        scan: Scan,
    ) -> Result<Upload, UploadError> {
        // Each attempt owns its object: removing it can never take another attempt's.
        let key = ResumeKey::new(person, Uuid::now_v7());
        let spooled = resume.spooled;
        let upload = Upload {
            record: self.records.begin(&key).await?,
            stored: StoredResume {
                key: key.to_string(),
                file_name: resumes::readable_file_name(&spooled.file_name),
                content_type: resume.kind.content_type().to_owned(),
                size_bytes: spooled.size_bytes,
                sha256: spooled.sha256.clone(),
                scan,
                active_content: resume.active_content.into_iter().collect(),
            },
            spooled,
        };
        self.put(&upload).await?;
        Ok(upload)
    }

    async fn put(&self, upload: &Upload) -> Result<(), ResumeStoreError> {
        let (file, content_type) = (upload.spooled.path(), &upload.stored.content_type);
        self.store.put(&upload.record.key, &file, content_type).await
    }

    /// The event is stored: the résumé stays.
    pub async fn commit(&self, upload: Upload) {
        match self.records.end(&upload.record).await {
            Ok(()) => {}
            Err(UploadRecordError::Conflict) => self.store_again(&upload).await,
            Err(error @ UploadRecordError::Away(_)) => {
                tracing::warn!(%error, "the record of a stored application is left to the sweep");
            }
        }
    }

    /// A sweep took the upload for one that was cut off: this process stood still for longer than the grace period.
    async fn store_again(&self, upload: &Upload) {
        let is_swept = || async {
            let is_claimed = self.records.is_provisional(&upload.record.key).await?;
            (!is_claimed).then_some(()).ok_or(UploadRecordError::Conflict)
        };
        if let Err(error) = is_swept.retry(SWEEP_CHECKS).await {
            // It ended in the middle, and may have removed the résumé before: the next one will find the event, and keep it.
            tracing::warn!(%error, "a sweep did not end; the résumé is stored again");
        }
        if let Err(error) = self.put(upload).await {
            tracing::error!(%error, key = %upload.record.key, "a swept résumé could not be stored again");
        }
    }
}
