//! A store of the broker is unavailable: the delivery is tried again.

use std::time::Duration;

use site_broker::{CallError, Outcome, Pause};

/// How long a store that did not say what comes next is left alone.
const ANSWER_PAUSE: Duration = Duration::from_secs(5);

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

    /// The outcome where what becomes of an event depends on the store's answer: it is asked again soon, however often the event was handed
    /// out until now, and the event is not given up for that.
    pub fn not_yet(self) -> Outcome {
        let pause = match self.pause {
            Pause::Just(pause) => pause,
            _ => ANSWER_PAUSE,
        };
        Outcome::NotYet(self.to_string(), Pause::Just(pause))
    }
}

impl From<Unavailable> for Outcome {
    fn from(error: Unavailable) -> Self {
        Self::Retry(error.to_string(), error.pause)
    }
}

#[cfg(test)]
mod tests {
    use site_broker::DELIVERIES_BUCKET;

    use super::*;

    #[test]
    fn a_store_that_does_not_say_what_comes_next_is_asked_again_soon() {
        let next = |away: Unavailable| match away.not_yet() {
            Outcome::NotYet(_, Pause::Just(pause)) => Some(pause),
            _ => None,
        };
        assert_eq!(
            next(Unavailable::new(DELIVERIES_BUCKET, &"nobody answers")),
            Some(ANSWER_PAUSE)
        );
    }
}
