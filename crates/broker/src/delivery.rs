//! A delivery: one event on its way to one receiver, and what came of the attempt.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use site_events::{Event, EventData};
use site_service::RequestId;
use uuid::Uuid;
use visitor::PersonId;

/// What came of one attempt to deliver.
#[derive(Debug)]
pub enum Outcome {
    /// The receiver has it (or had it before).
    Delivered,
    /// The receiver could not take it now: try again later.
    Retry(String),
    /// The same, and the receiver said for how long.
    RetryAfter(String, Duration),
    /// The receiver will never take it.
    Refused(String),
}

/// One event on its way out.
#[derive(Debug)]
pub struct Delivery {
    /// The consumer that it came by: the way it takes.
    pub consumer: Arc<str>,
    /// The event's id.
    pub event_id: Uuid,
    /// The person it is about.
    pub person: PersonId,
    /// The request that caused it.
    pub request_id: RequestId,
    /// Its sequence in the stream `SITE`.
    pub sequence: u64,
    /// Number of the attempt, from 1.
    pub attempt: u32,
    pub(crate) payload: Bytes,
}

impl Delivery {
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
