//! Pull: the messages of a durable consumer, each with a permit to be delivered (backpressure), without end.

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

/// How long a pull that failed is left before the next.
const RECONNECT_PAUSE: Duration = Duration::from_secs(1);
/// How long the broker keeps a request for events before it is asked anew. In a cluster it may hand out so long to a process that
/// was killed, and what it did comes again after the ack wait.
const PULL_EXPIRES: Duration = Duration::from_secs(2);
/// How often it is checked whether the connection is another one: a broker that was started anew knows of no request. A request is not
/// given up by time: a broker that stood still would hand events out to it, and they would come again only after the ack wait.
const CONNECTION_CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// Pulls the consumer's messages until `stop`: a pull that fails is begun anew, beside the deliveries under way.
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
        // Asking for one at a time would cost more than what is asked for.
        min_batch: u32::try_from(max_in_flight / 4).unwrap_or(u32::MAX).max(1),
        opened: None,
        batch: None,
        pause,
        stop,
    };
    stream::unfold(pull, async |mut pull| {
        let pulled = pull.next().await?;
        Some((pulled, pull))
    })
}

/// A message, and what its delivery needs.
pub struct Pulled {
    pub message: Message,
    /// After so long without a word of it the broker hands the message out again.
    pub ack_wait: Duration,
    /// Of `max_in_flight`, for as long as the delivery takes.
    pub permit: Option<OwnedSemaphorePermit>,
}

/// A batch that was requested, and the permits held for it.
struct Requested {
    /// How many connections there were before it.
    connections: u64,
    batch: Batch,
    permits: OwnedSemaphorePermit,
    /// How many of them each message takes.
    share: usize,
}

struct Pull<'a> {
    context: &'a Context,
    consumer: &'a str,
    permits: Arc<Semaphore>,
    /// How many permits there are.
    all: u32,
    min_batch: u32,
    /// The consumer, opened anew after an error.
    opened: Option<PullConsumer>,
    batch: Option<Requested>,
    pause: &'a ConsumerPause,
    stop: &'a CancellationToken,
}

impl Pull<'_> {
    /// The next message, unless the process stops.
    async fn next(&mut self) -> Option<Pulled> {
        let pulled = self.stop.run_until_cancelled(self.pull()).await;
        if pulled.is_none() {
            // It ends by itself when the request does.
            let _ = timeout(PULL_EXPIRES, self.give_back()).await;
        }
        pulled
    }

    /// Gives back what came and was not begun, and what still comes for the request that is open, when the process stops: it
    /// would come again only after the ack wait. In a cluster its leader does not hear that nobody waits any more: the request
    /// came from another account by way of another server.
    async fn give_back(&mut self) {
        while let Some(requested) = &mut self.batch
            && let Some(Ok(message)) = requested.batch.next().await
        {
            // For somebody else, not for this request.
            if let Err(error) = message.ack_with(AckKind::Nak(Some(PULL_EXPIRES))).await {
                tracing::warn!(%error, "an event was not given back; it will come again");
            }
        }
    }

    async fn pull(&mut self) -> Pulled {
        loop {
            match self.try_next().await {
                Ok(pulled) => return pulled,
                Err(error) => {
                    tracing::warn!(channel = self.consumer, %error, "the channel's consumer is away; trying again");
                }
            }
            (self.batch, self.opened) = (None, None);
            tokio::time::sleep(RECONNECT_PAUSE).await;
        }
    }

    /// None is pulled before there is a permit for it: the ack wait would run while the event waits here.
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
                        // Nothing else is under way until the outcome of a probe is known.
                        drop(permits);
                        permits = free_permits(&self.permits, self.all).await?;
                        share = permits.num_permits();
                        self.pause.over().await;
                    }
                    let connections = connections(self.context);
                    let batch = opened.batch().max_messages(permits.num_permits() / share);
                    let batch = batch.expires(PULL_EXPIRES).messages().await?;
                    self.batch.insert(Requested {
                        connections,
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
                () = replaced(self.context, requested.connections) => None,
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

/// How many connections there were.
fn connections(context: &Context) -> u64 {
    context.client().statistics().connects.load(Ordering::Relaxed)
}

/// Waits until the connection is another one than when there were so many.
async fn replaced(context: &Context, connections_before: u64) {
    while connections(context) == connections_before {
        tokio::time::sleep(CONNECTION_CHECK_INTERVAL).await;
    }
}

/// All permits that are free, once there are `min` of them.
async fn free_permits(permits: &Arc<Semaphore>, min: u32) -> Result<OwnedSemaphorePermit, async_nats::Error> {
    let mut free = permits.clone().acquire_many_owned(min).await?;
    let more = u32::try_from(permits.available_permits())?;
    if let Ok(more) = permits.clone().try_acquire_many_owned(more) {
        free.merge(more);
    }
    Ok(free)
}
