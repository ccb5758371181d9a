//! Consumer loop of a channel: each event is acked, nak'd with backoff, or dead-lettered.

use std::{
    future::Future,
    sync::Arc,
    time::{Duration, Instant},
};

use async_nats::jetstream::{AckKind, Context, Message, consumer::PullConsumer};
use futures_util::StreamExt;
use serde::{Deserialize, Deserializer};
use site_events::{EventType, stream_of, subjects};
use site_service::{RequestId, drain::CancellationToken, trace};
use time::OffsetDateTime;
use tracing::{Instrument, Span, error_span, field::Empty};
use uuid::Uuid;
use visitor::PersonId;

use crate::{
    Failure, Remedy, RetryPolicy,
    consumer_pause::ConsumerPause,
    dead_letters,
    delivery::{Delivery, Outcome},
    metrics::ConsumerMetrics,
    provision::ACK_WAIT,
    pull::{Pulled, messages},
    retries::MAX_ASKED_PAUSE,
};

/// Delay of an event that has failed before, so that another pending event becomes the next probe.
const PROBED_AGAIN_AFTER: Duration = Duration::from_secs(5);
/// Progress reports (`+WPI`) per ack wait.
const PROGRESS_SHARE: u32 = 4;

#[derive(Deserialize)]
struct Envelope {
    id: Uuid,
    subject: PersonId,
    #[serde(rename = "type", default, deserialize_with = "known_type")]
    event_type: Option<EventType>,
    #[serde(rename = "requestid", deserialize_with = "usable_request_id")]
    request_id: RequestId,
    traceparent: Option<String>,
}

fn known_type<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<EventType>, D::Error> {
    Ok(EventType::named(&String::deserialize(deserializer)?))
}

/// Replaces an invalid request id once, so that mails and log lines share the new id.
fn usable_request_id<'de, D: Deserializer<'de>>(deserializer: D) -> Result<RequestId, D::Error> {
    let raw = String::deserialize(deserializer)?;
    Ok(RequestId::accept(Some(&raw)))
}

/// Checks that a durable consumer exists. Without it, events would stay undelivered and nobody would notice.
///
/// # Errors
///
/// If the consumer does not exist, or the broker does not answer.
pub async fn ensure_consumer_exists(context: &Context, consumer: &str) -> Result<(), MissingConsumer> {
    let found: Result<PullConsumer, _> = context
        .get_consumer_from_stream(consumer, stream_of(consumer))
        .await;
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

/// Passes at most `max_in_flight` events at a time to `deliver`. After `stop`, finishes the events in flight.
pub async fn consume<F, Fut>(
    context: &Context,
    consumer: Arc<str>,
    max_in_flight: usize,
    retries: RetryPolicy,
    deliver: F,
    stop: CancellationToken,
) where
    F: Fn(Delivery) -> Fut + Sync,
    Fut: Future<Output = Outcome> + Send,
{
    let (metrics, pause) = (ConsumerMetrics::of(&consumer), ConsumerPause::new(&consumer));
    let processor = Processor {
        context,
        consumer: &consumer,
        retries,
        metrics: &metrics,
        pause: &pause,
        deliver: &deliver,
        stop: &stop,
    };
    messages(context, &consumer, max_in_flight, &pause, &stop)
        .for_each_concurrent(None, async |pulled| processor.process(pulled).await)
        .await;
}

/// Makes one attempt at one message, as [`consume`] does.
pub async fn deliver_one<F, Fut>(
    context: &Context,
    consumer: Arc<str>,
    retries: RetryPolicy,
    deliver: F,
    message: &Message,
) where
    F: Fn(Delivery) -> Fut + Sync,
    Fut: Future<Output = Outcome> + Send,
{
    let processor = Processor {
        context,
        consumer: &consumer,
        retries,
        metrics: &ConsumerMetrics::of(&consumer),
        pause: &ConsumerPause::new(&consumer),
        deliver: &deliver,
        stop: &CancellationToken::new(),
    };
    let pulled = Pulled {
        message: message.clone(),
        ack_wait: ACK_WAIT,
        permit: None,
    };
    processor.process(pulled).await;
}

struct Processor<'a, F> {
    context: &'a Context,
    consumer: &'a Arc<str>,
    retries: RetryPolicy,
    metrics: &'a ConsumerMetrics,
    pause: &'a ConsumerPause,
    deliver: &'a F,
    stop: &'a CancellationToken,
}

