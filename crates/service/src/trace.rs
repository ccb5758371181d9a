//! W3C trace context across HTTP, gRPC and NATS, and the spans at a service's edge.

use http::{HeaderMap, HeaderValue, Method, Request};
use opentelemetry::{
    Context,
    propagation::{Extractor, Injector, TextMapPropagator},
    trace::{SpanContext, TraceContextExt},
};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::{Span, field};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use crate::RequestId;

/// The header that carries the trace (W3C Trace Context, 3.2).
pub const TRACEPARENT: &str = "traceparent";

/// The span of one incoming HTTP request on this route, if it is on one. It begins a trace and is only linked to the
/// caller's: anybody may send a `traceparent`, and with it would decide what is recorded, and under which ids.
pub fn http_span<B>(request: &Request<B>, route: Option<&str>) -> Span {
    let method = method(request.method());
    let name = route.map_or_else(|| method.to_owned(), |route| format!("{method} {route}"));
    let span = tracing::info_span!(
        "request",
        otel.name = name,
        otel.kind = "server",
        otel.status_code = field::Empty,
        http.request.method = method,
        http.route = route,
        http.response.status_code = field::Empty,
        url.scheme = "http",
        url.path = request.uri().path(),
        request_id = %RequestId::of_headers(request.headers()),
        trace_id = field::Empty,
    );
    let header = request.headers().get(TRACEPARENT);
    let caller = context_in(&Traceparent::of(header.and_then(|value| value.to_str().ok())));
    note_trace_id(&span);
    span.add_link(caller.span().span_context().clone());
    span
}

/// A request's method as telemetry names it: one that is unknown is the client's own word.
pub fn method(method: &Method) -> &'static str {
    match method.as_str() {
        "CONNECT" => "CONNECT",
        "DELETE" => "DELETE",
        "GET" => "GET",
        "HEAD" => "HEAD",
        "OPTIONS" => "OPTIONS",
        "PATCH" => "PATCH",
        "POST" => "POST",
        "PUT" => "PUT",
        "TRACE" => "TRACE",
        _ => "_OTHER",
    }
}

/// Makes a span part of the trace that a request's headers name.
pub fn continue_from_headers(span: &Span, headers: &HeaderMap) {
    continue_trace(span, &HeaderReader(headers));
}

/// Makes a span part of the trace that a message's `traceparent` names, with a link to the span
/// that sent it, and notes the trace id on it for the logs.
pub fn continue_from(span: &Span, traceparent: Option<&str>) {
    let sender = continue_trace(span, &Traceparent::of(traceparent));
    span.add_link(sender);
}

/// The current span's `traceparent`.
pub fn traceparent() -> Option<String> {
    let mut carrier = Traceparent(None);
    TraceContextPropagator::new().inject_context(&Span::current().context(), &mut carrier);
    carrier.0
}

/// Sends a span's trace along in a request's headers.
pub fn inject(span: &Span, headers: &mut HeaderMap) {
    let mut carrier = Traceparent(None);
    TraceContextPropagator::new().inject_context(&span.context(), &mut carrier);
    if let Some(value) = carrier.0.and_then(|value| HeaderValue::try_from(value).ok()) {
        headers.insert(TRACEPARENT, value);
    }
}

/// Gives the span that the carrier names, valid or not.
fn continue_trace(span: &Span, carrier: &dyn Extractor) -> SpanContext {
    let parent = context_in(carrier);
    let caller = parent.span().span_context().clone();
    if caller.is_valid() && span.set_parent(parent).is_err() {
        tracing::debug!("the caller's trace could not be continued");
    }
    note_trace_id(span);
    caller
}

/// What the carrier names, valid or not.
fn context_in(carrier: &dyn Extractor) -> Context {
    TraceContextPropagator::new().extract_with_context(&Context::new(), carrier)
}

/// For the logs.
fn note_trace_id(span: &Span) {
    let context = span.context();
    let trace_id = context.span().span_context().trace_id();
    span.record("trace_id", field::display(trace_id));
}

struct HeaderReader<'a>(&'a HeaderMap);

impl Extractor for HeaderReader<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.get(key).and_then(|value| value.to_str().ok())
    }

    fn keys(&self) -> Vec<&str> {
        self.0.keys().map(http::HeaderName::as_str).collect()
    }
}

struct Traceparent(Option<String>);

impl Traceparent {
    fn of(value: Option<&str>) -> Self {
        Self(value.map(str::to_owned))
    }
}

impl Extractor for Traceparent {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.as_deref().filter(|_| key == TRACEPARENT)
    }

    fn keys(&self) -> Vec<&str> {
        vec![TRACEPARENT]
    }
}

impl Injector for Traceparent {
    fn set(&mut self, key: &str, value: String) {
        if key == TRACEPARENT {
            self.0 = Some(value);
        }
    }
}
