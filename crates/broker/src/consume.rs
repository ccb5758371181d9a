//! Consumer loop of a channel: each event is acked, nak'd with backoff, or dead-lettered. None is dropped.

use std::{
    future::Future,
    pin::pin,
    sync::Arc,
    time::{Duration, Instant},
};

use async_nats::jetstream::{
    AckKind, Context, Message,
    consumer::{PullConsumer, pull::Batch},
};
use futures_util::{Stream, StreamExt, stream};
use serde::Deserialize;
use site_events::{SITE_STREAM, subjects};
use site_service::{RequestId, drain::CancellationToken, trace};
use time::OffsetDateTime;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tracing::{Instrument, Span, field};
use uuid::Uuid;
use visitor::PersonId;

use crate::{
    RetryPolicy, dead_letters,
    delivery::{Delivery, Outcome},
    metrics::ConsumerMetrics,
};

const RECONNECT_PAUSE: Duration = Duration::from_secs(1);
/// How long the broker keeps a request for events before it is asked anew; after a restart
/// it knows of none.
const PULL_EXPIRES: Duration = Duration::from_secs(5);

/// Options of a durable consumer.
#[derive(Debug, Clone, Copy)]
pub struct ConsumerOptions {
    /// The most deliveries under way at once (backpressure).
    pub max_in_flight: usize,
    /// How soon and for how long an event is tried again.
    pub retries: RetryPolicy,
}

/// The part of the envelope that every event has.
#[derive(Deserialize)]
struct Envelope {
    id: Uuid,
    subject: PersonId,
    requestid: String,
    traceparent: Option<String>,
}

/// Checks at start that a durable consumer exists. Without it events would stay undelivered, and nobody would notice.
///
/// # Errors
///
/// If there is none, or the broker does not say so.
pub async fn ensure_consumer_exists(context: &Context, consumer: &str) -> Result<(), MissingConsumer> {
    let found: Result<PullConsumer, _> = context.get_consumer_from_stream(consumer, SITE_STREAM).await;
    found.map(drop).map_err(|error| MissingConsumer {
        consumer: consumer.to_owned(),
        reason: error.to_string(),
    })
}

/// A durable consumer cannot be opened.
#[derive(Debug, thiserror::Error)]
#[error("the consumer {consumer} cannot be opened ({reason}); run `sitectl setup`")]
pub struct MissingConsumer {
    consumer: String,
    reason: String,
}

/// Consumer loop: hands the events of a durable consumer to `deliver`, until `stop`; then finishes what is in flight.
pub async fn consume<F, Fut>(
    context: &Context,
    consumer: Arc<str>,
    options: ConsumerOptions,
    deliver: F,
    stop: CancellationToken,
) where
    F: Fn(Delivery) -> Fut + Sync,
    Fut: Future<Output = Outcome> + Send,
{
    let metrics = ConsumerMetrics::of(&consumer);
    while !stop.is_cancelled() {
        let consuming = consume_stream(context, &consumer, options, &metrics, &deliver, &stop);
        if let Err(error) = consuming.await {
            tracing::warn!(channel = %consumer, %error, "the channel's consumer is away; trying again");
        }
        stop.run_until_cancelled(tokio::time::sleep(RECONNECT_PAUSE))
            .await;
    }
}

async fn consume_stream<F, Fut>(
    context: &Context,
    name: &Arc<str>,
    options: ConsumerOptions,
    metrics: &ConsumerMetrics,
    deliver: &F,
    stop: &CancellationToken,
) -> Result<(), async_nats::Error>
where
    F: Fn(Delivery) -> Fut + Sync,
    Fut: Future<Output = Outcome> + Send,
{
    let consumer: PullConsumer = context.get_consumer_from_stream(&**name, SITE_STREAM).await?;
    let processor = Processor {
        context,
        consumer: name,
        // Well within the ack wait, after which the broker would hand the event to
        // someone else as well.
        progress_interval: consumer.cached_info().config.ack_wait / 4,
        retries: options.retries,
        metrics,
        deliver,
    };
    let mut ended = Ok(());
    messages(&consumer, options.max_in_flight)
        .take_until(stop.cancelled())
        .scan(&mut ended, |ended, pulled| {
            std::future::ready(pulled.map_err(|error| **ended = Err(error)).ok())
        })
        .for_each_concurrent(None, async |(message, _permit)| processor.process(message).await)
        .await;
    ended
}

