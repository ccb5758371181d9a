//! State and recent attempts of webhook endpoints in the bucket `endpoints`.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use uuid::Uuid;

/// State of one endpoint, under the endpoint's name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointState {
    /// First failure since the last success.
    #[serde(default, with = "time::serde::rfc3339::option")]
    pub failing_since: Option<OffsetDateTime>,
    /// Last failure.
    #[serde(default, with = "time::serde::rfc3339::option")]
    pub last_failed: Option<OffsetDateTime>,
    /// If set, the endpoint rejected our credentials with this error and gets one attempt an hour.
    #[serde(default)]
    pub held: Option<String>,
    /// Why the endpoint is off.
    #[serde(default)]
    pub off: Option<String>,
}

/// One attempt at one event, under [`attempts_key`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// Start of the attempt.
    #[serde(with = "time::serde::rfc3339")]
    pub time: OffsetDateTime,
    /// The event's id.
    pub event: Uuid,
    /// The attempt's number, from 1.
    pub attempt: u32,
    /// HTTP status of the last answer.
    pub status: Option<u16>,
    /// Duration of the attempt.
    pub milliseconds: u64,
    /// Why the event was not accepted.
    pub error: Option<String>,
}

/// Limit of recorded attempts per endpoint.
pub const MAX_ATTEMPTS: usize = 100;
/// No endpoint name has this suffix: names contain no underscore.
const ATTEMPTS_SUFFIX: &str = "_attempts";

/// Key of an endpoint's attempts.
pub fn attempts_key(endpoint: &str) -> String {
    format!("{endpoint}{ATTEMPTS_SUFFIX}")
}

/// Whether a key holds attempts, not a state.
pub fn is_attempts_key(key: &str) -> bool {
    key.ends_with(ATTEMPTS_SUFFIX)
}
