//! KV bucket of the mails that each visitor got within a day, for all notifiers: nobody can have us fill a stranger's inbox
//! by typing that address into our forms again and again. Each kind of mail has a number of its own, so that whoever uses up one
//! withholds no other.

use async_nats::jetstream::Context;
use opentelemetry::{KeyValue, metrics::Counter};
use site_broker::{CircuitBreaker, Delivery, VISITOR_MAILS_BUCKET, buckets::OpenBucketError};
use site_events::Channel;
use site_service::metrics;
use time::{Duration, OffsetDateTime};
use visitor::{EmailAddress, InboxId, token::TokenKey};

use super::{
    counted_mails::MailLimit,
    mail_counts::{Counted, KnownMails, MailCounts},
    unavailable::Unavailable,
};

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
    counts: MailCounts,
    inbox_key: TokenKey,
    breaker: CircuitBreaker,
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
        let limit = MailLimit {
            mails: max_per_day,
            within: Duration::DAY,
        };
        Ok(Self {
            counts: MailCounts::open(context, limit).await?,
            inbox_key,
            breaker: CircuitBreaker::new("visitor-mails-bucket"),
            withheld,
        })
    }

    /// Whether this mail may go out to this address; it is counted then. One that is tried again counts once.
    ///
    /// # Errors
    ///
    /// If the broker does not answer in time: the mail waits, as nobody knows how many there were.
    pub async fn allow(
        &self,
        channel: Channel,
        delivery: &Delivery,
        address: &EmailAddress,
        now: OffsetDateTime,
    ) -> Result<Allowance, Unavailable> {
        let inbox = InboxId::of(address, &self.inbox_key);
        let (mail, mut known) = (delivery.key(), KnownMails::default());
        // Of most visitors there is no record, so none is read before one is in the way.
        let counting = self.counts.count(inbox.as_str(), &mut known, &mail, now);
        let counted = self.breaker.call(delivery, counting, |_| true).await;
        let counted = counted.map_err(|error| Unavailable::of_call(VISITOR_MAILS_BUCKET, &error))?;
        Ok(match counted {
            Counted::Within => Allowance::Granted,
            Counted::Beyond => {
                self.withheld.add(1, &[KeyValue::new("channel", channel.name())]);
                Allowance::Withheld
            }
        })
    }
}
