//! Failure: why something could not be done, and when it is tried again. The one vocabulary of everything between the broker and a
//! receiver.

use std::{fmt::Display, time::Duration};

use crate::delivery::Outcome;

/// A failed attempt. The reason is for the log and the dead letter; it holds no address, name or message.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct Failure {
    /// The reason, as a sentence without a full stop.
    pub reason: String,
    /// What becomes of the event.
    pub remedy: Remedy,
}

/// What becomes of an event whose attempt failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Remedy {
    /// It can never be delivered: it becomes a dead letter.
    DeadLetter,
    /// Something is wrong with this attempt: the event is retried after its backoff, and given up by its age.
    Retry {
        /// The pause that the receiver asked for.
        at_least: Duration,
    },
    /// The receiver is unavailable for every event: the consumer pauses. No event is given up for that.
    RetryLater {
        /// The pause that the receiver asked for.
        at_least: Duration,
    },
}

impl Failure {
    /// A failure that no retry mends.
    pub fn permanent(reason: impl Display) -> Self {
        Self::new(reason, Remedy::DeadLetter)
    }

    /// A failure of this attempt alone.
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
