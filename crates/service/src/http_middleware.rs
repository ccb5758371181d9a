//! HTTP middleware of every server: request id, span, log line, duration, and guards against panics and
//! ambiguous hosts.
//!
//! Names follow OpenTelemetry's HTTP conventions. `url.path` is omitted: it would let clients write text into
//! logs and traces.

use std::{panic::AssertUnwindSafe, time::Instant};

use axum::{
    extract::{MatchedPath, Request},
    middleware::Next,
    response::{IntoResponse, Response},
};
use futures_util::FutureExt;
use http::{HeaderValue, Method, StatusCode, Version, header, uri::Authority};
use opentelemetry::{KeyValue, metrics::Histogram};
use tracing::{Instrument, Span, error_span, field::Empty};

use crate::{
    metrics::{self, FAST_BUCKETS_SECONDS},
    request_id::{self, RequestId},
    trace,
};

const MICROSECONDS_PER_MILLISECOND: f64 = 1000.0;
/// Methods that we serve.
static KNOWN_METHODS: [Method; 4] = [Method::GET, Method::POST, Method::HEAD, Method::OPTIONS];

/// Outcome for the log line. A handler puts it into the answer's extensions.
#[derive(Clone, Copy)]
pub struct Outcome(pub &'static str);

/// Gives requests an id and a span, measures and logs them.
pub struct RequestObserver {
    duration: Histogram<f64>,
}

impl RequestObserver {
    /// Observes a request; adds its id to the answer.
    pub async fn observe(
        &self,
        mut request: Request,
        answer: impl AsyncFnOnce(Request) -> Response,
    ) -> Response {
        let route = request.extensions().get::<MatchedPath>().cloned();
        let observed = self.begin(&request, route.as_ref().map(MatchedPath::as_str));
        request.extensions_mut().insert(observed.id.clone());
        // Boxed, as moving the large future is slow.
        let answering = Box::pin(answer(request)).instrument(observed.span.clone());
        let answer = answering.await;
        observed.answered(answer)
    }

    /// Observes a cached answer and its route. `None` if nothing is cached, or the request does not name
    /// exactly one host ([`names_one_host`]).
    pub fn observe_cached<B>(
        &self,
        request: &http::Request<B>,
        cached: impl FnOnce(&http::Request<B>) -> Option<(&'static str, Response)>,
    ) -> Option<Response> {
        let (route, answer) = cached(request).filter(|_| names_one_host(request))?;
        Some(self.begin(request, Some(route)).answered(answer))
    }

    fn begin<'a, B>(&'a self, request: &http::Request<B>, route: Option<&'a str>) -> Observed<'a> {
        let id = RequestId::of_headers(request.headers());
        let method = known_method(request.method());
        // As a parent, the client's span would decide sampling and trace ids.
        let span = error_span!(
            parent: None,
            "request",
            otel.name = route.map_or(method.to_owned(), |route| [method, " ", route].concat()),
            otel.kind = "server",
            otel.status_code = Empty,
            http.request.method = method,
            http.route = route,
            http.response.status_code = Empty,
            url.scheme = "http",
            request_id = id.as_str(),
        );
        trace::link_to(&span, trace::traceparent_in(request.headers()));
        Observed {
            duration: &self.duration,
            started: Instant::now(),
            method,
            route,
            span,
            id,
        }
    }
}

impl Default for RequestObserver {
    fn default() -> Self {
        let description = "Duration of requests, up to the head of the answer";
        let name = "http.server.request.duration";
        Self {
            duration: metrics::seconds_histogram(name, description, &FAST_BUCKETS_SECONDS),
        }
    }
}

struct Observed<'a> {
    duration: &'a Histogram<f64>,
    started: Instant,
    method: &'static str,
    route: Option<&'a str>,
    span: Span,
    id: RequestId,
}

impl Observed<'_> {
    fn answered(self, mut answer: Response) -> Response {
        let took = self.started.elapsed();
        let status = i64::from(answer.status().as_u16());
        self.span.record("http.response.status_code", status);
        if answer.status().is_server_error() {
            trace::fail(&self.span);
        }
        self.duration.record(took.as_secs_f64(), &self.labels(status));
        let _current = self.span.enter();
        tracing::info!(
            http.request.method = self.method,
            http.route = self.route,
            http.response.status_code = status,
            outcome = answer.extensions().get().map(|Outcome(outcome)| *outcome),
            duration_ms = took.as_micros() as f64 / MICROSECONDS_PER_MILLISECOND,
            "answered"
        );
        if let Ok(id) = HeaderValue::from_str(self.id.as_str()) {
            answer.headers_mut().insert(request_id::HEADER, id);
        }
        answer
    }

    fn labels(&self, status: i64) -> Vec<KeyValue> {
        let mut labels = vec![
            KeyValue::new("http.request.method", self.method),
            KeyValue::new("url.scheme", "http"),
            KeyValue::new("http.response.status_code", status),
        ];
        let route = self.route.map(ToOwned::to_owned);
        labels.extend(route.map(|route| KeyValue::new("http.route", route)));
        labels
    }
}

