//! Publishing with a durable acknowledgement.

use std::time::Instant;

use async_nats::{
    Client,
    jetstream::{
        self,
        context::{self, PublishErrorKind},
        message::PublishMessage,
    },
};
use opentelemetry::{KeyValue, metrics::Histogram};
use site_events::{
    SITE_STREAM,
    event::{CONTENT_TYPE, Event, EventData},
};
use site_service::{
    RequestId,
    metrics::{self, FAST_BUCKETS_SECONDS},
    nats, status,
    trace::{self, TRACEPARENT},
};
use time::OffsetDateTime;
use tonic::Status;
use tracing::{Instrument, field};
use uuid::Uuid;
use visitor::PersonId;

/// Whether the broker had the event already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// It is stored now.
    New,
    /// A repeated submission: it was stored before, this one changed nothing.
    Duplicate,
}

/// Why an event is not known to be stored.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// There is no connection; nothing was sent.
    #[error("the broker is not connected")]
    NotConnected,
    /// The broker answered that it did not store the event.
    #[error("the broker refused the event: {0}")]
    Refused(context::PublishError),
    /// It was sent, but no acknowledgement came: it may be stored. Repeating it under
    /// the same id is safe.
    #[error("the broker did not acknowledge the event: {0}")]
    NotAcknowledged(context::PublishError),
}

impl PublishError {
    /// What telemetry calls it.
    fn kind(&self) -> &'static str {
        match self {
            Self::NotConnected => "not_connected",
            Self::Refused(_) => "refused",
            Self::NotAcknowledged(_) => "not_acknowledged",
        }
    }
}

impl From<context::PublishError> for PublishError {
    fn from(error: context::PublishError) -> Self {
        match error.kind() {
            PublishErrorKind::TimedOut | PublishErrorKind::BrokenPipe => Self::NotAcknowledged(error),
            _ => Self::Refused(error),
        }
    }
}

impl From<PublishError> for Status {
    fn from(error: PublishError) -> Self {
        tracing::warn!(%error, "event not known to be stored");
        status::unavailable("the broker is away")
    }
}

/// Publishes events to the stream `SITE`.
#[derive(Clone)]
pub struct Publisher {
    client: Client,
    context: jetstream::Context,
    duration: Histogram<f64>,
}

impl Publisher {
    /// A publisher over this connection.
    pub fn new(client: Client) -> Self {
        let context = nats::jetstream(client.clone());
        let duration = "messaging.client.operation.duration";
        let description = "How long it took until the broker had stored an event";
        Self {
            client,
            context,
            duration: metrics::seconds_histogram(duration, description, &FAST_BUCKETS_SECONDS),
        }
    }

    /// Publishes and waits until the broker has stored the event.
    ///
    /// # Errors
    ///
    /// If the event is not known to be stored. Repeating it under the same id is safe.
    pub async fn publish<D: EventData>(
        &self,
        request_id: &RequestId,
        id: Uuid,
        person: &PersonId,
        data: D,
    ) -> Result<Stored, PublishError> {
        let destination = D::TYPE.subject_prefix();
        let span = tracing::info_span!(
            "publish",
            otel.name = format!("publish {destination}"),
            otel.kind = "producer",
            otel.status_code = field::Empty,
            messaging.system = "nats",
            messaging.operation.name = "publish",
            messaging.operation.type = "send",
            messaging.destination.name = destination,
            messaging.message.id = %id,
        );
        let started = Instant::now();
        let storing = self.store(request_id, id, person, data);
        let stored = storing.instrument(span.clone()).await;
        if stored.is_err() {
            span.record("otel.status_code", "ERROR");
        }
        self.measure(destination, &stored, started);
        stored
    }

    fn measure(&self, destination: &'static str, stored: &Result<Stored, PublishError>, started: Instant) {
        let mut labels = vec![
            KeyValue::new("messaging.system", "nats"),
            KeyValue::new("messaging.operation.name", "publish"),
            KeyValue::new("messaging.destination.name", destination),
        ];
        if let Err(error) = stored {
            labels.push(KeyValue::new("error.type", error.kind()));
        }
        self.duration.record(started.elapsed().as_secs_f64(), &labels);
    }

    async fn store<D: EventData>(
        &self,
        request_id: &RequestId,
        id: Uuid,
        person: &PersonId,
        data: D,
    ) -> Result<Stored, PublishError> {
        // The client would keep the message and send it after we had said that it failed.
        if !nats::is_connected(&self.client) {
            return Err(PublishError::NotConnected);
        }
        let event = Event {
            traceparent: trace::traceparent(),
            ..Event::new(request_id.as_str(), id, person, OffsetDateTime::now_utc(), data)
        };
        let mut message = PublishMessage::build()
            .payload(
                serde_json::to_vec(&event)
                    .expect("event data are plain values")
                    .into(),
            )
            .header("Content-Type", CONTENT_TYPE)
            .message_id(id.to_string())
            .expected_stream(SITE_STREAM);
        if let Some(traceparent) = &event.traceparent {
            message = message.header(TRACEPARENT, traceparent.as_str());
        }
        let subject = D::TYPE.subject(person);
        let ack = self.context.send_publish(subject, message).await?.await?;
        tracing::info!(event.id = %id, event.kind = event.event_type, event.duplicate = ack.duplicate, %person, "event stored");
        Ok(if ack.duplicate {
            Stored::Duplicate
        } else {
            Stored::New
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn telemetry_tells_a_refusal_from_an_ack_that_did_not_come() {
        let kind = |kind| PublishError::from(context::PublishError::new(kind)).kind();
        assert_eq!(kind(PublishErrorKind::TimedOut), "not_acknowledged");
        assert_eq!(kind(PublishErrorKind::BrokenPipe), "not_acknowledged");
        assert_eq!(kind(PublishErrorKind::StreamNotFound), "refused");
        assert_eq!(PublishError::NotConnected.kind(), "not_connected");
    }
}
