//! Submission metrics: count the answered submissions of each form by outcome.

use axum::response::Response;
use http::StatusCode;
use opentelemetry::{KeyValue, metrics::Counter};
use site_service::{http_middleware::Outcome, metrics};

use crate::api_error::ApiError;

/// Outcomes in the rules of the service level objective (k8s/components/observability/alerts).
const ALERTED_OUTCOMES: [&str; 3] = ["accepted", "unavailable", "failed"];

pub struct SubmissionMetrics {
    name: &'static str,
    submissions: Counter<u64>,
}

/// Outcome of a form whose hidden field (honeypot) a robot filled in.
pub const SPAM: Outcome = Outcome("spam");
/// Outcome of a synthetic submission, which the metrics leave out.
pub const SYNTHETIC: Outcome = Outcome("synthetic");

impl SubmissionMetrics {
    pub fn new(name: &'static str) -> Self {
        let metrics = Self {
            name,
            submissions: metrics::counter("site.submissions", "{submission}", "Answered forms"),
        };
        // Prometheus misses the first increment of a counter that had no value before.
        for outcome in ALERTED_OUTCOMES {
            metrics.add(0, outcome);
        }
        metrics
    }

    /// Counts the answer, and attaches its outcome for the log line.
    pub fn count(&self, answer: &mut Response) {
        let extensions = answer.extensions();
        let known = extensions.get().map(|Outcome(known)| *known);
        let outcome = match answer.status() {
            _ if known == Some(SYNTHETIC.0) => return,
            _ if known == Some(SPAM.0) => SPAM.0,
            _ if extensions.get::<ApiError>().is_some_and(ApiError::is_challenge) => "challenged",
            StatusCode::OK => "accepted",
            StatusCode::UNPROCESSABLE_ENTITY => "invalid",
            StatusCode::REQUEST_TIMEOUT => "too_slow",
            StatusCode::TOO_MANY_REQUESTS => "too_many",
            StatusCode::PAYLOAD_TOO_LARGE => "too_large",
            StatusCode::SERVICE_UNAVAILABLE => "unavailable",
            status if status.is_client_error() => "malformed",
            _ => "failed",
        };
        self.add(1, outcome);
        answer.extensions_mut().insert(Outcome(outcome));
    }

    fn add(&self, answers: u64, outcome: &'static str) {
        let labels = [
            KeyValue::new("form", self.name),
            KeyValue::new("outcome", outcome),
        ];
        self.submissions.add(answers, &labels);
    }
}
