//! Stop of the gateway: phases of its grace period.

use std::time::Duration;

use http::StatusCode;
use site_service::status::RETRY_AFTER;

use crate::api_error::ApiError;

/// Remaining grace period at which unfinished uploads are rejected. It leaves time to store complete applications,
/// and for visitors to read the rejection.
pub const RECEIVING_ENDS: Duration = Duration::from_secs(10);
/// Remaining grace period at which all other unanswered requests are rejected.
pub const ANSWERING_ENDS: Duration = Duration::from_secs(2);

/// Error that asks to retry soon: another gateway then accepts the form.
pub fn stopping() -> ApiError {
    let sentence = "Our site was just being updated, and this did not go through. Please send it again in a few seconds.";
    ApiError::with_message(StatusCode::SERVICE_UNAVAILABLE, sentence).retry_after(RETRY_AFTER)
}
