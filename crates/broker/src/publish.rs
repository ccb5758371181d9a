//! Publishing with a durable acknowledgement.

use std::{
    fmt::Display,
    time::{Duration, Instant},
};

use async_nats::{
    Client,
    jetstream::{
        self,
        context::{self, PublishErrorKind},
        message::{PublishMessage, StreamMessage},
        publish::PublishAck,
        stream::DirectGetErrorKind,
    },
};
use backon::{ConstantBuilder, Retryable};
use bytes::Bytes;
use opentelemetry::{KeyValue, metrics::Histogram};
use site_events::{
    SITE_STREAM,
    event::{CONTENT_TYPE, Event, EventData, Submission},
};
use site_service::{
    RequestId,
    idempotency::KeyBinding,
    metrics::{self, FAST_BUCKETS_SECONDS},
    nats, status,
    trace::{self, TRACEPARENT},
};
use time::OffsetDateTime;
use tonic::Status;
use tracing::{Span, field::Empty, instrument};
use uuid::Uuid;
use visitor::PersonId;

use crate::elections;

/// Retries for three seconds: a stalled replica may lag that long.
const REPLICA_LAG: ConstantBuilder = ConstantBuilder::new()
    .with_delay(Duration::from_millis(100))
    .with_max_times(30);

/// Whether the event is new to the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// The event is new.
    New,
    /// A duplicate: nothing changed.
    Duplicate,
}

/// Why an event is not known to be stored.
#[derive(Debug, thiserror::Error)]
pub enum PublishError {
    /// Nothing was sent: there is no connection.
    #[error("the broker is not connected")]
    NotConnected,
    /// The broker answered with an error. The event may be stored anyway, for instance by another request.
    #[error("the broker refused the event: {0}")]
    Refused(context::PublishError),
    /// Not stored: another submission is stored under this id.
    #[error("the idempotency key was used for another submission")]
    KeyReused,
    /// The stored event of this id could not be read.
    #[error("the event that is stored under this id cannot be read: {0}")]
    NotCompared(String),
    /// Sent but not acknowledged: the event may be stored. A retry under the same id is safe.
    #[error("the broker did not acknowledge the event: {0}")]
    NotAcknowledged(context::PublishError),
}

impl PublishError {
    fn kind(&self) -> &'static str {
        match self {
            Self::NotConnected => "not_connected",
            Self::Refused(_) => "refused",
            Self::NotAcknowledged(_) => "not_acknowledged",
            Self::KeyReused => "key_reused",
            Self::NotCompared(_) => "not_compared",
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
        tracing::warn!(%error, "the event is not known to be stored");
        match error {
            PublishError::KeyReused => Self::already_exists(error.to_string()),
            _ => status::unavailable("the broker is unavailable"),
        }
    }
}

fn not_compared(error: impl Display) -> PublishError {
    PublishError::NotCompared(error.to_string())
}

/// Publisher of events to the stream `SITE`.
#[derive(Clone)]
pub struct Publisher {
    client: Client,
    context: jetstream::Context,
    duration: Histogram<f64>,
}

impl Publisher {
    /// Publisher over this connection.
    pub fn new(client: Client) -> Self {
        let context = nats::jetstream(client.clone());
        let duration = "messaging.client.operation.duration";
        let description = "How long the broker took to store an event";
        let duration = metrics::seconds_histogram(duration, description, &FAST_BUCKETS_SECONDS);
        Self {
            client,
            context,
            duration,
        }
    }

    /// Publishes an event and waits until the broker has stored it.
    ///
    /// # Errors
    ///
    /// If the event is not known to be stored. A retry under the same id is safe.
    pub async fn publish<D: EventData>(
        &self,
        request_id: &RequestId,
        id: Uuid,
        person: &PersonId,
        data: D,
    ) -> Result<Stored, PublishError> {
        let ack = self.acknowledged(request_id, id, person, data).await?;
        Ok(if ack.duplicate {
            Stored::Duplicate
        } else {
            Stored::New
        })
    }

