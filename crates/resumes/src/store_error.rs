//! Errors of the store.

use std::error::Error;

use aws_sdk_s3::error::{ProvideErrorMetadata, SdkError};
use site_service::error_line;

/// Failed operation on the store. The message contains keys, but no content of files.
#[derive(Debug, thiserror::Error)]
#[error("{problem}{}", .advice.as_ref().map(|advice| format!("; {advice}")).unwrap_or_default())]
pub struct ResumeStoreError {
    /// What failed.
    pub problem: String,
    /// What to do, with the settings that may be wrong.
    pub advice: Option<String>,
    is_unavailable: bool,
}

impl ResumeStoreError {
    pub(crate) fn new<E: Error + ProvideErrorMetadata + 'static>(action: &str, error: &SdkError<E>) -> Self {
        Self::of_settings("S3", action, error)
    }

    /// Creates the error. `settings` is the prefix of the bucket's environment variables.
    pub(crate) fn of_settings<E>(settings: &str, action: &str, error: &SdkError<E>) -> Self
    where
        E: Error + ProvideErrorMetadata + 'static,
    {
        let (reason, advice) = reason(settings, error);
        let answer = error.raw_response();
        Self {
            problem: format!("the store could not {action}: {reason}"),
            advice,
            is_unavailable: !matches!(error, SdkError::ConstructionFailure(_))
                && answer.is_none_or(|answer| answer.status().is_server_error()),
        }
    }

    pub(crate) fn cut_off(action: &str, error: &(dyn Error + 'static)) -> Self {
        Self {
            is_unavailable: true,
            ..Self::of_ours(action, error)
        }
    }

    /// Error that is not an answer of the store.
    pub(crate) fn of_ours(action: &str, error: &(dyn Error + 'static)) -> Self {
        Self {
            problem: format!("the store could not {action}: {}", error_line(error)),
            advice: None,
            is_unavailable: false,
        }
    }

    /// Whether the store is unavailable: not reached, no response, or 5xx.
    pub fn is_unavailable(&self) -> bool {
        self.is_unavailable
    }
}

fn reason<E>(settings: &str, error: &SdkError<E>) -> (String, Option<String>)
where
    E: Error + ProvideErrorMetadata + 'static,
{
    let cause = error.source().map(error_line).unwrap_or_default();
    let see_endpoint = format!("see {settings}_ENDPOINT");
    match error {
        SdkError::ServiceError(answer) => {
            let status = answer.raw().status().as_u16();
            let said = [error.code(), error.message()].into_iter().flatten();
            let said: String = said.map(|said| format!(" {said}")).collect();
            let reason = format!("it answered {status}{}", said.trim_end_matches('.'));
            (reason, advice(settings, status, error.code()))
        }
        SdkError::DispatchFailure(_) if cause.contains("credentials") => {
            let reason = format!("the web identity gets no session: {cause}");
            let advice = "see AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE";
            (reason, Some(advice.to_owned()))
        }
        SdkError::DispatchFailure(_) if cause.contains("certificate") => {
            let reason = format!("it cannot be reached: {cause}");
            (reason, Some(format!("{see_endpoint} and {settings}_CA_FILE")))
        }
        SdkError::DispatchFailure(_) => (format!("it cannot be reached: {cause}"), Some(see_endpoint)),
        SdkError::TimeoutError(_) => ("it did not answer in time".to_owned(), Some(see_endpoint)),
        SdkError::ResponseError(_) => (format!("its answer cannot be read: {cause}"), Some(see_endpoint)),
        _ => (cause, None),
    }
}

/// Names the settings that may be wrong. An answer to HEAD has no error code.
fn advice(settings: &str, status: u16, code: Option<&str>) -> Option<String> {
    Some(match (status, code) {
        (401 | 403, _) => {
            format!(
                "see {settings}_ACCESS_KEY_ID and {settings}_SECRET_ACCESS_KEY, or AWS_ROLE_ARN, and what they allow"
            )
        }
        (301 | 307, _) | (400, None | Some("AuthorizationHeaderMalformed")) => {
            format!("see {settings}_REGION")
        }
        (_, Some("NoSuchBucket" | "NotFound")) => format!("see {settings}_BUCKET"),
        _ => return None,
    })
}