impl<F, Fut> Processor<'_, F>
where
    F: Fn(Delivery) -> Fut + Sync,
    Fut: Future<Output = Outcome> + Send,
{
    async fn process(&self, pulled: Pulled) {
        let Pulled {
            message,
            ack_wait,
            permit: _permit,
        } = pulled;
        let message = &message;
        if let Some(not_yet) = self.not_yet(message) {
            self.acknowledge(message, not_yet, 0, Duration::ZERO).await;
            return;
        }
        let (attempt, age) = attempt_and_age(message);
        let started = Instant::now();
        let backoff = self.retries.backoff_at(age);
        let is_last = self.retries.is_given_up(attempt, age);
        let envelope = serde_json::from_slice::<Envelope>(&message.payload);
        let span = self.span(message, attempt, envelope.as_ref().ok());
        let is_synthetic = envelope
            .as_ref()
            .is_ok_and(|envelope| envelope.subject.is_synthetic());
        let outcome = match envelope {
            Ok(envelope) => {
                let delivery = self.start_delivery((attempt, is_last), envelope, message);
                let work = (self.deliver)(delivery).instrument(span.clone());
                with_progress(work, ack_wait, || report_progress(message)).await
            }
            Err(error) => Failure::unreadable("an event", &error).into(),
        };
        let outcome = self.judge(outcome, attempt, is_last);
        if matches!(outcome, Outcome::Failed(_) | Outcome::NotBegun) {
            trace::fail(&span);
        }
        let outcome = match outcome {
            // `sitectl synthetic-check` sent this event and reports the failure itself.
            Outcome::Failed(failure) if is_synthetic && failure.remedy == Remedy::DeadLetter => {
                tracing::warn!(reason = failure.reason, "a synthetic event was abandoned");
                Outcome::Delivered
            }
            outcome => outcome,
        };
        if !is_synthetic {
            self.metrics.record_attempt(&outcome, started.elapsed(), age);
        }
        self.acknowledge(message, outcome, attempt, backoff)
            .instrument(span)
            .await;
    }

    /// Defers events that were pulled before the pause. While other events are pending, also defers an event
    /// that has failed before, so that another event becomes the next probe.
    fn not_yet(&self, message: &Message) -> Option<Outcome> {
        let remaining = self.pause.remaining()?;
        let info = message.info().ok()?;
        let pause = if !remaining.is_zero() {
            remaining
        } else if info.delivered > 1 && info.pending > 0 {
            PROBED_AGAIN_AFTER
        } else {
            return None;
        };
        let reason = "the receiver is unavailable".to_owned();
        Some(Outcome::NotYet { reason, pause })
    }

    /// Updates the pause, and dead-letters a failed last attempt. While the process stops, a failure says
    /// nothing about the receiver, so the event returns to the broker.
    fn judge(&self, outcome: Outcome, attempt: u32, is_last: bool) -> Outcome {
        if self.stop.is_cancelled()
            && let Outcome::Failed(Failure {
                remedy: Remedy::RetryLater { .. },
                ..
            }) = outcome
        {
            return Outcome::NotBegun;
        }
        let mut outcome = self.pause.learn(outcome, attempt);
        if let Outcome::Failed(failure) = &mut outcome
            && matches!(failure.remedy, Remedy::Retry { .. })
            && is_last
        {
            failure.remedy = Remedy::DeadLetter;
        }
        outcome
    }

    fn span(&self, message: &Message, attempt: u32, envelope: Option<&Envelope>) -> Span {
        let destination = subjects::without_person(&message.subject);
        let id = envelope.map(|envelope| envelope.id.to_string());
        let span = error_span!(
            parent: None,
            "process",
            otel.name = ["process ", destination].concat(),
            otel.kind = "consumer",
            otel.status_code = Empty,
            channel = self.consumer.as_ref(),
            attempt,
            event.id = id,
            request_id = envelope.map(|envelope| envelope.request_id.as_str()),
            messaging.system = "nats",
            messaging.operation.name = "process",
            messaging.operation.type = "process",
            messaging.destination.name = destination,
            messaging.consumer.group.name = self.consumer.as_ref(),
            messaging.message.id = id,
        );
        let traceparent = envelope.and_then(|envelope| envelope.traceparent.as_deref());
        trace::continue_from(&span, traceparent);
        trace::link_to(&span, traceparent);
        span
    }

    fn start_delivery(
        &self,
        (attempt, is_last): (u32, bool),
        envelope: Envelope,
        message: &Message,
    ) -> Delivery {
        Delivery {
            consumer: self.consumer.clone(),
            event_id: envelope.id,
            event_type: envelope.event_type,
            person: envelope.subject,
            request_id: envelope.request_id,
            sequence: sequence(message),
            attempt,
            is_last,
            payload: message.payload.clone(),
            stop: self.stop.clone(),
        }
    }

    /// If the ack is lost, the broker redelivers the event after the ack wait.
    async fn acknowledge(&self, message: &Message, outcome: Outcome, attempt: u32, backoff: Duration) {
        let acknowledged = match outcome {
            Outcome::Delivered => message.double_ack().await,
            Outcome::NotYet { reason, pause } => {
                tracing::debug!(%reason, "not begun; deferred");
                message.ack_with(nak(pause)).await
            }
            Outcome::NotBegun => {
                tracing::info!("returned to the broker; the process stops");
                message.ack_with(nak(Duration::ZERO)).await
            }
            Outcome::Failed(Failure { reason, remedy }) => match remedy {
                Remedy::Retry { at_least } => {
                    let pause = backoff.max(at_least.min(MAX_ASKED_PAUSE));
                    tracing::warn!(%reason, retry.seconds = pause.as_secs(), "not delivered; will retry");
                    message.ack_with(nak(pause)).await
                }
                Remedy::RetryLater { at_least } => {
                    tracing::info!(%reason, retry.seconds = at_least.as_secs(), "the receiver is unavailable; will retry");
                    message.ack_with(nak(at_least)).await
                }
                Remedy::DeadLetter => self.dead_letter(message, &reason, attempt).await,
            },
        };
        if let Err(error) = acknowledged {
            tracing::warn!(%error, "the broker did not confirm the outcome; the event will be redelivered");
        }
    }

    async fn dead_letter(
        &self,
        message: &Message,
        reason: &str,
        attempt: u32,
    ) -> Result<(), async_nats::Error> {
        tracing::error!(%reason, "abandoned; moved to the dead letters");
        dead_letters::publish(self.context, self.consumer, message, reason, attempt).await?;
        self.metrics.record_dead_letter();
        message.double_ack().await
    }
}

