//! Why a delivery failed, and what to do with the event.

use std::time::Duration;

use site_broker::{Failure, Remedy};

/// Why a delivery failed. No message contains the endpoint's address, which may be a secret.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SendingError {
    /// The receiver rejected the event.
    #[error("the receiver answered {status}")]
    Rejected {
        /// Status of the answer.
        status: u16,
        /// `Retry-After` (RFC 9110, 10.2.3).
        after: Option<Duration>,
    },
    /// The connection or its TLS handshake failed.
    #[error("the receiver was not reached: {0}")]
    Unreachable(String),
    /// The receiver did not answer, or not in time.
    #[error("the receiver did not answer: {0}")]
    NoAnswer(String),
    /// Signing the event failed.
    #[error("the event cannot be signed")]
    Signing,
    /// The receiver rejected a step of a recipe.
    #[error("step {step}: the receiver answered {status}{code}")]
    StepRejected {
        /// The rejected step.
        step: String,
        /// Status of the answer.
        status: u16,
        /// The receiver's error code.
        code: ErrorCode,
        /// What happens to the event, by the recipe's rules.
        remedy: Remedy,
    },
    /// The receiver requires an access token (OAuth 2.0), and none could be obtained.
    #[error("there is no access token: {0}")]
    NoToken(String),
    /// A template is wrong, or a secret cannot be read.
    #[error("{0}")]
    Recipe(String),
    /// The event's content does not match its type.
    #[error("the event cannot be read: it is not what its type says (line {line}, column {column})")]
    Event {
        /// Line in the event.
        line: usize,
        /// Column in the line.
        column: usize,
    },
}

impl From<serde_json::Error> for SendingError {
    /// Keeps only the position, because serde's message may contain a visitor's text.
    fn from(error: serde_json::Error) -> Self {
        Self::Event {
            line: error.line(),
            column: error.column(),
        }
    }
}

impl From<SendingError> for Failure {
    fn from(error: SendingError) -> Self {
        Self::new(&error, error.remedy())
    }
}

impl SendingError {
    /// Whether the event is retried or becomes a dead letter.
    pub fn remedy(&self) -> Remedy {
        match self {
            Self::Signing | Self::Event { .. } => Remedy::DeadLetter,
            Self::Unreachable(_) | Self::NoAnswer(_) | Self::NoToken(_) => Remedy::RetryLater {
                at_least: Duration::ZERO,
            },
            // The operator can fix the recipe before the next attempt.
            Self::Recipe(_) => Remedy::Retry {
                at_least: Duration::ZERO,
            },
            Self::Rejected { status, after } => remedy_of(*status, after.unwrap_or_default()),
            Self::StepRejected { remedy, .. } => *remedy,
        }
    }

    /// Whether the receiver rejects our credentials. It accepts no event until the operator fixes them.
    pub fn is_account_refused(&self) -> bool {
        match self {
            Self::Rejected {
                status: 401 | 403,
                after,
            } => after.is_none(),
            Self::StepRejected {
                status: 401 | 403,
                remedy: Remedy::RetryLater { at_least },
                ..
            } => at_least.is_zero(),
            _ => false,
        }
    }

    /// Status of the last answer, if any.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Rejected { status, .. } | Self::StepRejected { status, .. } => Some(*status),
            _ => None,
        }
    }
}

/// Remedy after an answer that a recipe marks as `again`: always a retry.
pub(crate) fn retry_of(status: u16, at_least: Duration) -> Remedy {
    match remedy_of(status, at_least) {
        Remedy::DeadLetter => Remedy::Retry { at_least },
        remedy => remedy,
    }
}

fn remedy_of(status: u16, at_least: Duration) -> Remedy {
    match status {
        401 | 403 | 429 | 500..=599 => Remedy::RetryLater { at_least },
        400..=407 | 409..=499 => Remedy::DeadLetter,
        _ => Remedy::Retry { at_least },
    }
}

/// The receiver's short code for a rejection. The rest of the answer may contain a visitor's text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorCode(Option<String>);

const MAX_CODE_CHARACTERS: usize = 60;

impl ErrorCode {
    /// Accepts a short code of letters, digits, `_` and `-`, and drops any other.
    pub(crate) fn of(code: Option<&str>) -> Self {
        let in_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
        let is_name =
            |code: &&str| (1..=MAX_CODE_CHARACTERS).contains(&code.len()) && code.chars().all(in_name);
        Self(code.filter(is_name).map(str::to_owned))
    }
}

impl std::fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.as_ref().map_or(Ok(()), |code| write!(f, " ({code})"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answers_status_decides_the_remedy() {
        let at_least = Duration::ZERO;
        let (retry, later) = (Remedy::Retry { at_least }, Remedy::RetryLater { at_least });
        for (status, remedy) in [
            (302, retry),
            (400, Remedy::DeadLetter),
            (401, later),
            (403, later),
            (404, Remedy::DeadLetter),
            (408, retry),
            (429, later),
            (500, later),
            (503, later),
        ] {
            let error = SendingError::Rejected { status, after: None };
            assert_eq!(error.remedy(), remedy, "{status}");
            let is_account = [401, 403].contains(&status);
            assert_eq!(error.is_account_refused(), is_account, "{status}");
        }
        assert_eq!(SendingError::Unreachable("reset".to_owned()).remedy(), later);
        let at_least = Duration::from_secs(60);
        let with_delay = |status| SendingError::Rejected {
            status,
            after: Some(at_least),
        };
        assert_eq!(with_delay(400).remedy(), Remedy::DeadLetter);
        assert_eq!(with_delay(403).remedy(), Remedy::RetryLater { at_least });
        assert!(!with_delay(403).is_account_refused());
        assert_eq!(retry_of(404, Duration::ZERO), retry);
    }

    #[test]
    fn an_error_code_is_shown_only_if_well_formed() {
        for (told, said) in [
            (Some("DUPLICATES_DETECTED"), " (DUPLICATES_DETECTED)"),
            (Some("no lead of asha@example.com"), ""),
            (Some(""), ""),
            (None, ""),
        ] {
            assert_eq!(ErrorCode::of(told).to_string(), said);
        }
    }
}
