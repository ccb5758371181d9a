//! State of a subscription.

use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use uuid::Uuid;

/// State of a subscription.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "state", rename_all = "lowercase")]
pub enum State {
    /// Signed up, not confirmed.
    Pending {
        /// When the latest confirmation mail was requested.
        #[serde(with = "time::serde::rfc3339::option")]
        mailed: Option<OffsetDateTime>,
        /// Until then, the id of that request.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asking: Option<Uuid>,
    },
    /// Confirmed by the mailed link, or imported.
    Confirmed {
        /// When.
        #[serde(with = "time::serde::rfc3339")]
        since: OffsetDateTime,
    },
    /// Ended.
    Unsubscribed {
        /// When.
        #[serde(with = "time::serde::rfc3339")]
        since: OffsetDateTime,
    },
    /// Its mails bounced. Nothing is sent to the address, not even after a new sign-up.
    ///
    /// Mail servers block senders who keep mailing dead addresses. Only the operator lifts a suppression,
    /// after finding its cause.
    Suppressed {
        /// When.
        #[serde(with = "time::serde::rfc3339")]
        since: OffsetDateTime,
    },
}