/// Pulls the consumer's messages, each with a permit of `max_in_flight`. None is pulled before there is one: the ack wait
/// would run while the event waits here.
fn messages(
    consumer: &PullConsumer,
    max_in_flight: usize,
) -> impl Stream<Item = Result<(Message, OwnedSemaphorePermit), async_nats::Error>> + Send {
    let pull = Pull {
        consumer,
        permits: Arc::new(Semaphore::new(max_in_flight)),
        // Asking for one at a time would cost more than what is asked for.
        min_batch: u32::try_from(max_in_flight / 4).unwrap_or(u32::MAX).max(1),
        batch: None,
    };
    stream::try_unfold(pull, async |mut pull| {
        let pulled = pull.next().await?;
        Ok(Some((pulled, pull)))
    })
}

struct Pull<'a> {
    consumer: &'a PullConsumer,
    permits: Arc<Semaphore>,
    min_batch: u32,
    /// The batch that was requested, and the permits held for it.
    batch: Option<(Batch, OwnedSemaphorePermit)>,
}

impl Pull<'_> {
    async fn next(&mut self) -> Result<(Message, OwnedSemaphorePermit), async_nats::Error> {
        loop {
            let (batch, permits) = match &mut self.batch {
                Some(batch) => batch,
                None => self.batch.insert(self.request_batch().await?),
            };
            if let Some(message) = batch.next().await.transpose()?
                && let Some(permit) = permits.split(1)
            {
                return Ok((message, permit));
            }
            self.batch = None;
        }
    }

    async fn request_batch(&self) -> Result<(Batch, OwnedSemaphorePermit), async_nats::Error> {
        let mut free = self.permits.clone().acquire_many_owned(self.min_batch).await?;
        let more = u32::try_from(self.permits.available_permits())?;
        if let Ok(more) = self.permits.clone().try_acquire_many_owned(more) {
            free.merge(more);
        }
        let batch = self.consumer.batch().max_messages(free.num_permits());
        Ok((batch.expires(PULL_EXPIRES).messages().await?, free))
    }
}

/// Processes the messages of one consumer.
struct Processor<'a, F> {
    context: &'a Context,
    consumer: &'a Arc<str>,
    /// How often the broker is told that a delivery is still under way (`+WPI`).
    progress_interval: Duration,
    retries: RetryPolicy,
    metrics: &'a ConsumerMetrics,
    deliver: &'a F,
}

