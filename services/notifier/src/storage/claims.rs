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
    jetstream::{Context, kv::Store},
};
use site_broker::{
    Delivery,
    buckets::{ClaimError, claim_key, remove_entry},
};
use uuid::Uuid;

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

    /// Whether another notifier may have this delivery as well, which was begun then: it was handed out before, or so long ago that it may
    /// have been again, or by a broker that may have forgotten to whom else.
    pub fn are_needed(&self, delivery: &Delivery, begun: Instant) -> bool {
        let ack_wait = delivery.ack_wait;
        delivery.attempt > 1 || begun.elapsed() > ack_wait / 2 || self.connected_for() < ack_wait
    }

    /// Claims the delivery, or claims it anew; gives the claim's revision, and none where another notifier has claimed it.
    ///
    /// # Errors
    ///
    /// If the broker does not answer.
    pub async fn claim(&self, delivery: &Delivery) -> Result<Option<u64>, ClaimError> {
        let claim = self.notifier.to_string().into();
        claim_key(
            &self.context,
            &self.bucket,
            &key(delivery),
            &claim,
            delivery.ack_wait,
        )
        .await
    }

    /// Leaves the delivery to others: it was not sent.
    pub async fn release(&self, delivery: &Delivery, revision: u64) {
        let removed = remove_entry(&self.context, &self.bucket, &key(delivery), revision).await;
        if let Err(error) = removed {
            tracing::debug!(%error, "a claim was not released; it expires");
        }
    }

    /// For how long the connection to the broker is known.
    fn connected_for(&self) -> Duration {
        let number = self.statistics.connects.load(Ordering::Relaxed);
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
