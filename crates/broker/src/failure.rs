//! Failed attempts, and what happens to their events.

use std::{fmt::Display, time::Duration};

use crate::delivery::Outcome;

/// A failed attempt.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Failure {
    /// A sentence for log and dead letter, without a full stop or personal data.
    pub reason: String,
    /// What happens to the event.
    pub remedy: Remedy,
}

/// What happens to an event after a failed attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// The event becomes a dead letter.
    DeadLetter,
    /// The event is retried with backoff, and dead-lettered at a certain age.
    Retry {
        /// The pause that the receiver asked for.
        at_least: Duration,
    },
    /// The receiver is unavailable for every event. The consumer pauses and dead-letters no event.
    RetryLater {
        /// The pause that the receiver asked for.
        at_least: Duration,
    },
}

impl Failure {
    /// A failure that a retry cannot fix.
    pub fn permanent(reason: impl Display) -> Self {
        Self::new(reason, Remedy::DeadLetter)
    }

    /// A payload that cannot be parsed. serde's message is omitted: it may repeat a visitor's words.
    pub fn unreadable(what: &str, error: &serde_json::Error) -> Self {
        let (line, column) = (error.line(), error.column());
        Self::permanent(format_args!(
            "not {what}: unreadable at line {line}, column {column}"
        ))
    }

    /// A failure of this attempt only.
    pub fn retry(reason: impl Display) -> Self {
        Self::new(
            reason,
            Remedy::Retry {
                at_least: Duration::ZERO,
            },
        )
    }

    /// The receiver is unavailable.
    pub fn retry_later(reason: impl Display) -> Self {
        Self::new(
            reason,
            Remedy::RetryLater {
                at_least: Duration::ZERO,
            },
        )
    }

    /// A store of the broker is unavailable.
    pub fn of_store(store: &str, reason: impl Display) -> Self {
        Self::retry_later(format_args!("{store} is unavailable: {reason}"))
    }

    /// A failure with this remedy.
    pub fn new(reason: impl Display, remedy: Remedy) -> Self {
        Self {
            reason: reason.to_string(),
            remedy,
        }
    }
}

impl From<Failure> for Outcome {
    fn from(failure: Failure) -> Self {
        Self::Failed(failure)
    }
}
