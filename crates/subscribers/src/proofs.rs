//! What a record proves: what its person agreed to, and that mails to them came back.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use uuid::Uuid;

/// Proof of a consent, beside its time and the page that it was given on: the words that were agreed to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Consent {
    /// The words beside the form.
    pub text: String,
    /// How the address was entered and shown to be the person's: `double-opt-in` is a form, and a link that was mailed there.
    pub form: String,
}

/// Mails that came back though the address exists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CameBack {
    /// How many.
    pub times: u32,
    /// The last of them.
    pub last: Uuid,
    /// When that was.
    #[serde(with = "time::serde::rfc3339")]
    pub at: OffsetDateTime,
}
