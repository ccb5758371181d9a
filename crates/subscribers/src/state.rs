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
        /// Id of the latest request for a confirmation mail, until `mailed` is set.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        asking: Option<Uuid>,
    },
    /// Confirmed by the mailed link, or imported.
    Confirmed {
        /// Time of the confirmation.
        #[serde(with = "time::serde::rfc3339")]
        since: OffsetDateTime,
    },
    /// The person unsubscribed.
    Unsubscribed {
        /// Time of the unsubscribe.
        #[serde(with = "time::serde::rfc3339")]
        since: OffsetDateTime,
    },
    /// A mail to the address hard-bounced. No more mails go to the address, even after a new sign-up.
    ///
    /// Mail servers block senders who keep mailing dead addresses. Only the operator lifts a suppression,
    /// after finding its cause.
    Suppressed {
        /// Time of the suppression.
        #[serde(with = "time::serde::rfc3339")]
        since: OffsetDateTime,
    },
}
