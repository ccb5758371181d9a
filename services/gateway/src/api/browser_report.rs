//! `POST /api/remote-failure`: how operators learn what goes wrong in browsers: parts of the site that do not reach them,
//! and what the Content Security Policy keeps from them.

use axum::{
    Json,
    body::Bytes,
    extract::{FromRequest, Request},
};
use http::StatusCode;

use super::{
    Accepted, Failed, JsonForm,
    policy_violation::{self, LegacyReport, PolicyViolation, QueuedReport},
    remote_failure::{self, RemoteFailure},
};
use crate::{api_error::ApiError, content_type};

/// What browsers send for `report-to` (W3C Reporting API).
const QUEUED: &str = "application/reports+json";
/// What browsers send for `report-uri` (Content Security Policy Level 2, section 4.4).
const LEGACY: &str = "application/csp-report";

/// One report of a browser: our own script's, or the browser's.
pub enum BrowserReport {
    /// A part of the site did not come.
    RemoteFailure(RemoteFailure),
    /// Something was refused.
    PolicyViolations(Vec<PolicyViolation>),
}

impl<S: Send + Sync> FromRequest<S> for BrowserReport {
    type Rejection = ApiError;

    async fn from_request(request: Request, state: &S) -> Result<Self, ApiError> {
        let read = if content_type::is(request.headers(), QUEUED) {
            policy_violation::read_queued
        } else if content_type::is(request.headers(), LEGACY) {
            policy_violation::read_legacy
        } else {
            let JsonForm(failure) = JsonForm::from_request(request, state).await?;
            return Ok(Self::RemoteFailure(failure));
        };
        let body = Bytes::from_request(request, state)
            .await
            .map_err(|rejection| ApiError::of(rejection.status()))?;
        let violations = read(&body).ok_or_else(|| ApiError::of(StatusCode::BAD_REQUEST))?;
        Ok(Self::PolicyViolations(violations))
    }
}

/// Counts a part of the site that a browser could not load, or what the site's Content Security Policy kept from it.
#[utoipa::path(
    post,
    path = "/api/remote-failure",
    request_body(content(
        (RemoteFailure = "application/json"),
        (Vec<QueuedReport> = "application/reports+json"),
        (LegacyReport = "application/csp-report"),
    )),
    responses(
        (status = 200, description = "The report is counted", body = Accepted),
        (status = "4XX", description = "The report was not understood, or one too many", body = Failed),
        (status = 503, description = "Try again after the seconds in Retry-After", body = Failed),
    )
)]
pub async fn report(report: BrowserReport) -> Json<Accepted> {
    match report {
        BrowserReport::RemoteFailure(failure) => remote_failure::count(failure),
        BrowserReport::PolicyViolations(violations) => violations.iter().for_each(policy_violation::count),
    }
    Accepted::YES
}
