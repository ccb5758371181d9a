//! A delivery: one event on its way to one receiver, and what came of the attempt.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use site_events::{Event, EventData, EventType};
use site_service::{RequestId, drain::CancellationToken};
use tokio::time::Instant;
use uuid::Uuid;
use visitor::PersonId;

use crate::{RetryPolicy, retries::MAX_ASKED_PAUSE};

/// What came of one attempt to deliver.
#[derive(Debug)]
pub enum Outcome {
    /// The receiver has it (or had it before).
    Delivered,
    /// The receiver could not take it now: try again after this pause.
    Retry(String, Pause),
    /// It is not its turn yet, or another one has it: it is looked at again after this pause, and never given up for that.
    NotYet(String, Pause),
    /// The receiver will never take it.
    Refused(String),
    /// Nothing was sent, because the process stops: for another one to take, at once.
    NotBegun,
}

/// How long an event that was not delivered is left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pause {
    /// For the backoff of its attempt.
    Backoff,
    /// For at least as long as its receiver said, up to an hour.
    AtLeast(Duration),
    /// For just this long, however often it was tried: until its dependency is asked again.
    Just(Duration),
    /// For the backoff after so many failures, and for at least as long as its receiver said: where the event was handed out far more often
    /// than it was tried.
    AfterFailures {
        /// From 1.
        failures: u32,
        /// What its receiver said.
        at_least: Duration,
    },
}

impl Pause {
    /// How long that is, by the backoff of the attempt.
    pub(crate) fn after(self, backoff: Duration, retries: RetryPolicy) -> Duration {
        match self {
            Self::Backoff => backoff,
            Self::AtLeast(asked) => backoff.max(asked.min(MAX_ASKED_PAUSE)),
            Self::Just(pause) => pause,
            Self::AfterFailures { failures, at_least } => {
                Self::AtLeast(at_least).after(retries.backoff_after(failures), retries)
            }
        }
    }
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
    /// The age at which it is given up.
    pub give_up_after: Duration,
    /// After so long without a word of it the broker hands the event out again.
    pub ack_wait: Duration,
    /// When the broker handed it out to this process.
    pub received_at: Instant,
    pub(crate) payload: Bytes,
    /// Until when it may wait for what is away.
    pub(crate) give_back_at: Instant,
    pub(crate) stop: CancellationToken,
}

impl Delivery {
    /// Waits for a dependency that is away, in place of the backoff: no longer than that would be, and not while the
    /// service stops. `None` where it is not `ready` by then.
    pub(crate) async fn wait_for(&self, ready: impl Future<Output = ()>) -> Option<()> {
        tokio::select! {
            biased;
            () = ready => Some(()),
            () = self.stop.cancelled() => None,
            () = tokio::time::sleep_until(self.give_back_at) => None,
        }
    }

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pause_by_failures_is_their_backoff_however_often_the_event_was_handed_out() {
        let retries = RetryPolicy::DEFAULT;
        let pause = |failures, at_least| {
            let pause = Pause::AfterFailures { failures, at_least };
            pause.after(retries.backoff_after(1000), retries)
        };
        let third = pause(3, Duration::ZERO);
        assert!((20..=24).contains(&third.as_secs()), "{third:?}");
        let asked = Duration::from_secs(60);
        assert_eq!(pause(3, asked), asked);
        assert_eq!(pause(3, Duration::MAX), MAX_ASKED_PAUSE);
    }
}
