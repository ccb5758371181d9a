//! KV bucket of the mails that each visitor got within a day, for all notifiers: nobody can have us fill a stranger's inbox
//! by typing that address into our forms again and again. Each kind of mail has a number of its own, so that whoever uses up one
//! withholds no other.

use async_nats::jetstream::Context;
use opentelemetry::{KeyValue, metrics::Counter};
use site_broker::{
    Delivery, Failure, Record, RecordError, Records, VISITOR_MAILS_BUCKET,
    buckets::{OpenBucketError, open_bucket},
};
use site_events::Channel;
use site_service::metrics;
use time::OffsetDateTime;
use visitor::{EmailAddress, InboxId, token::TokenKey};

use super::counted_mails::{Count, CountedMails};

/// Whether a mail may go to its visitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowance {
    /// It is counted, and may be tried as often as need be.
    Granted,
    /// The visitor got as many of its kind within a day as one may get.
    Withheld,
}

/// The bucket of counted mails, by inbox: all the addresses that one may have by tags (`zoe+1@example.org`) share a record.
pub struct VisitorMails {
    records: Records,
    inbox_key: TokenKey,
    max_per_day: usize,
    withheld: Counter<u64>,
}

impl VisitorMails {
    /// Opens the bucket, in which inboxes lie under ids by this key. So many mails of each kind may go to one of them within a day.
    ///
    /// # Errors
    ///
    /// If it is not there, or the broker does not answer.
    pub async fn open(
        context: &Context,
        inbox_key: TokenKey,
        max_per_day: usize,
    ) -> Result<Self, OpenBucketError> {
        let withheld = metrics::meter()
            .u64_counter("site.mails.withheld")
            .with_unit("{mail}")
            .with_description(
                "Mails that a visitor did not get because there were too many of the kind in a day",
            )
            .build();
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

    /// Whether this mail may go out to this address; it is counted then. One that is tried again counts once.
    ///
    /// # Errors
    ///
    /// If the broker does not answer: the mail waits, as nobody knows how many there were.
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

    /// Counts a mail under this key. Of most visitors there is no record, so none is read before one is in the way.
    async fn count(&self, key: &str, mail: &str, now: OffsetDateTime) -> Result<Allowance, Failure> {
        let mut known = Record::<CountedMails> {
            value: None,
            revision: 0,
        };
        // A conflict is with another mail to the inbox, of which there are only so many of each kind.
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
                // It ends with its day, and holds back no mail until then.
                Err(RecordError::Unreadable { .. }) => return Ok(Allowance::Granted),
                read => read.map_err(unavailable)?,
            };
        }
        Err(unavailable("others counted in the same moments"))
    }
}

fn unavailable(error: impl std::fmt::Display) -> Failure {
    Failure::of_store(VISITOR_MAILS_BUCKET, error)
}
