//! A store of the broker is unavailable: the delivery is tried again.

use std::time::Duration;

use site_broker::{CallError, DELIVERIES_BUCKET, Pause};

/// A KV bucket or stream is unavailable.
#[derive(Debug, thiserror::Error)]
#[error("{store} is unavailable: {reason}")]
pub struct Unavailable {
    store: &'static str,
    reason: String,
    pause: Pause,
}

impl Unavailable {
    /// The store, and the error of its use.
    pub fn new(store: &'static str, reason: &dyn std::fmt::Display) -> Self {
        Self {
            store,
            reason: reason.to_string(),
            pause: Pause::Backoff,
        }
    }

    /// The same of a call through the store's circuit breaker.
    pub fn of_call<E: std::fmt::Display + std::error::Error>(
        store: &'static str,
        error: &CallError<E>,
    ) -> Self {
        Self {
            pause: error.pause(),
            ..Self::new(store, error)
        }
    }

    /// Another notifier sends the delivery: it comes again once its claim is over, unless it was sent.
    pub fn claimed(lifetime: Duration) -> Self {
        Self {
            pause: Pause::Just(lifetime),
            ..Self::new(DELIVERIES_BUCKET, &"another notifier is sending it")
        }
    }

    /// How long until the delivery is tried again.
    pub fn pause(&self) -> Pause {
        self.pause
    }
}
