//! A delivery: one event on its way to one receiver, and what came of the attempt.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use site_events::{Event, EventData, EventType};
use site_service::{RequestId, drain::CancellationToken};
use tokio::time::Instant;
use uuid::Uuid;
use visitor::PersonId;

use crate::Failure;

/// What came of one attempt to deliver.
#[derive(Debug)]
pub enum Outcome {
    /// The receiver has it (or had it before).
    Delivered,
    /// It was not delivered.
    Failed(Failure),
    /// It is not its turn yet: it comes again after this pause, and is never given up for that.
    NotYet {
        /// Why, for the log.
        reason: String,
        /// How long it is left alone.
        pause: Duration,
    },
    /// Nothing was sent, because the process stops: for another one to take, at once.
    NotBegun,
}

/// One event on its way out.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// The consumer that it came by: the way it takes.
    pub consumer: Arc<str>,
    /// The event's id.
    pub event_id: Uuid,
    /// The event's type, where it is one that this release knows.
    pub event_type: Option<EventType>,
    /// The person it is about.
    pub person: PersonId,
    /// The request that caused it.
    pub request_id: RequestId,
    /// Its sequence in the stream `SITE`.
    pub sequence: u64,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    /// Whether it is given up, by its age, if this attempt fails.
    pub is_last: bool,
    /// When the broker handed it out to this process.
    pub received_at: Instant,
    pub(crate) payload: Bytes,
    pub(crate) stop: CancellationToken,
}

impl Delivery {
    /// Waits until the service stops: what has not begun by then is for another one.
    pub async fn stopped(&self) {
        self.stop.cancelled().await;
    }

    /// What tells it from others: its event, and the way that takes.
    pub fn key(&self) -> String {
        format!("{}.{}", self.event_id, self.consumer)
    }

    /// The event as it is stored.
    pub fn payload(&self) -> &Bytes {
        &self.payload
    }

    /// The event itself.
    ///
    /// # Errors
    ///
    /// If the payload is not what the event's type says.
    pub fn event<D: EventData>(&self) -> Result<Event<D>, serde_json::Error> {
        serde_json::from_slice(&self.payload)
    }
}
