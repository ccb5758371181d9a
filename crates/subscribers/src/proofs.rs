//! Consent and soft bounces in a record.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use uuid::Uuid;

/// Proof of a consent. The record itself holds its time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consent {
    /// Text that the person agreed to.
    pub text: String,
    /// How the address was verified: `double-opt-in` means a form and a mailed link.
    pub form: String,
}

/// Soft bounces: returned mails to an address that exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CameBack {
    /// Number of bounces.
    pub times: u32,
    /// Event id of the latest bounce.
    pub last: Uuid,
    /// Time of the latest bounce.
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
}
