//! A stop of the gateway: how its grace period is divided, and what is told to those whose form was not taken by then.

use std::time::Duration;

use http::StatusCode;
use site_service::status::RETRY_AFTER;

use crate::api_error::ApiError;

/// Left of the grace period when an upload that still arrives is refused: the visitor has so long to read the answer, and
/// an application that is whole by then has so long to be stored.
pub const RECEIVING_ENDS: Duration = Duration::from_secs(10);
/// Left of it when whatever has no answer yet is given one.
pub const ANSWERING_ENDS: Duration = Duration::from_secs(2);

/// What a visitor is told whose form was not taken before the gateway stops. Another one, or the next, takes it.
pub fn stopping() -> ApiError {
    let sentence = "Our site was just being updated, and this did not go through. Please send it again in a few seconds.";
    ApiError::with_message(StatusCode::SERVICE_UNAVAILABLE, sentence).retry_after(RETRY_AFTER)
}
