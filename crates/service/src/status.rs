//! gRPC statuses with details: field violations and retry delays.

use std::{collections::BTreeMap, time::Duration};

use tonic::{Code, Status};
use tonic_types::{ErrorDetails, StatusExt};

/// Retry delay when the broker or the store is unavailable.
pub const RETRY_AFTER: Duration = Duration::from_secs(5);

/// Rejected fields of a form, with a sentence each.
#[derive(Debug, Default)]
pub struct Violations(BTreeMap<&'static str, String>);

impl Violations {
    /// Returns the value or records the violation, so that a visitor sees all mistakes at once.
    pub fn check<T>(&mut self, field: &'static str, parsed: Result<T, impl ToString>) -> Option<T> {
        parsed
            .map_err(|sentence| self.0.insert(field, sentence.to_string()))
            .ok()
    }

    /// `INVALID_ARGUMENT` with `google.rpc.BadRequest`.
    pub fn into_status(self) -> Status {
        let mut details = ErrorDetails::new();
        for (field, sentence) in self.0 {
            details.add_bad_request_violation(field, sentence);
        }
        Status::with_error_details(Code::InvalidArgument, "some fields are not right", details)
    }
}

/// `INVALID_ARGUMENT` for one field.
pub fn invalid_field(field: &'static str, sentence: impl ToString) -> Status {
    Violations(BTreeMap::from([(field, sentence.to_string())])).into_status()
}

/// `UNAVAILABLE` with `google.rpc.RetryInfo`.
pub fn unavailable(what: &str) -> Status {
    let details = ErrorDetails::with_retry_info(Some(RETRY_AFTER));
    Status::with_error_details(Code::Unavailable, what, details)
}

/// Field violations of an `INVALID_ARGUMENT` status.
pub fn violations(status: &Status) -> BTreeMap<String, String> {
    status
        .get_details_bad_request()
        .map(|request| request.field_violations)
        .unwrap_or_default()
        .into_iter()
        .map(|violation| (violation.field, violation.description))
        .collect()
}

/// Retry delay from the status, or the default.
pub fn retry_after(status: &Status) -> Duration {
    status
        .get_details_retry_info()
        .and_then(|info| info.retry_delay)
        .unwrap_or(RETRY_AFTER)
}
