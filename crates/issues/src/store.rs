//! The bucket of issues: a record of each, and the ledger of all, changed by compare-and-set.

use async_nats::jetstream::{Context, context::PublishErrorKind, kv::Store};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use site_broker::{
    ISSUES_BUCKET,
    buckets::{BucketEntry, open_bucket, read_entry, write_entry},
};
use site_events::IssueId;
use time::OffsetDateTime;

use crate::{IssueProgress, Ledger};

/// The key of the ledger.
const LEDGER_KEY: &str = "ledger";
/// What stands before an issue's id in the key of its record.
pub const ISSUE_KEY_PREFIX: &str = "issue.";

/// Why a record could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum IssueStoreError {
    /// Someone else changed the record meanwhile; read it again.
    #[error("the record was changed by somebody else")]
    Conflict,
    /// The bucket cannot be used now.
    #[error("the bucket of issues is away: {0}")]
    Away(String),
    /// What lies there is not what belongs there.
    #[error("the record {key} cannot be read: {reason}")]
    Unreadable {
        /// Under which key.
        key: String,
        /// What is wrong with it.
        reason: serde_json::Error,
    },
}

/// A record and the revision it was read at; revision 0 where there is none.
#[derive(Debug, Clone)]
pub struct Entry<T> {
    /// The record.
    pub record: T,
    /// What a change must name.
    pub revision: u64,
}

/// What the leader of a stream says of it, as far as it is asked here (`StreamInfo` of the NATS server).
#[derive(Deserialize)]
struct StreamInfo {
    /// When it said so.
    #[serde(rename = "ts", with = "time::serde::rfc3339")]
    time: OffsetDateTime,
}

/// The bucket.
#[derive(Clone)]
pub struct Issues {
    context: Context,
    bucket: Store,
}

impl Issues {
    /// Opens the bucket.
    ///
    /// # Errors
    ///
    /// If it is not there, or the broker does not answer.
    pub async fn open(context: &Context) -> Result<Self, IssueStoreError> {
        let bucket = open_bucket(context, ISSUES_BUCKET).await.map_err(away)?;
        Ok(Self {
            context: context.clone(),
            bucket,
        })
    }

    /// How far an issue is, where it is known.
    ///
    /// # Errors
    ///
    /// [`IssueStoreError::Unreadable`] if the record is none of ours; [`IssueStoreError::Away`] if the broker did not answer.
    pub async fn progress(&self, issue: IssueId) -> Result<Option<Entry<IssueProgress>>, IssueStoreError> {
        let Entry { record, revision } = self.read(&issue_key(issue)).await?;
        Ok(record.map(|record| Entry { record, revision }))
    }

    /// Writes how far an issue is, if the record still is what was read at `revision`; gives the new revision.
    ///
    /// # Errors
    ///
    /// [`IssueStoreError::Conflict`] if somebody else wrote in between; [`IssueStoreError::Away`] if it is not known to be
    /// written.
    pub async fn write_progress(
        &self,
        issue: IssueId,
        progress: &IssueProgress,
        revision: u64,
    ) -> Result<u64, IssueStoreError> {
        self.write(&issue_key(issue), progress, revision).await
    }

    /// The ledger, without what a clock that was ahead made of it.
    ///
    /// # Errors
    ///
    /// As [`Self::progress`].
    pub async fn ledger(&self) -> Result<Entry<Ledger>, IssueStoreError> {
        let (Entry { record, revision }, stored) = self.read_stored::<Ledger>(LEDGER_KEY).await?;
        let mut record = record.unwrap_or_default();
        if let Some(stored) = stored {
            record.correct(stored);
        }
        Ok(Entry { record, revision })
    }

    /// Writes the ledger, as [`Self::write_progress`] does the record of an issue.
    ///
    /// # Errors
    ///
    /// As [`Self::write_progress`].
    pub async fn write_ledger(&self, ledger: &Ledger, revision: u64) -> Result<u64, IssueStoreError> {
        self.write(LEDGER_KEY, ledger, revision).await
    }

    /// The time by the clock of the broker that leads the bucket.
    ///
    /// # Errors
    ///
    /// [`IssueStoreError::Away`] if the broker did not answer.
    pub async fn broker_time(&self) -> Result<OffsetDateTime, IssueStoreError> {
        let asked = format!("STREAM.INFO.{}", self.bucket.stream_name);
        let info: StreamInfo = self.context.request(asked, &()).await.map_err(away)?;
        Ok(info.time)
    }

    async fn read<T: DeserializeOwned>(&self, key: &str) -> Result<Entry<Option<T>>, IssueStoreError> {
        Ok(self.read_stored(key).await?.0)
    }

    /// A record, and when the broker stored it.
    async fn read_stored<T: DeserializeOwned>(
        &self,
        key: &str,
    ) -> Result<(Entry<Option<T>>, Option<OffsetDateTime>), IssueStoreError> {
        let BucketEntry {
            value,
            revision,
            stored,
        } = read_entry(&self.bucket, key).await.map_err(away)?;
        let unreadable = |reason| IssueStoreError::Unreadable {
            key: key.to_owned(),
            reason,
        };
        let record = value.map(|value| serde_json::from_slice(&value).map_err(unreadable));
        let entry = Entry {
            record: record.transpose()?,
            revision,
        };
        Ok((entry, stored))
    }

    async fn write<T: Serialize>(
        &self,
        key: &str,
        record: &T,
        revision: u64,
    ) -> Result<u64, IssueStoreError> {
        let value = serde_json::to_vec(record)
            .expect("a record is plain values")
            .into();
        let written = write_entry(&self.context, &self.bucket, key, &value, revision, None);
        written.await.map_err(|error| match error.kind() {
            PublishErrorKind::WrongLastSequence => IssueStoreError::Conflict,
            _ => away(error),
        })
    }
}

/// The key of an issue's record.
pub fn issue_key(issue: IssueId) -> String {
    format!("{ISSUE_KEY_PREFIX}{issue}")
}

fn away(error: impl std::fmt::Display) -> IssueStoreError {
    IssueStoreError::Away(error.to_string())
}