impl<F, Fut> Processor<'_, F>
where
    F: Fn(Delivery) -> Fut + Sync,
    Fut: Future<Output = Outcome> + Send,
{
    /// One attempt: the delivery, and its ack, nak or dead letter.
    async fn process(&self, message: Message) {
        let (attempt, age) = attempt_and_age(&message);
        let started = Instant::now();
        let consumer = self.consumer;
        let destination = subjects::without_person(&message.subject);
        let span = tracing::info_span!(
            "deliver",
            otel.name = format!("process {destination}"),
            otel.kind = "consumer",
            otel.status_code = field::Empty,
            messaging.system = "nats",
            messaging.operation.name = "process",
            messaging.operation.type = "process",
            messaging.destination.name = destination,
            messaging.consumer.group.name = &**consumer,
            messaging.message.id = field::Empty,
            channel = &**consumer,
            attempt,
            event.id = field::Empty,
            request_id = field::Empty,
            trace_id = field::Empty,
        );
        let outcome = match serde_json::from_slice::<Envelope>(&message.payload) {
            Ok(envelope) => {
                let delivery = start_delivery(&span, consumer, attempt, envelope, &message);
                let work = (self.deliver)(delivery).instrument(span.clone());
                with_progress(work, self.progress_interval, || report_progress(&message)).await
            }
            // The reader's own words may repeat what a visitor wrote.
            Err(error) => Outcome::Refused(format!(
                "not an event: unreadable at line {}, column {}",
                error.line(),
                error.column()
            )),
        };
        let outcome = match outcome {
            Outcome::Retry(reason) if self.retries.is_given_up(attempt, age) => Outcome::Refused(reason),
            outcome => outcome,
        };
        if !matches!(outcome, Outcome::Delivered) {
            span.record("otel.status_code", "ERROR");
        }
        self.metrics.record_attempt(&outcome, started.elapsed(), age);
        self.acknowledge(&message, outcome, attempt)
            .instrument(span)
            .await;
    }

    async fn acknowledge(&self, message: &Message, outcome: Outcome, attempt: u32) {
        let acked = match outcome {
            Outcome::Delivered => message.double_ack().await,
            Outcome::Retry(reason) => {
                let pause = self.retries.backoff_after(attempt);
                tracing::warn!(%reason, retry.seconds = pause.as_secs(), "not delivered; will try again");
                message.ack_with(AckKind::Nak(Some(pause))).await
            }
            Outcome::Refused(reason) => {
                tracing::error!(%reason, "given up; moved to the dead letters");
                match dead_letters::publish(self.context, self.consumer, message, &reason, attempt).await {
                    Ok(()) => {
                        self.metrics.record_dead_letter();
                        message.double_ack().await
                    }
                    Err(error) => Err(error),
                }
            }
        };
        // Without an ack it comes back after the ack wait: late, but not lost.
        if let Err(error) = acked {
            tracing::warn!(%error, "the broker did not take the outcome; the event will come again");
        }
    }
}

async fn report_progress(message: &Message) {
    if let Err(error) = message.ack_with(AckKind::Progress).await {
        tracing::debug!(%error, "the broker was not told that the work goes on");
    }
}

/// Does the work, and reports progress again and again until it is done.
async fn with_progress<T, Fut: Future<Output = ()>>(
    work: impl Future<Output = T>,
    every: Duration,
    mut tell: impl FnMut() -> Fut,
) -> T {
    let mut work = pin!(work);
    loop {
        match tokio::time::timeout(every, &mut work).await {
            Ok(done) => return done,
            Err(_) => tell().await,
        }
    }
}

fn start_delivery(
    span: &Span,
    consumer: &Arc<str>,
    attempt: u32,
    envelope: Envelope,
    message: &Message,
) -> Delivery {
    trace::continue_from(span, envelope.traceparent.as_deref());
    let request_id = RequestId::accept(Some(&envelope.requestid));
    span.record("event.id", field::display(envelope.id));
    span.record("messaging.message.id", field::display(envelope.id));
    span.record("request_id", field::display(&request_id));
    Delivery {
        consumer: consumer.clone(),
        event_id: envelope.id,
        person: envelope.subject,
        request_id,
        sequence: message.info().map_or(0, |info| info.stream_sequence),
        attempt,
        payload: message.payload.clone(),
    }
}

fn attempt_and_age(message: &Message) -> (u32, Duration) {
    message.info().map_or((1, Duration::ZERO), |info| {
        let age = OffsetDateTime::now_utc() - info.published;
        let attempt = u32::try_from(info.delivered).unwrap_or(u32::MAX);
        (attempt, age.try_into().unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_work_is_told_of_until_it_is_done() {
        let mut told = 0;
        let (finish, finished) = tokio::sync::oneshot::channel();
        let mut finish = Some(finish);
        let done = with_progress(finished, Duration::from_millis(1), || {
            told += 1;
            if told == 3 {
                finish.take().map(|finish| finish.send("done"));
            }
            std::future::ready(())
        });
        assert_eq!(done.await, Ok("done"));
        assert_eq!(told, 3);
    }

    #[tokio::test]
    async fn quick_work_is_not_told_of() {
        let work = std::future::ready(());
        with_progress(work, Duration::ZERO, || async { panic!("there was no need") }).await;
    }
}
