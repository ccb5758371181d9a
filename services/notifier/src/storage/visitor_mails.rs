//! KV bucket of the mails that each visitor got within a day, for all notifiers: nobody can have us fill a stranger's inbox
//! by typing that address into our forms again and again.

use async_nats::jetstream::{
    Context,
    kv::{Store, UpdateErrorKind},
    stream::RawMessageError,
};
use opentelemetry::{KeyValue, metrics::Counter};
use site_broker::{
    CircuitBreaker, Delivery, VISITOR_MAILS_BUCKET,
    buckets::{open_bucket, read_entry},
};
use site_events::Channel;
use site_service::metrics;
use time::OffsetDateTime;

use super::{
    counted_mails::{Count, CountedMails},
    unavailable::Unavailable,
};

/// Whether a mail may go to its visitor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Allowance {
    /// It is counted, and may be tried as often as need be.
    Granted,
    /// The visitor got as many within a day as one may get.
    Withheld,
}

/// Why a mail could not be counted.
#[derive(Debug, thiserror::Error)]
enum CountError {
    #[error(transparent)]
    Read(#[from] RawMessageError),
    #[error("{0}")]
    Write(String),
    #[error("others counted in the same moments")]
    Conflicts,
}

/// The bucket of counted mails, by person.
pub struct VisitorMails {
    bucket: Store,
    breaker: CircuitBreaker,
    max_per_day: usize,
    withheld: Counter<u64>,
}

impl VisitorMails {
    /// Opens the bucket. So many mails may go to one visitor within a day.
    ///
    /// # Errors
    ///
    /// If it is not there, or the broker does not answer.
    pub async fn open(context: &Context, max_per_day: usize) -> anyhow::Result<Self> {
        let withheld = metrics::meter()
            .u64_counter("site.mails.withheld")
            .with_unit("{mail}")
            .with_description("Mails that a visitor did not get because there were too many within a day")
            .build();
        for channel in Channel::ALL.into_iter().filter(|channel| channel.is_to_visitor()) {
            withheld.add(0, &[KeyValue::new("channel", channel.name())]);
        }
        Ok(Self {
            bucket: open_bucket(context, VISITOR_MAILS_BUCKET).await?,
            breaker: CircuitBreaker::new("visitor-mails-bucket"),
            max_per_day,
            withheld,
        })
    }

    /// Whether this mail may go out; it is counted then. One that is tried again counts once.
    ///
    /// # Errors
    ///
    /// If the broker does not answer in time: the mail waits, as nobody knows how many there were.
    pub async fn allow(
        &self,
        channel: Channel,
        delivery: &Delivery,
        now: OffsetDateTime,
    ) -> Result<Allowance, Unavailable> {
        if !channel.is_to_visitor() {
            return Ok(Allowance::Granted);
        }
        let counting = self.count(delivery, now);
        let counted = self.breaker.call(delivery, counting, |_| true).await;
        let allowance = counted.map_err(|error| Unavailable::of_call(VISITOR_MAILS_BUCKET, &error))?;
        if allowance == Allowance::Withheld {
            self.withheld.add(1, &[KeyValue::new("channel", channel.name())]);
        }
        Ok(allowance)
    }

    /// Counts by compare-and-set. Of most visitors there is no record, so none is read before one is in the way.
    async fn count(&self, delivery: &Delivery, now: OffsetDateTime) -> Result<Allowance, CountError> {
        let person = delivery.person.as_str();
        let (mut known, mut revision) = (CountedMails::default(), 0);
        // Who loses against others loses against their mails, of which there are only so many.
        for _ in 0..self.max_per_day + 2 {
            let next = match known.count(&delivery.key(), now, self.max_per_day) {
                Count::Before => return Ok(Allowance::Granted),
                Count::TooMany => return Ok(Allowance::Withheld),
                Count::Now(next) => next,
            };
            match self.bucket.update(person, next.to_json(), revision).await {
                Ok(_) => return Ok(Allowance::Granted),
                Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => {}
                Err(error) => return Err(CountError::Write(error.to_string())),
            }
            let entry = read_entry(&self.bucket, person).await?;
            revision = entry.as_ref().map_or(0, |entry| entry.revision);
            known = CountedMails::read(entry.and_then(|entry| entry.value));
        }
        Err(CountError::Conflicts)
    }
}
