//! Publishing with a durable acknowledgement.

use async_nats::{
    Client,
    jetstream::{
        self,
        context::{self, PublishErrorKind},
        message::PublishMessage,
    },
};
use site_service::{RequestId, nats, status, trace::TRACEPARENT};
use time::OffsetDateTime;
use tonic::Status;
use uuid::Uuid;
use visitor::PersonId;

use crate::{
    SITE,
    event::{CONTENT_TYPE, Event, EventData},
};

/// Whether the broker had the event already.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stored {
    /// It is stored now.
    New,
    /// A repeated submission: it was stored before, this one changed nothing.
    Before,
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
        tracing::warn!(%error, "event not stored");
        status::unavailable("the broker is away")
    }
}

/// Publishes events to the stream `SITE`.
#[derive(Clone)]
pub struct Publisher {
    client: Client,
    context: jetstream::Context,
}

impl Publisher {
    /// A publisher over this connection.
    pub fn new(client: Client) -> Self {
        let context = nats::jetstream(client.clone());
        Self { client, context }
    }

    /// Publishes and waits until the broker has stored the event.
    pub async fn publish<D: EventData>(
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
        let event = Event::new(request_id, id, person, OffsetDateTime::now_utc(), data);
        let mut message = PublishMessage::build()
            .payload(
                serde_json::to_vec(&event)
                    .expect("event data are plain values")
                    .into(),
            )
            .header("Content-Type", CONTENT_TYPE)
            .message_id(id.to_string())
            .expected_stream(SITE);
        if let Some(traceparent) = &event.traceparent {
            message = message.header(TRACEPARENT, traceparent.as_str());
        }
        let subject = D::TYPE.subject(person);
        let ack = self.context.send_publish(subject, message).await?.await?;
        tracing::info!(event.id = %id, event.kind = event.event_type, event.duplicate = ack.duplicate, %person, "event stored");
        Ok(if ack.duplicate {
            Stored::Before
        } else {
            Stored::New
        })
    }
}
