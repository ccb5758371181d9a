//! KV bucket of counted mails, changed by compare-and-set: all notifiers count together.

use async_nats::jetstream::{
    Context,
    kv::{Store, UpdateErrorKind},
    stream::RawMessageError,
};
use site_broker::{
    VISITOR_MAILS_BUCKET,
    buckets::{OpenBucketError, open_bucket, read_entry},
};
use site_events::Channel;
use time::OffsetDateTime;

use super::counted_mails::{Count, CountedMails, MailLimit};

/// Whether a mail is within its limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Counted {
    /// It is counted, and may be tried as often as need be.
    Within,
    /// There were as many as there may be.
    Beyond,
}

/// Why a mail could not be counted.
#[derive(Debug, thiserror::Error)]
pub enum CountError {
    #[error(transparent)]
    Read(#[from] RawMessageError),
    #[error("{0}")]
    Write(String),
    #[error("others counted in the same moments")]
    Conflicts,
}

/// The bucket, and how many mails of each kind may go to one receiver.
pub struct MailCounts {
    bucket: Store,
    limit: MailLimit,
}

/// What is known of one receiver's mails.
#[derive(Debug, Default)]
pub struct KnownMails {
    mails: CountedMails,
    /// The revision that a change must name; 0 where there is no record, or it was not read.
    revision: u64,
}

impl MailCounts {
    /// Opens the bucket.
    ///
    /// # Errors
    ///
    /// If it is not there, or the broker does not answer.
    pub async fn open(context: &Context, limit: MailLimit) -> Result<Self, OpenBucketError> {
        Ok(Self {
            bucket: open_bucket(context, VISITOR_MAILS_BUCKET).await?,
            limit,
        })
    }

    /// Counts a mail under this key, by what is known: a record is read only where another one is in the way. One that is
    /// counted again counts once.
    ///
    /// # Errors
    ///
    /// If the broker does not answer. Where it did not take the count, the mail is known as counted all the same.
    pub async fn count(
        &self,
        key: &str,
        known: &mut KnownMails,
        mail: &str,
        now: OffsetDateTime,
    ) -> Result<Counted, CountError> {
        // Who loses against others loses against their mails, of which there are only so many of each kind.
        for _ in 0..self.limit.mails * Channel::ALL.len() + 2 {
            let next = match known.mails.clone().count(mail, now, self.limit) {
                Count::Before => return Ok(Counted::Within),
                Count::TooMany => return Ok(Counted::Beyond),
                Count::Now(next) => next,
            };
            known.mails = next;
            match self
                .bucket
                .update(key, known.mails.to_json(), known.revision)
                .await
            {
                Ok(revision) => {
                    known.revision = revision;
                    return Ok(Counted::Within);
                }
                Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => {}
                Err(error) => return Err(CountError::Write(error.to_string())),
            }
            let entry = read_entry(&self.bucket, key).await?;
            *known = KnownMails {
                revision: entry.revision,
                mails: CountedMails::read(entry.value),
            };
        }
        Err(CountError::Conflicts)
    }
}
