//! `POST /api/remote-failure`: browsers report parts of the site that failed to load.

use std::fmt::Debug;

use axum::Json;
use opentelemetry::KeyValue;
use serde::Deserialize;
use site_service::metrics;
use utoipa::ToSchema;

use super::{Accepted, JsonForm};
use crate::api_error::Failure;

/// A part of the site that a browser could not load.
#[derive(Deserialize, ToSchema)]
pub struct RemoteFailure {
    /// Front end of the part
    remote: Remote,
    /// Kind of failure
    reason: Reason,
}

/// Front ends with parts that a page loads at run time.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum Remote {
    Shell,
    Blog,
    Careers,
}

/// Why a part failed to load.
#[derive(Debug, Deserialize, ToSchema)]
#[serde(rename_all = "kebab-case")]
enum Reason {
    /// It did not arrive, despite retries
    Unreachable,
    /// It did not arrive within eight seconds
    Slow,
    /// It arrived, but does not run
    Broken,
}

/// Counts a part of the site that a browser could not load.
#[utoipa::path(
    post,
    path = "/api/remote-failure",
    request_body = RemoteFailure,
    responses(
        (status = 200, description = "The report is counted", body = Accepted),
        (status = "4XX", description = "The report is invalid, or exceeds the rate limit", body = Failure),
        (status = 503, description = "Try again after the seconds in Retry-After", body = Failure),
    )
)]
pub async fn report(JsonForm(failure): JsonForm<RemoteFailure>) -> Json<Accepted> {
    let (remote, reason) = (name(failure.remote), name(failure.reason));
    tracing::warn!(remote, reason, "a browser could not load a part of the site");
    let labels = [KeyValue::new("remote", remote), KeyValue::new("reason", reason)];
    let description = "Parts of the site that browsers could not load";
    metrics::counter("site.remote.failures", "{failure}", description).add(1, &labels);
    Accepted::YES
}

fn name(variant: impl Debug) -> String {
    format!("{variant:?}").to_ascii_lowercase()
}
