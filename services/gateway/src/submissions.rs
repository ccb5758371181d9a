//! What every form does before its body is read and after it was answered.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    extract::{ConnectInfo, Request, State},
    middleware::Next,
    response::{IntoResponse, Response},
};
use http::StatusCode;
use opentelemetry::{KeyValue, global, metrics::Counter};

use crate::{address::visitor_address, limits::RateLimit, refusal::Refusal, settings::Settings};

/// One form's limit and counter.
pub struct Form {
    name: &'static str,
    limit: RateLimit,
    trusted_proxies: usize,
    submissions: Counter<u64>,
}

/// Marks an answer to a submission that only looked accepted: a robot filled the field
/// that people do not see.
#[derive(Clone, Copy)]
pub struct Spam;

impl Form {
    /// The form of this name with the limits of the settings.
    pub fn new(name: &'static str, settings: &Settings) -> Self {
        Self {
            name,
            limit: RateLimit::new(settings.rate_per_minute, settings.rate_burst),
            trusted_proxies: settings.trusted_proxies,
            submissions: global::meter("gateway").u64_counter("site.submissions").build(),
        }
    }

    fn count(&self, answer: &Response) {
        let outcome = match answer.status() {
            _ if answer.extensions().get::<Spam>().is_some() => "spam",
            StatusCode::OK => "accepted",
            StatusCode::UNPROCESSABLE_ENTITY => "invalid",
            StatusCode::TOO_MANY_REQUESTS => "too_many",
            StatusCode::PAYLOAD_TOO_LARGE => "too_large",
            StatusCode::SERVICE_UNAVAILABLE => "unavailable",
            status if status.is_client_error() => "malformed",
            _ => "failed",
        };
        self.submissions.add(
            1,
            &[
                KeyValue::new("form", self.name),
                KeyValue::new("outcome", outcome),
            ],
        );
        tracing::info!(form = self.name, outcome, "submission");
    }
}

/// Holds the rate limit against the visitor's address and counts the outcome.
pub async fn admit(
    State(form): State<Arc<Form>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let address = visitor_address(request.headers(), peer, form.trusted_proxies);
    let answer = match form.limit.admit(address) {
        Ok(()) => next.run(request).await,
        Err(wait) => Refusal::of(StatusCode::TOO_MANY_REQUESTS)
            .retry_after(wait)
            .into_response(),
    };
    form.count(&answer);
    answer
}
