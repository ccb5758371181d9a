//! Bucket of issues, with their progress and the table of limits.

use async_nats::jetstream::{Context, consumer::PullConsumer};
use site_broker::{ISSUES_BUCKET, Record, RecordError, Records, buckets::open_bucket};
use site_events::{IssueId, SENDINGS_CONSUMER, SENDINGS_STREAM};

use crate::issues::{IssueProgress, LimitTable, Queue};

const LIMITS_KEY: &str = "limits";
/// Prefix of the key of an issue's progress.
pub const ISSUE_KEY_PREFIX: &str = "issue.";

/// Bucket of issues.
#[derive(Clone)]
pub struct Issues {
    context: Context,
    records: Records,
}

impl Issues {
    /// Opens the bucket.
    ///
    /// # Errors
    ///
    /// If the bucket is missing or the broker unavailable.
    pub async fn open(context: &Context) -> Result<Self, RecordError> {
        Ok(Self {
            context: context.clone(),
            records: Records::new(context, open_bucket(context, ISSUES_BUCKET).await?),
        })
    }

    /// Progress of an issue, if stored.
    ///
    /// # Errors
    ///
    /// If the record is unreadable or the broker unavailable.
    pub async fn progress(&self, issue: IssueId) -> Result<Record<IssueProgress>, RecordError> {
        self.records.read(&issue_key(issue)).await
    }

    /// Writes an issue's progress if `revision` is still current.
    ///
    /// # Errors
    ///
    /// As [`Records::write`].
    pub async fn write_progress(
        &self,
        issue: IssueId,
        progress: &IssueProgress,
        revision: u64,
    ) -> Result<(), RecordError> {
        let key = issue_key(issue);
        let written = self.records.write(&key, progress, revision, None).await;
        written.map(drop)
    }

    /// Reads the table of limits.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub async fn limits(&self) -> Result<Record<LimitTable>, RecordError> {
        self.records.read(LIMITS_KEY).await
    }

    /// Writes the table of limits if `revision` is still current.
    ///
    /// # Errors
    ///
    /// As [`Records::write`].
    pub async fn write_limits(&self, limits: &LimitTable, revision: u64) -> Result<(), RecordError> {
        let written = self.records.write(LIMITS_KEY, limits, revision, None).await;
        written.map(drop)
    }

    /// State of the work queue.
    ///
    /// # Errors
    ///
    /// If the broker is unavailable.
    pub async fn queue(&self) -> Result<Queue, RecordError> {
        let stream = self.context.get_stream(SENDINGS_STREAM).await;
        let stream = stream.map_err(RecordError::unavailable)?;
        let consumer = stream.get_consumer(SENDINGS_CONSUMER).await;
        let consumer: PullConsumer = consumer.map_err(RecordError::unavailable)?;
        Ok(Queue {
            taken: stream.cached_info().state.last_sequence,
            pending: consumer.cached_info().num_pending,
        })
    }
}

fn issue_key(issue: IssueId) -> String {
    format!("{ISSUE_KEY_PREFIX}{issue}")
}
