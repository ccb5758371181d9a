//! What is noted of webhook endpoints in the bucket `endpoints`: how each fares, and its last attempts.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use uuid::Uuid;

/// State of one endpoint, as stored in the bucket `endpoints` under the endpoint's name.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EndpointState {
    /// When it first failed of the failures since its last success.
    #[serde(default, with = "time::serde::rfc3339::option")]
    pub failing_since: Option<OffsetDateTime>,
    /// When it last failed.
    #[serde(default, with = "time::serde::rfc3339::option")]
    pub last_failed: Option<OffsetDateTime>,
    /// How it refused our credentials, if it did: it is asked once an hour then.
    #[serde(default)]
    pub held: Option<String>,
    /// Why nothing is sent to it any more.
    #[serde(default)]
    pub off: Option<String>,
}

/// One attempt at one event, as noted in the bucket `endpoints` under [`attempts_key`].
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Attempt {
    /// When it began.
    #[serde(with = "time::serde::rfc3339")]
    pub time: OffsetDateTime,
    /// The event's id.
    pub event: Uuid,
    /// Its number, from 1.
    pub attempt: u32,
    /// The status of the last answer, where there was one.
    pub status: Option<u16>,
    /// How long it took.
    pub milliseconds: u64,
    /// Why the event was not taken; none where it was.
    pub error: Option<String>,
}

/// How many attempts are noted of an endpoint: the last ones.
pub const MAX_ATTEMPTS: usize = 100;
/// What the keys of attempts end with. No name of an endpoint does.
const ATTEMPTS_SUFFIX: &str = "_attempts";

/// The key of an endpoint's attempts in the bucket `endpoints`.
pub fn attempts_key(endpoint: &str) -> String {
    format!("{endpoint}{ATTEMPTS_SUFFIX}")
}

/// Whether a key of the bucket `endpoints` holds attempts, and no state.
pub fn is_attempts_key(key: &str) -> bool {
    key.ends_with(ATTEMPTS_SUFFIX)
}
