//! Why an event did not reach its receiver, and what that means for it and for others.

use std::time::Duration;

use site_broker::Away;

/// Why an event did not reach its receiver. No text names the address, which may be a secret.
#[derive(Debug, Clone, thiserror::Error)]
pub enum SendingError {
    /// It wants no events any more.
    #[error("the receiver answered 410 Gone")]
    Gone,
    /// It did not take the event.
    #[error("the receiver answered {0}")]
    Status(u16),
    /// It did not take the event, and said when to come back (RFC 9110, 10.2.3).
    #[error("the receiver answered {status}, to be asked again after {} s", .after.as_secs())]
    Later {
        /// The status of its answer.
        status: u16,
        /// How long to wait.
        after: Duration,
    },
    /// It was not reached: no connection, or none that is encrypted as it must be.
    #[error("the receiver was not reached: {0}")]
    Unreachable(String),
    /// It was reached, and did not answer, or not in time.
    #[error("the receiver did not answer: {0}")]
    NoAnswer(String),
    /// The signature could not be made.
    #[error("the event cannot be signed")]
    Signing,
    /// By its recipe the receiver will never take it.
    #[error("step {step}: the receiver answered {status}{code}, which is never taken")]
    Refused {
        /// The step that was refused.
        step: String,
        /// The status of the answer.
        status: u16,
        /// What the receiver calls its reason.
        code: ErrorCode,
    },
    /// By its recipe the receiver does not take it now.
    #[error("step {step}: the receiver answered {status}{code}, to be asked again")]
    NotNow {
        /// The step that was refused.
        step: String,
        /// The status of the answer.
        status: u16,
        /// What the receiver calls its reason.
        code: ErrorCode,
        /// How long it wants to be left alone.
        after: Option<Duration>,
    },
    /// There is no access token (OAuth 2.0): nothing can be sent to the receiver before there is one.
    #[error("there is no access token: {0}")]
    NoToken(String),
    /// The recipe makes no request of this event: a template is wrong, or a file of it cannot be read.
    #[error("{0}")]
    Recipe(String),
    /// The event is not what its type says.
    #[error("the event cannot be read: it is not what its type says (line {line}, column {column})")]
    Event {
        /// The line of the event.
        line: usize,
        /// The column in it.
        column: usize,
    },
}

impl From<serde_json::Error> for SendingError {
    /// The reader's own words may repeat what a visitor wrote.
    fn from(error: serde_json::Error) -> Self {
        Self::Event {
            line: error.line(),
            column: error.column(),
        }
    }
}

impl SendingError {
    /// Whether trying again is in vain: a refusal that is not about the moment.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Gone | Self::Signing | Self::Refused { .. } | Self::Event { .. } => true,
            Self::Status(status) => (400..500).contains(status) && !matches!(status, 408 | 429),
            // A recipe can be mended, and what waits is sent by the mended one.
            Self::Later { .. }
            | Self::Unreachable(_)
            | Self::NoAnswer(_)
            | Self::NotNow { .. }
            | Self::NoToken(_)
            | Self::Recipe(_) => false,
        }
    }

    /// How the receiver is away, where it is: then the events of its endpoint wait.
    pub fn away(&self) -> Option<Away> {
        let (status, retry_after) = match self {
            Self::Unreachable(_) => return Some(Away::Unreachable),
            Self::NoAnswer(_) | Self::NoToken(_) => return Some(Away::Failing { retry_after: None }),
            Self::Status(status) => (status, None),
            Self::Later { status, after } => (status, Some(*after)),
            Self::NotNow { status, after, .. } => (status, *after),
            Self::Gone | Self::Signing | Self::Refused { .. } | Self::Recipe(_) | Self::Event { .. } => {
                return None;
            }
        };
        // Whom it does not know, it does not know with any event.
        let is_unknown = *status == 401 && matches!(self, Self::NotNow { .. });
        (is_unknown || matches!(status, 429 | 500..=599)).then_some(Away::Failing { retry_after })
    }

    /// How long the receiver wants to be left alone, where it said so.
    pub fn asked_pause(&self) -> Option<Duration> {
        match self {
            Self::Later { after, .. } => Some(*after),
            Self::NotNow { after, .. } => *after,
            _ => None,
        }
    }

    /// The status of the last answer, where there was one.
    pub fn status(&self) -> Option<u16> {
        match self {
            Self::Gone => Some(410),
            Self::Status(status)
            | Self::Later { status, .. }
            | Self::Refused { status, .. }
            | Self::NotNow { status, .. } => Some(*status),
            Self::Unreachable(_)
            | Self::NoAnswer(_)
            | Self::Signing
            | Self::NoToken(_)
            | Self::Recipe(_)
            | Self::Event { .. } => None,
        }
    }
}

/// What a receiver calls the reason of a refusal, where it has a short name. Whatever else an answer says may repeat
/// what a visitor wrote.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorCode(Option<String>);

/// The longest name of a reason.
const MAX_CODE_CHARACTERS: usize = 60;

impl ErrorCode {
    /// Takes a name; anything else is left out.
    pub(crate) fn of(told: Option<&str>) -> Self {
        let is_name = |told: &&str| {
            !told.is_empty()
                && told.len() <= MAX_CODE_CHARACTERS
                && told
                    .chars()
                    .all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-'))
        };
        Self(told.filter(is_name).map(str::to_owned))
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
    fn only_what_may_change_is_tried_again() {
        for (status, is_final) in [
            (301, false),
            (400, true),
            (404, true),
            (408, false),
            (429, false),
            (500, false),
            (503, false),
        ] {
            assert_eq!(SendingError::Status(status).is_final(), is_final, "{status}");
        }
        assert!(SendingError::Gone.is_final());
    }

    #[test]
    fn a_receiver_is_away_only_where_it_says_so_or_nothing() {
        let failing = |retry_after| Some(Away::Failing { retry_after });
        for (status, away) in [
            (400, None),
            (401, None),
            (408, None),
            (429, failing(None)),
            (500, failing(None)),
            (503, failing(None)),
        ] {
            assert_eq!(SendingError::Status(status).away(), away, "{status}");
        }
        let after = Duration::from_secs(60);
        let later = |status| SendingError::Later { status, after };
        assert_eq!(later(503).away(), failing(Some(after)));
        assert_eq!(later(302).away(), None);
        let reason = || "reset".to_owned();
        assert_eq!(
            SendingError::Unreachable(reason()).away(),
            Some(Away::Unreachable)
        );
        assert_eq!(SendingError::NoAnswer(reason()).away(), failing(None));
        let not_now = |status| SendingError::NotNow {
            step: "lead".to_owned(),
            status,
            code: ErrorCode::default(),
            after: None,
        };
        assert_eq!(not_now(401).away(), failing(None));
        assert_eq!(not_now(200).away(), None);
    }

    #[test]
    fn a_reason_is_repeated_only_where_it_is_a_name() {
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
