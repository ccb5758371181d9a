//! `POST /api/newsletter/mail-reports/{provider}`: what a mail provider posts of mails that came back and of complaints. Whether it is the
//! provider's, the newsletter service knows, which has what it is signed with.

use axum::{
    Json,
    body::Bytes,
    extract::{Path, State},
};
use http::{HeaderMap, StatusCode, header};
use site_proto::newsletter::v1::TakeMailReportRequest;
use tonic::{Code, Status};

use super::{Accepted, ExtractRequestId};
use crate::{api_error::ApiError, app::AppState, deadline::Deadline};

const NOT_THE_PROVIDERS: &str = "This report is not known to be the provider's, or was taken before.";

/// Takes a report of a mail provider's webhook.
///
/// # Errors
///
/// If the provider is not set up, the report is not known to be its, was taken before or cannot be read, or the newsletter service is
/// away.
#[utoipa::path(
    post,
    path = "/api/newsletter/mail-reports/{provider}",
    description = "For the webhooks of the mail provider that sends the newsletter, where that is set up.",
    params(("provider" = String, Path, description = "`mailgun`, `postmark` or `ses`")),
    request_body(content((serde_json::Value = "application/json"))),
    responses(
        (status = 200, description = "The report is taken, whoever it is about", body = Accepted),
        (status = 403, description = "It is not known to be the provider's, or was taken before", body = super::Failed),
        (status = "4XX", description = "The provider is not set up, or the report cannot be read", body = super::Failed),
        (status = 503, description = "Try again after the seconds in Retry-After", body = super::Failed),
    )
)]
pub async fn take(
    State(app): State<AppState>,
    ExtractRequestId(request_id): ExtractRequestId,
    deadline: Deadline,
    Path(provider): Path<String>,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Json<Accepted>, ApiError> {
    let authorization = headers.get(header::AUTHORIZATION);
    let authorization = authorization.and_then(|value| value.to_str().ok());
    let report = TakeMailReportRequest {
        provider,
        authorization: authorization.unwrap_or_default().to_owned(),
        body: body.into(),
    };
    let newsletter = &app.services.newsletter;
    let taken = newsletter.send(report, &request_id, deadline, async |request| {
        app.services.newsletter().take_mail_report(request).await
    });
    taken.await.map_err(refusal)?;
    Ok(Accepted::YES)
}

fn refusal(status: Status) -> ApiError {
    match status.code() {
        Code::NotFound => ApiError::of(StatusCode::NOT_FOUND),
        Code::PermissionDenied => ApiError::with_message(StatusCode::FORBIDDEN, NOT_THE_PROVIDERS),
        Code::InvalidArgument => ApiError::of(StatusCode::BAD_REQUEST),
        _ => status.into(),
    }
}
