//! What every HTTP request gets on its way in and out: an id, a span, a line in the log.

use std::time::Duration;

use axum::{
    Router,
    extract::Request,
    middleware::{Next, from_fn},
    response::Response,
};
use http::{HeaderName, HeaderValue};
use tower_http::trace::TraceLayer;

use crate::{
    request_id::{self, RequestId},
    trace,
};

/// A router whose requests carry an id, are part of the caller's trace and are logged once answered. All other layers
/// go inside.
pub fn observed(router: Router) -> Router {
    router
        .layer(
            TraceLayer::new_for_http()
                .make_span_with(trace::request_span)
                .on_request(())
                .on_response(log_answer)
                .on_failure(()),
        )
        .layer(from_fn(with_request_id))
}

/// Gives the request the id that everything it causes will carry, and says it in the answer.
async fn with_request_id(mut request: Request, next: Next) -> Response {
    let id = RequestId::of_headers(request.headers());
    let value = HeaderValue::from_str(id.as_str()).unwrap_or(HeaderValue::from_static(""));
    let name = HeaderName::from_static(request_id::HEADER);
    request.headers_mut().insert(name.clone(), value.clone());
    request.extensions_mut().insert(id);
    let mut response = next.run(request).await;
    response.headers_mut().insert(name, value);
    response
}

fn log_answer(response: &Response, took: Duration, span: &tracing::Span) {
    tracing::info!(
        parent: span,
        http.response.status_code = response.status().as_u16(),
        took_ms = took.as_millis(),
        "answered"
    );
}
