//! Upload of a résumé. A record, written first, marks the résumé as provisional until its event is stored.
//!
//! Only the sweep removes résumés, because only it can tell whether an event names them. The answer to a publish
//! cannot tell: it sometimes reports a retried event as a duplicate of itself, or fails although the event is stored.

use std::time::Duration;

use backon::{ConstantBuilder, Retryable};
use resumes::{ResumeKey, ResumeStore, ResumeStoreError, UploadRecord, UploadRecords};
use site_broker::RecordError;
use site_events::event::{Scan, StoredResume};
use uuid::Uuid;
use visitor::PersonId;

use crate::{apply::CheckedResume, spool::Spooled};

/// Repeated check whether a sweep has ended. It lasts longer than the store's 40 s timeout for removing a résumé.
const SWEEP_CHECKS: ConstantBuilder = ConstantBuilder::new()
    .with_delay(Duration::from_secs(1))
    .with_max_times(45);

#[derive(Debug, thiserror::Error)]
pub enum UploadError {
    #[error(transparent)]
    Record(#[from] RecordError),
    #[error(transparent)]
    Store(#[from] ResumeStoreError),
}

/// Stored, provisional résumé. Without a [commit](Uploads::commit) the sweep decides whether to remove it.
pub struct Upload {
    pub stored: StoredResume,
    record: UploadRecord,
    spooled: Spooled,
}

pub struct Uploads {
    pub store: ResumeStore,
    pub records: UploadRecords,
}

impl Uploads {
    /// Writes the record, then stores the résumé.
    ///
    /// # Errors
    ///
    /// If the record or the résumé is not stored. The sweep removes what was stored.
    pub async fn start(
        &self,
        person: &PersonId,
        resume: CheckedResume,
        scan: Scan,
    ) -> Result<Upload, UploadError> {
        // Each attempt has a key of its own, so that its removal never affects another attempt's résumé.
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

    /// Makes the résumé permanent, once its event is stored.
    pub async fn commit(&self, upload: Upload) {
        match self.records.end(&upload.record).await {
            Ok(()) => {}
            Err(RecordError::Conflict) => self.store_again(&upload).await,
            Err(error) => {
                tracing::warn!(%error, "the record of a stored application is left to the sweep");
            }
        }
    }

    /// Stores the résumé again if this process stalled for so long that a sweep claimed the record.
    async fn store_again(&self, upload: &Upload) {
        let is_swept = || async {
            let is_claimed = self.records.is_provisional(&upload.record.key).await?;
            (!is_claimed).then_some(()).ok_or(RecordError::Conflict)
        };
        if let Err(error) = is_swept.retry(SWEEP_CHECKS).await {
            // The sweep died, maybe after it removed the résumé. The next sweep finds the event, so it keeps the
            // résumé that is stored again here.
            tracing::warn!(%error, "a sweep did not finish; the résumé is stored again");
        }
        if let Err(error) = self.put(upload).await {
            tracing::error!(%error, key = %upload.record.key, "a swept résumé could not be stored again");
        }
    }
}
