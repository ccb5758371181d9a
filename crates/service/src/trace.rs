//! W3C Trace Context across HTTP, gRPC and NATS.
//!
//! Spans have level `error`, so that no `LOG` filter drops them.

use std::collections::HashMap;

use http::{HeaderMap, HeaderName, HeaderValue};
use opentelemetry::{
    Context,
    propagation::TextMapPropagator,
    trace::{SpanContext, TraceContextExt, TraceId},
};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tracing::Span;
use tracing_opentelemetry::OpenTelemetrySpanExt;

/// HTTP header of the trace context.
pub const TRACEPARENT: &str = "traceparent";
const HEADER: HeaderName = HeaderName::from_static(TRACEPARENT);

/// Makes a span a child of the span in `traceparent`.
pub fn continue_from(span: &Span, traceparent: Option<&str>) {
    if let Some(traceparent) = traceparent {
        // Setting the parent fails only without a trace layer.
        let _continued = span.set_parent(context_of(traceparent));
    }
}

/// Links a span to the span in `traceparent`.
pub fn link_to(span: &Span, traceparent: Option<&str>) {
    if let Some(traceparent) = traceparent {
        span.add_link(span_context(&context_of(traceparent)));
    }
}

/// Marks a span as failed; it must declare `otel.status_code`.
pub fn fail(span: &Span) {
    span.record("otel.status_code", "error");
}

/// The current span's `traceparent`.
pub fn traceparent() -> Option<String> {
    let mut carrier = HashMap::new();
    TraceContextPropagator::new().inject(&mut carrier);
    carrier.remove(TRACEPARENT)
}

/// Adds the current `traceparent` to headers.
pub fn inject(headers: &mut HeaderMap) {
    if let Some(value) = traceparent().and_then(|value| HeaderValue::try_from(value).ok()) {
        headers.insert(HEADER, value);
    }
}

/// `traceparent` of these headers.
pub fn traceparent_in(headers: &HeaderMap) -> Option<&str> {
    headers.get(HEADER).and_then(|value| value.to_str().ok())
}

pub(crate) fn current_id() -> Option<String> {
    let id = Context::map_current(span_context).trace_id();
    (id != TraceId::INVALID).then(|| id.to_string())
}

fn span_context(context: &Context) -> SpanContext {
    context.span().span_context().clone()
}

/// Context of a `traceparent`; empty if invalid.
fn context_of(traceparent: &str) -> Context {
    let carrier = HashMap::from([(TRACEPARENT.to_owned(), traceparent.to_owned())]);
    TraceContextPropagator::new().extract_with_context(&Context::new(), &carrier)
}