/// Hides an unknown method, which is the client's own text.
fn known_method(method: &Method) -> &'static str {
    let known = KNOWN_METHODS.iter().find(|known| *known == method);
    known.map_or("_OTHER", Method::as_str)
}

/// Answers 500 if a handler panics.
pub async fn guarded(request: Request, next: Next) -> Response {
    let answered = AssertUnwindSafe(next.run(request)).catch_unwind().await;
    answered.unwrap_or_else(|_| {
        tracing::error!("a handler panicked; stderr has its message");
        StatusCode::INTERNAL_SERVER_ERROR.into_response()
    })
}

/// Whether a request names exactly one host (RFC 9112, 3.2; RFC 9113, 8.3.1). If not, callers answer 400,
/// because a proxy may have read another host.
pub fn names_one_host<B>(request: &http::Request<B>) -> bool {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    let (host, None) = (hosts.next(), hosts.next()) else {
        return false;
    };
    let authority = request
        .uri()
        .authority()
        .map(|authority| authority.as_str().as_bytes());
    let host = host.map(HeaderValue::as_bytes);
    let is_consistent = match (request.version(), authority, host) {
        (Version::HTTP_2, Some(authority), Some(host)) => host.eq_ignore_ascii_case(authority),
        (Version::HTTP_2, None, None) | (Version::HTTP_11, _, None) => false,
        // Before HTTP/2 the target's host wins over the header (RFC 9112, 3.2.2).
        _ => true,
    };
    is_consistent && [authority, host].into_iter().flatten().all(is_host)
}

/// Whether this is a host without a login, or empty.
fn is_host(host: &[u8]) -> bool {
    let has_others = host.iter().any(|byte| b"@,".contains(byte));
    host.is_empty() || (!has_others && Authority::try_from(host).is_ok())
}

#[cfg(test)]
mod tests {
    use axum::{Router, body::Body, middleware::from_fn, routing::get};
    use tower::ServiceExt;

    use super::*;

    #[tokio::test]
    async fn a_panicking_handler_answers_an_empty_500() {
        async fn panics() -> &'static str {
            panic!("a detail")
        }
        let router: Router = Router::new()
            .route("/", get(panics))
            .route("/fine", get(|| async { "fine" }))
            .layer(from_fn(guarded));
        let answer = async |path: &str| {
            let request = Request::get(path).header(header::HOST, "a");
            let request = request.body(Body::empty()).expect("a request");
            router.clone().oneshot(request).await.expect("an answer")
        };
        let failed = answer("/").await;
        assert_eq!(failed.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let told = axum::body::to_bytes(failed.into_body(), 1).await;
        assert!(told.is_ok_and(|told| told.is_empty()));
        assert_eq!(answer("/fine").await.status(), StatusCode::OK);
    }

    fn is_taken(version: Version, target: &str, hosts: &[&str]) -> bool {
        let mut request = http::Request::builder().version(version).uri(target);
        for host in hosts {
            request = request.header(header::HOST, *host);
        }
        names_one_host(&request.body(()).expect("it is a request"))
    }

    #[test]
    fn a_request_needs_one_host_in_each_http_version() {
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
            (V::HTTP_11, "http://a/", &["b"], true),
            (V::HTTP_11, "http://a/", &["b", "b"], false),
            (V::HTTP_11, "http://a/", &[], false),
            (V::HTTP_11, "http://visitor@a/", &["a"], false),
            (V::HTTP_10, "http://a/", &[], true),
            (V::HTTP_2, "http://a/", &[], true),
            (V::HTTP_2, "http://a/", &["a"], true),
            (V::HTTP_2, "http://a/", &["A"], true),
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
