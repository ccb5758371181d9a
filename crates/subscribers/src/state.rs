//! Where a subscription stands.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use uuid::Uuid;

/// Where a subscription stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum State {
    /// Signed up, not confirmed.
    Pending {
        /// When the last confirmation mail was asked for.
        #[serde(with = "time::serde::rfc3339::option")]
        mailed: Option<OffsetDateTime>,
        /// Until then, the id under which it is asked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asking: Option<Uuid>,
    },
    /// Confirmed by the link in the mail.
    Confirmed {
        /// When.
        #[serde(with = "time::serde::rfc3339")]
        since: OffsetDateTime,
    },
    /// Left.
    Unsubscribed {
        /// When.
        #[serde(with = "time::serde::rfc3339")]
        since: OffsetDateTime,
    },
    /// A mail came back because the address does not exist. Nothing is sent to it any more, not even on a new
    /// sign-up: whoever goes on sending to such addresses is taken for a spammer, and then no subscriber's mails
    /// arrive. A person must look why it came back, so only the operator lifts it.
    Suppressed {
        /// When.
        #[serde(with = "time::serde::rfc3339")]
        since: OffsetDateTime,
    },
}
