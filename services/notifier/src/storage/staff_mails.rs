//! How many mails sales and recruiters got within an hour, of all notifiers: what is beyond goes out in bundles, so that no flood of
//! forms buries an inbox. Nothing is held back by a count that cannot be made.

use std::time::Duration;

use async_nats::jetstream::Context;
use site_broker::{Delivery, buckets::OpenBucketError};
use time::OffsetDateTime;
use tokio::{sync::Mutex, time::timeout};

use super::{
    counted_mails::MailLimit,
    mail_counts::{Counted, KnownMails, MailCounts},
};
use crate::mail::BundleKind;

/// How long the broker may take over a count. Deliveries of a channel wait for each other's.
const COUNT_TIMEOUT: Duration = Duration::from_secs(1);

/// How a mail to our own people goes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// By itself.
    Single,
    /// In one mail with others.
    Bundled(BundleKind),
}

/// Counts mails to our own people.
pub struct StaffMails {
    /// None where nothing is bundled.
    counts: Option<MailCounts>,
    leads: Mutex<KnownMails>,
    applications: Mutex<KnownMails>,
}

impl StaffMails {
    /// Opens the bucket. So many mails go out by themselves within an hour; where it is 0, all of them do.
    ///
    /// # Errors
    ///
    /// If it is not there, or the broker does not answer.
    pub async fn open(context: &Context, max_per_hour: usize) -> Result<Self, OpenBucketError> {
        let limit = MailLimit {
            mails: max_per_hour,
            within: time::Duration::HOUR,
        };
        let counts = match max_per_hour {
            0 => None,
            _ => Some(MailCounts::open(context, limit).await?),
        };
        Ok(Self {
            counts,
            leads: Mutex::default(),
            applications: Mutex::default(),
        })
    }

    /// Which way a mail of this kind goes; the first ones within an hour by themselves, and what did so once does so when it is
    /// tried again.
    pub async fn way(&self, kind: BundleKind, delivery: &Delivery, now: OffsetDateTime) -> Way {
        let Some(counts) = &self.counts else {
            return Way::Single;
        };
        // One at a time: they would all lose against the first.
        let mut known = match kind {
            BundleKind::Leads => self.leads.lock().await,
            BundleKind::Applications => self.applications.lock().await,
        };
        let mail = delivery.key();
        let counting = counts.count(kind.channel().name(), &mut known, &mail, now);
        match timeout(COUNT_TIMEOUT, counting).await {
            Ok(Ok(Counted::Beyond)) => Way::Bundled(kind),
            Ok(Ok(Counted::Within)) => Way::Single,
            Ok(Err(error)) => {
                tracing::warn!(%error, "the other notifiers do not know that this mail goes out");
                Way::Single
            }
            Err(_elapsed) => {
                tracing::warn!("the broker does not say how many mails went out within the hour");
                Way::Single
            }
        }
    }
}
