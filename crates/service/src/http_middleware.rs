//! HTTP middleware of every server: request id, trace span, access log, request duration.
//!
//! Names are those of OpenTelemetry's semantic conventions for HTTP.

use std::time::{Duration, Instant};

use axum::{
    Router,
    extract::{MatchedPath, Request, State},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
};
use http::{HeaderName, HeaderValue, StatusCode, Version, header, uri::Authority};
use opentelemetry::{KeyValue, metrics::Histogram};
use tower_http::trace::TraceLayer;

use crate::{
    metrics::{self, FAST_BUCKETS_SECONDS},
    request_id::{self, RequestId},
    trace,
};

/// Adds the middleware: requests carry an id, begin a trace, are measured, and are logged once answered.
/// All other layers go inside.
pub fn with_middleware(router: Router) -> Router {
    let description = "How long requests took, up to the answer's head";
    let duration =
        metrics::seconds_histogram("http.server.request.duration", description, &FAST_BUCKETS_SECONDS);
    router
        .layer(
            TraceLayer::new_for_http()
                .make_span_with(|request: &Request| trace::http_span(request, route(request)))
                .on_request(())
                .on_response(log_answer)
                .on_failure(()),
        )
        .layer(from_fn_with_state(duration, measure))
        .layer(from_fn(with_request_id))
}

/// The route that takes a request; a page of the site has none.
fn route(request: &Request) -> Option<&str> {
    request.extensions().get::<MatchedPath>().map(MatchedPath::as_str)
}

/// Middleware that refuses a request that does not name one host (RFC 9112, 3.2; RFC 9113, 8.3.1), of which a proxy before us may
/// understand another one than we.
pub async fn require_host(request: Request, next: Next) -> Response {
    if names_one_host(&request) {
        next.run(request).await
    } else {
        StatusCode::BAD_REQUEST.into_response()
    }
}

fn names_one_host<B>(request: &http::Request<B>) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let (host, None) = (hosts.next(), hosts.next()) else {
        return false;
    };
    let authority = request
        .uri()
        .authority()
        .map(|authority| authority.as_str().as_bytes());
    let host = host.map(HeaderValue::as_bytes);
    match (request.version(), authority, host) {
        (Version::HTTP_2, Some(authority), host) => {
            is_host(authority) && host.is_none_or(|host| host == authority)
        }
        (Version::HTTP_11 | Version::HTTP_2, _, None) => false,
        (_, _, host) => host.is_none_or(is_host),
    }
}

/// Host and port, without a login; empty where the target has no authority.
fn is_host(host: &[u8]) -> bool {
    let has_others = host.iter().any(|byte| b"@,".contains(byte));
    host.is_empty() || (!has_others && Authority::try_from(host).is_ok())
}

async fn measure(State(duration): State<Histogram<f64>>, request: Request, next: Next) -> Response {
    let started = Instant::now();
    let method = trace::method(request.method());
    let route = route(&request).map(str::to_owned);
    let answer = next.run(request).await;
    let mut labels = vec![
        KeyValue::new("http.request.method", method),
        KeyValue::new("url.scheme", "http"),
        KeyValue::new("http.response.status_code", i64::from(answer.status().as_u16())),
    ];
    labels.extend(route.map(|route| KeyValue::new("http.route", route)));
    duration.record(started.elapsed().as_secs_f64(), &labels);
    answer
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
    span.record("http.response.status_code", response.status().as_u16());
    if response.status().is_server_error() {
        span.record("otel.status_code", "ERROR");
    }
    tracing::info!(
        parent: span,
        http.response.status_code = response.status().as_u16(),
        took_ms = took.as_millis(),
        "answered"
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_taken(version: Version, target: &str, hosts: &[&str]) -> bool {
        let mut request = http::Request::builder().version(version).uri(target);
        for host in hosts {
            request = request.header(header::HOST, *host);
        }
        names_one_host(&request.body(()).expect("it is a request"))
    }

    #[test]
    fn a_request_of_any_version_names_one_host_at_most_and_since_1_1_one() {
        use Version as V;
        for (version, target, hosts, expected) in [
            (V::HTTP_10, "/", &[][..], true),
            (V::HTTP_10, "/", &["a"], true),
            (V::HTTP_10, "/", &["a", "a"], false),
            (V::HTTP_11, "/", &[], false),
            (V::HTTP_11, "/", &["a:8080"], true),
            (V::HTTP_11, "/", &["[::1]:8080"], true),
            (V::HTTP_11, "/", &[""], true),
            (V::HTTP_11, "/", &["a", "b"], false),
            (V::HTTP_11, "/", &["a,b"], false),
            (V::HTTP_11, "/", &["a b"], false),
            (V::HTTP_11, "/", &["visitor@a"], false),
            (V::HTTP_2, "http://a/", &[], true),
            (V::HTTP_2, "http://a/", &["a"], true),
            (V::HTTP_2, "http://a/", &["b"], false),
            (V::HTTP_2, "http://a/", &["a", "a"], false),
            (V::HTTP_2, "http://visitor@a/", &[], false),
            (V::HTTP_2, "/", &["a"], true),
            (V::HTTP_2, "/", &[], false),
        ] {
            let taken = is_taken(version, target, hosts);
            assert_eq!(taken, expected, "{version:?} {target} {hosts:?}");
        }
    }
}
