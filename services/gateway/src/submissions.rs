//! What comes of every form, counted.

use std::sync::Arc;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::Response,
};
use http::StatusCode;
use opentelemetry::{KeyValue, metrics::Counter};
use site_service::meters;

/// One form's counter.
pub struct Form {
    name: &'static str,
    submissions: Counter<u64>,
}

/// Marks an answer to a submission that only looked accepted: a robot filled the field
/// that people do not see.
#[derive(Clone, Copy)]
pub struct Spam;

impl Form {
    /// The counter of the form of this name.
    pub fn new(name: &'static str) -> Self {
        Self {
            name,
            submissions: meters::meter()
                .u64_counter("site.submissions")
                .with_unit("{submission}")
                .with_description("Forms that were answered")
                .build(),
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

/// Counts what the form answered.
pub async fn count(State(form): State<Arc<Form>>, request: Request, next: Next) -> Response {
    let answer = next.run(request).await;
    form.count(&answer);
    answer
}
