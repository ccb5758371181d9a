//! Stop of the gateway: phases of its grace period.

use std::time::Duration;

use http::StatusCode;
use site_service::status::RETRY_AFTER;

use crate::api_error::ApiError;

/// Remaining grace period at which arriving uploads are rejected. Visitors need it to read the answer, and complete
/// applications to be stored.
pub const RECEIVING_ENDS: Duration = Duration::from_secs(10);
/// Remaining grace period at which all other requests are answered.
pub const ANSWERING_ENDS: Duration = Duration::from_secs(2);

/// Another gateway accepts the retry.
pub fn stopping() -> ApiError {
    let sentence = "Our site was just being updated, and this did not go through. Please send it again in a few seconds.";
    ApiError::with_message(StatusCode::SERVICE_UNAVAILABLE, sentence).retry_after(RETRY_AFTER)
}
