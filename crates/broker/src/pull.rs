//! Pulls a durable consumer's messages, each with a permit (backpressure).

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use async_nats::jetstream::{
    AckKind, Context, Message,
    consumer::{PullConsumer, pull::Batch},
};
use futures_util::{Stream, StreamExt, stream};
use site_events::stream_of;
use site_service::drain::CancellationToken;
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::timeout,
};

use crate::consumer_pause::ConsumerPause;

const RECONNECT_PAUSE: Duration = Duration::from_secs(1);
/// Expiry of a pull request. Until then a cluster may deliver to a killed process, which delays those events
/// by the ack wait.
const PULL_EXPIRES: Duration = Duration::from_secs(2);
/// Interval of checks for a new connection. After a restart, the broker has forgotten the pull request. A
/// timeout cannot detect this, because a stalled broker still delivers to the old request.
const CONNECTION_CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Pulls until `stop`. A failed pull is retried while deliveries continue.
pub fn messages<'a>(
    context: &'a Context,
    consumer: &'a str,
    max_in_flight: usize,
    pause: &'a ConsumerPause,
    stop: &'a CancellationToken,
) -> impl Stream<Item = Pulled> + Send + 'a {
    let pull = Pull {
        context,
        consumer,
        permits: Arc::new(Semaphore::new(max_in_flight)),
        all: u32::try_from(max_in_flight).unwrap_or(u32::MAX),
        // A request for one message would cost more than the message.
        min_batch: u32::try_from(max_in_flight / 4).unwrap_or(u32::MAX).max(1),
        opened: None,
        batch: None,
        connections: connections(context),
        pause,
        stop,
    };
    stream::unfold(pull, async |mut pull| {
        let pulled = pull.next().await?;
        Some((pulled, pull))
    })
}

pub struct Pulled {
    pub message: Message,
    /// The broker redelivers after this time without an ack or progress.
    pub ack_wait: Duration,
    /// Permit from `max_in_flight`, held until the delivery ends.
    pub permit: Option<OwnedSemaphorePermit>,
}

struct Requested {
    batch: Batch,
    permits: OwnedSemaphorePermit,
    /// Permits per message; a probe takes all.
    share: usize,
}

struct Pull<'a> {
    context: &'a Context,
    consumer: &'a str,
    permits: Arc<Semaphore>,
    all: u32,
    min_batch: u32,
    opened: Option<PullConsumer>,
    batch: Option<Requested>,
    /// Number of connections so far. When it grows, the pull request is sent again.
    connections: u64,
    pause: &'a ConsumerPause,
    stop: &'a CancellationToken,
}

impl Pull<'_> {
    async fn next(&mut self) -> Option<Pulled> {
        let pulled = self.stop.run_until_cancelled(self.pull()).await;
        if pulled.is_none() {
            // The pull request expires within this time.
            let _ = timeout(PULL_EXPIRES, self.return_pulled()).await;
        }
        pulled
    }

    /// Naks pulled and arriving messages. Otherwise the broker redelivers them only after the ack wait. A
    /// cluster's leader does not notice that a requester on another server is gone.
    async fn return_pulled(&mut self) {
        while let Some(requested) = &mut self.batch
            && let Some(Ok(message)) = requested.batch.next().await
        {
            // Without the delay, this pull request would get the message again.
            if let Err(error) = message.ack_with(AckKind::Nak(Some(PULL_EXPIRES))).await {
                tracing::warn!(%error, "an event was not returned; it will be redelivered");
            }
        }
    }

    async fn pull(&mut self) -> Pulled {
        loop {
            match self.try_next().await {
                Ok(pulled) => return pulled,
                Err(error) => {
                    tracing::warn!(channel = self.consumer, %error, "the consumer is unavailable; retrying");
                }
            }
            (self.batch, self.opened) = (None, None);
            tokio::time::sleep(RECONNECT_PAUSE).await;
        }
    }

    /// Acquires permits before it pulls. A pulled event would use up its ack wait while waiting for a permit.
    async fn try_next(&mut self) -> Result<Pulled, async_nats::Error> {
        loop {
            let opened = match &mut self.opened {
                Some(opened) => opened,
                None => {
                    let stream = stream_of(self.consumer);
                    let opening = self.context.get_consumer_from_stream(self.consumer, stream);
                    self.opened.insert(opening.await?)
                }
            };
            let requested = match &mut self.batch {
                Some(requested) => requested,
                None => {
                    let mut permits = free_permits(&self.permits, self.min_batch).await?;
                    let mut share = 1;
                    if self.pause.over().await {
                        // A probe waits until no other delivery is in flight.
                        drop(permits);
                        permits = free_permits(&self.permits, self.all).await?;
                        share = permits.num_permits();
                        self.pause.over().await;
                    }
                    let batch = opened.batch().max_messages(permits.num_permits() / share);
                    let batch = batch.expires(PULL_EXPIRES).messages().await?;
                    self.batch.insert(Requested {
                        batch,
                        permits,
                        share,
                    })
                }
            };
            let next = async { requested.batch.next().await.transpose() };
            let message = tokio::select! {
                biased;
                next = next => next?,
                () = replaced(self.context, &mut self.connections) => None,
            };
            if let Some(message) = message
                && let Some(permit) = requested.permits.split(requested.share)
            {
                return Ok(Pulled {
                    message,
                    ack_wait: opened.cached_info().config.ack_wait,
                    permit: Some(permit),
                });
            }
            self.batch = None;
        }
    }
}

fn connections(context: &Context) -> u64 {
    context.client().statistics().connects.load(Ordering::Relaxed)
}

async fn replaced(context: &Context, known: &mut u64) {
    // The loop waits before the first check, because a restarted broker does not serve requests at once.
    loop {
        tokio::time::sleep(CONNECTION_CHECK_INTERVAL).await;
        let current = connections(context);
        if current != *known {
            *known = current;
            return;
        }
    }
}

/// Waits for `min` permits, then acquires all free ones.
async fn free_permits(permits: &Arc<Semaphore>, min: u32) -> Result<OwnedSemaphorePermit, async_nats::Error> {
    let mut free = permits.clone().acquire_many_owned(min).await?;
    let more = u32::try_from(permits.available_permits())?;
    if let Ok(more) = permits.clone().try_acquire_many_owned(more) {
        free.merge(more);
    }
    Ok(free)
}