    #[instrument(
        level = "error",
        skip_all,
        fields(
            otel.name = ["publish ", D::TYPE.subject_prefix()].concat(),
            otel.kind = "producer",
            otel.status_code = Empty,
            messaging.system = "nats",
            messaging.operation.name = "publish",
            messaging.operation.type = "send",
            messaging.destination.name = D::TYPE.subject_prefix(),
            messaging.message.id = %id,
        )
    )]
    async fn acknowledged<D: EventData>(
        &self,
        request_id: &RequestId,
        id: Uuid,
        person: &PersonId,
        data: D,
    ) -> Result<PublishAck, PublishError> {
        let started = Instant::now();
        let acknowledged = self.store(request_id, id, person, data).await;
        let mut labels = vec![
            KeyValue::new("messaging.system", "nats"),
            KeyValue::new("messaging.operation.name", "publish"),
            KeyValue::new("messaging.destination.name", D::TYPE.subject_prefix()),
        ];
        if let Err(error) = &acknowledged {
            trace::fail(&Span::current());
            labels.push(KeyValue::new("error.type", error.kind()));
        }
        self.duration.record(started.elapsed().as_secs_f64(), &labels);
        acknowledged
    }

    /// Publishes a visitor's submission under an id that is made from an idempotency key. Compares a
    /// duplicate with the stored event. If the person has a later event, the key's binding decides instead.
    ///
    /// # Errors
    ///
    /// [`PublishError::KeyReused`] if another submission is or may be stored under this id; otherwise as
    /// [`Self::publish`].
    pub async fn publish_submission<D: Submission>(
        &self,
        request_id: &RequestId,
        id: Uuid,
        person: &PersonId,
        submission: D,
        key: KeyBinding,
    ) -> Result<Stored, PublishError> {
        let ack = self
            .acknowledged(request_id, id, person, submission.clone())
            .await?;
        if !ack.duplicate {
            return Ok(Stored::New);
        }
        let is_repeated = match self.stored_event::<D>(ack.sequence, person).await? {
            Some(stored) => submission.repeats(&stored.data),
            None => key == KeyBinding::Content && self.is_kept(ack.sequence).await?,
        };
        is_repeated
            .then_some(Stored::Duplicate)
            .ok_or(PublishError::KeyReused)
    }

    /// `None` if the person has a later event of this type. The broker lets services read only the latest.
    async fn stored_event<D: EventData>(
        &self,
        sequence: u64,
        person: &PersonId,
    ) -> Result<Option<Event<D>>, PublishError> {
        let subject = D::TYPE.subject(person);
        let read = || async {
            let last = self.last_of(&subject).await?;
            // If all retries miss the event, it belongs to another person or was erased.
            last.filter(|last| last.sequence >= sequence)
                .ok_or(PublishError::KeyReused)
        };
        // Other errors are not retried, because each retry can take a whole timeout.
        let may_lag = |error: &PublishError| matches!(error, PublishError::KeyReused);
        let last = read.retry(REPLICA_LAG).when(may_lag).await?;
        if last.sequence > sequence {
            return Ok(None);
        }
        serde_json::from_slice(&last.payload)
            .map(Some)
            .map_err(not_compared)
    }

    async fn site(&self) -> Result<jetstream::stream::Stream<()>, PublishError> {
        let site = self.context.get_stream_no_info(SITE_STREAM).await;
        site.map_err(not_compared)
    }

    /// Whether the event is still in the stream, neither erased nor expired.
    async fn is_kept(&self, sequence: u64) -> Result<bool, PublishError> {
        let asked = self.site().await?.info_builder().with_deleted(true).fetch().await;
        let state = asked.map_err(not_compared)?.info.state;
        let is_deleted = state.deleted.is_some_and(|deleted| deleted.contains(&sequence));
        Ok(sequence >= state.first_sequence && !is_deleted)
    }

    /// Reads from any replica.
    async fn last_of(&self, subject: &str) -> Result<Option<StreamMessage>, PublishError> {
        match self.site().await?.direct_get_last_for_subject(subject).await {
            Ok(last) => Ok(Some(last)),
            Err(error) if error.kind() == DirectGetErrorKind::NotFound => Ok(None),
            Err(error) => Err(not_compared(error)),
        }
    }

    async fn store<D: EventData>(
        &self,
        request_id: &RequestId,
        id: Uuid,
        person: &PersonId,
        data: D,
    ) -> Result<PublishAck, PublishError> {
        // Without a connection, the client would queue the event and send it after we reported a failure.
        if !nats::is_connected_soon(&self.client).await {
            return Err(PublishError::NotConnected);
        }
        let event = Event {
            traceparent: trace::traceparent(),
            ..Event::new(request_id.as_str(), id, person, OffsetDateTime::now_utc(), data)
        };
        let payload = Bytes::from(serde_json::to_vec(&event).expect("event data are plain values"));
        let message = || {
            let message = PublishMessage::build()
                .payload(payload.clone())
                .header("Content-Type", CONTENT_TYPE)
                .message_id(id.to_string())
                .expected_stream(SITE_STREAM);
            match &event.traceparent {
                Some(traceparent) => message.header(TRACEPARENT, traceparent.as_str()),
                None => message,
            }
        };
        let subject = D::TYPE.subject(person).into();
        let ack = elections::store_by_id(&self.context, subject, message).await?;
        tracing::info!(event.id = %id, event.kind = D::TYPE.name(), event.duplicate = ack.duplicate, %person, "event stored");
        Ok(ack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn refused_and_unacknowledged_publishes_have_different_kinds() {
        let kind = |kind| PublishError::from(context::PublishError::new(kind)).kind();
        assert_eq!(kind(PublishErrorKind::TimedOut), "not_acknowledged");
        assert_eq!(kind(PublishErrorKind::BrokenPipe), "not_acknowledged");
        assert_eq!(kind(PublishErrorKind::StreamNotFound), "refused");
        assert_eq!(PublishError::NotConnected.kind(), "not_connected");
    }
}
