//! A store of the broker is unavailable: the delivery is tried again.

use std::time::Duration;

use site_broker::{CallError, DELIVERIES_BUCKET, Outcome, Pause};

/// How often a delivery that another notifier has claimed is looked at while a claim lasts.
const CLAIM_LOOKS: u32 = 4;

/// How long a store that did not say what comes next is left alone.
const ANSWER_PAUSE: Duration = Duration::from_secs(5);

/// A KV bucket or stream is unavailable.
#[derive(Debug, thiserror::Error)]
#[error("{store} is unavailable: {reason}")]
pub struct Unavailable {
    store: &'static str,
    reason: String,
    pause: Pause,
    is_claimed: bool,
}

impl Unavailable {
    /// The store, and the error of its use.
    pub fn new(store: &'static str, reason: &dyn std::fmt::Display) -> Self {
        Self {
            store,
            reason: reason.to_string(),
            pause: Pause::Backoff,
            is_claimed: false,
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

    /// Another notifier sends the delivery, or had claimed it for so long when it was killed: it is looked at again well before that is
    /// over.
    pub fn claimed(lifetime: Duration) -> Self {
        Self {
            pause: Pause::Just(lifetime / CLAIM_LOOKS),
            is_claimed: true,
            ..Self::new(DELIVERIES_BUCKET, &"another notifier is sending it")
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
        let reason = error.to_string();
        if error.is_claimed {
            return Self::NotYet(reason, error.pause);
        }
        Self::Retry(reason, error.pause)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_another_notifier_has_claimed_is_looked_at_again_and_never_given_up() {
        let claimed = Outcome::from(Unavailable::claimed(Duration::from_secs(60)));
        assert!(
            matches!(claimed, Outcome::NotYet(_, Pause::Just(pause)) if pause < Duration::from_secs(60)),
            "{claimed:?}"
        );
        let away = Outcome::from(Unavailable::new(DELIVERIES_BUCKET, &"nobody answers"));
        assert!(matches!(away, Outcome::Retry(_, Pause::Backoff)), "{away:?}");
    }

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
        let lifetime = Duration::from_secs(60);
        assert_eq!(next(Unavailable::claimed(lifetime)), Some(lifetime / CLAIM_LOOKS));
    }
}