async fn report_progress(message: &Message) {
    if let Err(error) = message.ack_with(AckKind::Progress).await {
        tracing::debug!(%error, "the progress of a delivery was not reported");
    }
}

/// Does the work and reports progress several times per ack wait. A slow report does not block the work.
pub async fn with_progress<T, Fut: Future<Output = ()>>(
    work: impl Future<Output = T>,
    ack_wait: Duration,
    mut report: impl FnMut() -> Fut,
) -> T {
    let reporting = async {
        loop {
            tokio::time::sleep(ack_wait / PROGRESS_SHARE).await;
            report().await;
        }
    };
    tokio::select! {
        biased;
        done = work => done,
        never = reporting => never,
    }
}

fn nak(pause: Duration) -> AckKind {
    AckKind::Nak(Some(pause).filter(|pause| !pause.is_zero()))
}

fn sequence(message: &Message) -> u64 {
    message.info().map_or(0, |info| info.stream_sequence)
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
    async fn progress_of_long_work_is_reported_until_it_is_done() {
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
    async fn work_continues_while_progress_acks_hang() {
        let (tell, told) = tokio::sync::oneshot::channel();
        let mut tell = Some(tell);
        let done = with_progress(told, Duration::ZERO, || {
            tell.take().map(|tell| tell.send("done"));
            std::future::pending()
        });
        let done = tokio::time::timeout(Duration::from_secs(10), done).await;
        assert_eq!(done, Ok(Ok("done")), "it waited for the broker");
    }
}
