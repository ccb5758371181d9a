//! `POST /api/visits`: what visitors did on the site, as counts by which nobody can be told from anybody else
//! (docs/decisions/0039-visits-are-counted-not-watched.md). A beacon ends here: it is added to the metrics, and nothing of it is
//! stored, logged, traced or handed on, nor anything of who sent it.

mod beacon;
mod metrics;
mod settings;

use std::{sync::Arc, time::Duration};

use anyhow::ensure;
use axum::{
    Router,
    body::{Bytes, to_bytes},
    extract::{Request, State},
    middleware::{Next, from_fn},
    response::Response,
    routing::post,
};
use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use site_files::security_headers;
use tokio::time::timeout;

pub use self::settings::VisitSettings;
use self::{
    beacon::Beacon,
    metrics::{BeaconOutcome, VisitMetrics},
};
use crate::{
    api::Failed,
    api_error::{self, ApiError},
    csrf,
};

const PATH: &str = "/api/visits";
/// The largest beacon: what a page counts until it is hidden is some hundred bytes.
const BEACON_BYTES: usize = 1024;
/// How long one may take to arrive, which is one packet.
const READ_TIMEOUT: Duration = Duration::from_secs(5);
/// By which a browser says that its visitor objects: Global Privacy Control (<https://www.w3.org/TR/gpc/>), and what was before it
/// (<https://www.w3.org/TR/tracking-dnt/>).
const OBJECTIONS: [&str; 2] = ["sec-gpc", "dnt"];

/// Counts visits.
pub struct Visits {
    metrics: VisitMetrics,
    /// Of so many beacons one is counted.
    one_in: u32,
    /// Of all together: to limit each address would be to remember it.
    rate: DefaultDirectRateLimiter,
}

/// The route. It stands apart from all others: what they have in common is a log line, a span and an id for each request, and a
/// visitor's address beside it.
///
/// # Errors
///
/// If there are more campaigns than a metric may have labels.
pub fn route(settings: &VisitSettings) -> anyhow::Result<Router> {
    ensure!(
        settings.campaigns.len() <= settings::MAX_CAMPAIGNS,
        "The setting VISIT_CAMPAIGNS is wrong: it names {}, and visits are counted by at most {}",
        settings.campaigns.len(),
        settings::MAX_CAMPAIGNS
    );
    let visits = Visits {
        metrics: VisitMetrics::new(&settings.campaigns, settings.one_in),
        one_in: settings.one_in.get(),
        rate: RateLimiter::direct(Quota::per_second(settings.per_second)),
    };
    Ok(Router::new()
        .route(PATH, post(count_visit))
        .layer(from_fn(answer))
        .with_state(Arc::new(visits)))
}

/// Gives an answer what all answers of the API have, but for their id.
async fn answer(request: Request, next: Next) -> Response {
    let mut answer = api_error::as_json(next.run(request).await, "error");
    security_headers::add(answer.headers_mut());
    answer
}

/// Counts what a visitor did on the site, unless the browser says that its visitor objects (`Sec-GPC`, `DNT`).
///
/// # Errors
///
/// If another site sent it, or it is not what a page of ours sends.
#[utoipa::path(
    post,
    path = "/api/visits",
    description = "Nothing is read where the visitor objects, and nothing is looked at of who sent it. Where more arrives than is counted, the answer is the same.",
    request_body = Beacon,
    responses(
        (status = 204, description = "It is counted, or passed over"),
        (status = "4XX", description = "It was not understood, or sent by another site", body = Failed),
    )
)]
pub async fn count_visit(
    State(visits): State<Arc<Visits>>,
    request: Request,
) -> Result<StatusCode, ApiError> {
    csrf::ensure_same_origin(request.headers())?;
    if !objects(request.headers()) && visits.admit() {
        visits.count(request).await?;
    }
    Ok(StatusCode::NO_CONTENT)
}

impl Visits {
    /// Whether one more is read.
    fn admit(&self) -> bool {
        let passed_over = if !is_chosen(self.one_in) {
            BeaconOutcome::Skipped
        } else if self.rate.check().is_err() {
            BeaconOutcome::Dropped
        } else {
            return true;
        };
        self.metrics.count_beacon(passed_over);
        false
    }

    async fn count(&self, request: Request) -> Result<(), ApiError> {
        match read(request).await {
            Ok(beacon) => {
                self.metrics.count(&beacon);
                self.metrics.count_beacon(BeaconOutcome::Counted);
                Ok(())
            }
            Err(error) => {
                self.metrics.count_beacon(BeaconOutcome::Refused);
                Err(error)
            }
        }
    }
}

/// Whether this is the one of so many, by chance: visits come in patterns, which every n-th would follow.
fn is_chosen(one_in: u32) -> bool {
    // Where the system has no random bytes, none is chosen.
    one_in == 1 || getrandom::u32().is_ok_and(|random| random % one_in == 0)
}

fn objects(headers: &HeaderMap) -> bool {
    OBJECTIONS
        .iter()
        .any(|name| headers.get_all(*name).iter().any(|value| value == "1"))
}

async fn read(request: Request) -> Result<Beacon, ApiError> {
    let headers = request.headers();
    if !is_json(headers) {
        return Err(ApiError::of(StatusCode::UNSUPPORTED_MEDIA_TYPE));
    }
    let body = timeout(READ_TIMEOUT, to_bytes(request.into_body(), BEACON_BYTES)).await;
    let body = body.map_err(|_| ApiError::of(StatusCode::REQUEST_TIMEOUT))?;
    let body: Bytes = body.map_err(|_| ApiError::of(StatusCode::PAYLOAD_TOO_LARGE))?;
    Beacon::read(&body).ok_or_else(|| ApiError::of(StatusCode::BAD_REQUEST))
}

fn is_json(headers: &HeaderMap) -> bool {
    let content_type = headers.get(header::CONTENT_TYPE).map(HeaderValue::as_bytes);
    let media_type = content_type.and_then(|value| value.split(|byte| *byte == b';').next());
    media_type.is_some_and(|media_type| media_type.trim_ascii().eq_ignore_ascii_case(b"application/json"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_so_many_is_chosen_and_of_one_each() {
        assert!((0..100).all(|_| is_chosen(1)));
        let chosen = (0..20_000).filter(|_| is_chosen(10)).count();
        // Eight standard deviations (42) to each side.
        assert!((1_650..=2_350).contains(&chosen), "{chosen}");
    }

    #[test]
    fn either_header_objects_and_only_by_a_one() {
        let told = |name: &'static str, value: &'static str| {
            objects(&HeaderMap::from_iter([(
                http::HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )]))
        };
        assert!(told("sec-gpc", "1") && told("dnt", "1"));
        assert!(!told("sec-gpc", "0") && !told("dnt", "0") && !told("dnt", "null"));
        assert!(!objects(&HeaderMap::new()));
    }
}
