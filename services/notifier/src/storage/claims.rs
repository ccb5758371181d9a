//! Claims: which notifier sends an event that several may have been handed. The broker hands one out again that it heard nothing of for
//! the ack wait, and when it is killed it forgets whom it had handed what to; both notifiers then read that it is not delivered.
//! A claim is a key beside the delivery record that only one of them can create, and that expires after the ack wait, when the broker
//! hands the event to somebody else anyway.

use std::{
    sync::{Arc, Mutex, PoisonError, atomic::Ordering},
    time::{Duration, Instant},
};

use async_nats::{
    Statistics,
    connection::State,
    jetstream::{Context, kv::Store},
};
use bytes::Bytes;
use site_broker::{
    Delivery,
    buckets::{ClaimError, claim_key, read_entry, remove_entry},
};
use uuid::Uuid;

/// How long nothing can have become of a delivery on a connection that stays: a consumer's leader that was lost is replaced after seconds,
/// and one that steps down hands over what it knows. Whoever is erased so shortly before may still get it.
const FRESH_FOR: Duration = Duration::from_millis(250);

/// The claims of one notifier.
pub struct Claims {
    context: Context,
    bucket: Store,
    notifier: Uuid,
    statistics: Arc<Statistics>,
    /// The number of the connection to the broker, and since when it is known.
    connection: Mutex<(u64, Instant)>,
}

impl Claims {
    /// Claims of this process, in the bucket of delivery records.
    pub fn new(context: &Context, bucket: Store) -> Self {
        let statistics = context.client().statistics();
        let number = statistics.connects.load(Ordering::Relaxed);
        Self {
            context: context.clone(),
            bucket,
            notifier: Uuid::new_v4(),
            statistics,
            connection: Mutex::new((number, Instant::now())),
        }
    }

    /// The number of the connection to the broker.
    pub fn connection(&self) -> u64 {
        self.statistics.connects.load(Ordering::Relaxed)
    }

    /// Whether nothing can have become of a delivery since it came, so short a time before, where the connection is still this one: a
    /// broker that is killed ends it.
    pub fn is_fresh(&self, delivery: &Delivery, connection: u64) -> bool {
        delivery.received_at.elapsed() < FRESH_FOR
            && self.connection() == connection
            && self.context.client().connection_state() == State::Connected
    }

    /// Whether another notifier may have this delivery as well: it was handed out before, or so long ago that it may have been again, or
    /// by a broker that may have forgotten to whom else.
    pub fn are_needed(&self, delivery: &Delivery) -> bool {
        delivery.attempt > 1
            || delivery.received_at.elapsed() > delivery.ack_wait / 2
            || self.is_newly_connected(delivery)
    }

    /// Whether a broker handed it out that may have forgotten to whom else.
    pub fn is_newly_connected(&self, delivery: &Delivery) -> bool {
        self.connected_for() < delivery.ack_wait
    }

    /// Claims the delivery, or claims it anew; says whether it has, or another notifier.
    ///
    /// # Errors
    ///
    /// If the broker does not answer.
    pub async fn claim(&self, delivery: &Delivery) -> Result<bool, ClaimError> {
        let (key, value) = (key(delivery), self.value());
        let claimed = claim_key(&self.context, &self.bucket, &key, &value, delivery.ack_wait);
        Ok(claimed.await?.is_some())
    }

    /// Leaves the delivery to others, if this notifier has claimed it: it was not sent.
    pub async fn release(&self, delivery: &Delivery) {
        if let Err(error) = self.try_to_release(&key(delivery)).await {
            tracing::debug!(%error, "a claim was not released; it expires");
        }
    }

    /// What lies there is looked at: a claim may have been stored whose answer nobody waited for.
    async fn try_to_release(&self, key: &str) -> Result<(), ClaimError> {
        let entry = read_entry(&self.bucket, key).await?;
        if entry.value == Some(self.value()) {
            remove_entry(&self.context, &self.bucket, key, entry.revision).await?;
        }
        Ok(())
    }

    /// What a claim of this notifier says.
    fn value(&self) -> Bytes {
        self.notifier.to_string().into()
    }

    /// For how long the connection to the broker is known.
    fn connected_for(&self) -> Duration {
        let number = self.connection();
        // A number and a time are right together, whatever befell who held them.
        let mut connection = self.connection.lock().unwrap_or_else(PoisonError::into_inner);
        if connection.0 != number {
            *connection = (number, Instant::now());
        }
        connection.1.elapsed()
    }
}

fn key(delivery: &Delivery) -> String {
    format!("{}.claim", delivery.key())
}
