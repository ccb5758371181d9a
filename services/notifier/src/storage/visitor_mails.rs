//! KV bucket of mails per visitor and day, shared by all notifiers. It stops people from flooding a stranger's inbox
//! through our forms.

use async_nats::jetstream::Context;
use opentelemetry::{KeyValue, metrics::Counter};
use site_broker::{
    Delivery, Failure, Record, RecordError, Records, VISITOR_MAILS_BUCKET, buckets::open_bucket,
};
use site_events::Channel;
use site_service::metrics;
use time::OffsetDateTime;
use visitor::{EmailAddress, InboxId, token::TokenKey};

use super::counted_mails::{Count, CountedMails};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowance {
    /// The mail is allowed, and so are its retries.
    Granted,
    /// The visitor reached the daily limit of this kind.
    Withheld,
}

/// Mail counts by inbox: addresses that differ only in a tag (`zoe+1@example.org`) share a record.
pub struct VisitorMails {
    records: Records,
    inbox_key: TokenKey,
    max_per_day: usize,
    withheld: Counter<u64>,
}

impl VisitorMails {
    /// Opens the bucket. Its keys are inbox ids, derived with `inbox_key`.
    pub async fn open(
        context: &Context,
        inbox_key: TokenKey,
        max_per_day: usize,
    ) -> Result<Self, RecordError> {
        let description = "Mails withheld because the visitor reached the daily limit of their kind";
        let withheld = metrics::counter("site.mails.withheld", "{mail}", description);
        for channel in Channel::ALL.into_iter().filter(|channel| channel.is_to_visitor()) {
            withheld.add(0, &[KeyValue::new("channel", channel.name())]);
        }
        Ok(Self {
            records: Records::new(context, open_bucket(context, VISITOR_MAILS_BUCKET).await?),
            inbox_key,
            max_per_day,
            withheld,
        })
    }

    /// Counts a mail and its retries once, and decides whether it may be sent. Fails if the count is unavailable.
    pub async fn allow(
        &self,
        channel: Channel,
        delivery: &Delivery,
        address: &EmailAddress,
        now: OffsetDateTime,
    ) -> Result<Allowance, Failure> {
        let inbox = InboxId::of(address, &self.inbox_key);
        let allowance = self.count(inbox.as_str(), &delivery.key(), now).await?;
        if allowance == Allowance::Withheld {
            self.withheld.add(1, &[KeyValue::new("channel", channel.name())]);
        }
        Ok(allowance)
    }

    /// Writes first, and reads only after a conflict, because most inboxes have no record.
    async fn count(&self, key: &str, mail: &str, now: OffsetDateTime) -> Result<Allowance, Failure> {
        let mut known = Record::<CountedMails> {
            value: None,
            revision: 0,
        };
        // A conflict means that another mail of this inbox was counted, which happens at most this often.
        for _ in 0..self.max_per_day * Channel::ALL.len() + 2 {
            let counted = known.value.unwrap_or_default();
            let next = match counted.count(mail, now, self.max_per_day) {
                Count::Before => return Ok(Allowance::Granted),
                Count::TooMany => return Ok(Allowance::Withheld),
                Count::Now(next) => next,
            };
            match self.records.write(key, &next, known.revision, None).await {
                Ok(_) => return Ok(Allowance::Granted),
                Err(RecordError::Conflict) => {}
                Err(error) => return Err(unavailable(error)),
            }
            known = match self.records.read(key).await {
                // An unreadable record blocks no mails, and expires within a day.
                Err(RecordError::Unreadable { .. }) => return Ok(Allowance::Granted),
                read => read.map_err(unavailable)?,
            };
        }
        Err(unavailable("too many conflicts with other counts"))
    }
}

fn unavailable(error: impl std::fmt::Display) -> Failure {
    Failure::of_store(VISITOR_MAILS_BUCKET, error)
}
