//! What is noted of webhook endpoints in the bucket `endpoints`: how each fares, and its last attempts.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
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
    /// Why nothing is sent to it any more.
    #[serde(default)]
    pub off: Option<String>,
    /// What a later release notes beside, kept through every change.
    #[serde(flatten)]
    pub unknown_fields: Map<String, Value>,
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

impl EndpointState {
    /// The state of an endpoint that works again: on, and nothing failed since.
    pub fn recovered(&self) -> Self {
        Self {
            unknown_fields: self.unknown_fields.clone(),
            ..Self::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_later_release_notes_of_an_endpoint_is_kept() -> serde_json::Result<()> {
        let record = serde_json::json!({
            "failing_since": "2026-11-20T12:00:00Z",
            "last_failed": null,
            "off": null,
            "slowest": { "seconds": 3 },
        });
        let state: EndpointState = serde_json::from_value(record.clone())?;
        assert_eq!(serde_json::to_value(&state)?, record);
        let recovered = serde_json::to_value(state.recovered())?;
        assert_eq!(
            (&recovered["slowest"], &recovered["failing_since"]),
            (&record["slowest"], &Value::Null)
        );
        Ok(())
    }
}
