//! Delivery of one event to one receiver, and its outcome.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use site_events::{Event, EventData, EventType};
use site_service::{RequestId, drain::CancellationToken};
use uuid::Uuid;
use visitor::PersonId;

use crate::Failure;

/// Outcome of one attempt.
#[derive(Debug)]
pub enum Outcome {
    /// The receiver accepted the event, now or in an earlier attempt.
    Delivered,
    /// The attempt failed.
    Failed(Failure),
    /// The event is deferred. Deferrals never dead-letter it.
    NotYet {
        /// Why, for the log.
        reason: String,
        /// Time until the next delivery.
        pause: Duration,
    },
    /// Nothing was sent because the process stops. Another process gets the event at once.
    NotBegun,
}

/// One event for one receiver.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// The event's consumer.
    pub consumer: Arc<str>,
    /// The event's id.
    pub event_id: Uuid,
    /// The event's type, if this release knows it.
    pub event_type: Option<EventType>,
    /// The event's person.
    pub person: PersonId,
    /// The request that caused the event.
    pub request_id: RequestId,
    /// The event's sequence in its stream.
    pub sequence: u64,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// Whether a failure dead-letters the event.
    pub is_last: bool,
    pub(crate) payload: Bytes,
    pub(crate) stop: CancellationToken,
}

impl Delivery {
    /// Waits until the process stops. Work that has not begun is left for another process.
    pub async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    /// Unique key of the event and its consumer.
    pub fn key(&self) -> String {
        format!("{}.{}", self.event_id, self.consumer)
    }

    /// The stored event.
    pub fn payload(&self) -> &Bytes {
        &self.payload
    }
    /// Parses the event.
    ///
    /// # Errors
    ///
    /// If the payload does not match its type.
    pub fn event<D: EventData>(&self) -> Result<Event<D>, serde_json::Error> {
        serde_json::from_slice(&self.payload)
    }
}
