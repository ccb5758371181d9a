//! W3C trace context across HTTP, gRPC and NATS, and the spans at a service's edge.

use http::{HeaderMap, Request};
use opentelemetry::{
    Context,
    propagation::{Extractor, Injector, TextMapPropagator},
    trace::TraceContextExt,
};
use opentelemetry_sdk::propagation::TraceContextPropagator;
use tonic::metadata::{MetadataMap, MetadataValue};
use tracing::{Span, field};
use tracing_opentelemetry::OpenTelemetrySpanExt;

use crate::request_id::{self, RequestId};

/// The header that carries the trace (W3C Trace Context, 3.2).
pub const TRACEPARENT: &str = "traceparent";

/// The span of one incoming HTTP or gRPC request, a child of the caller's.
pub fn request_span<B>(request: &Request<B>) -> Span {
    let path = request.uri().path();
    let span = tracing::info_span!(
        "request",
        otel.name = format!("{} {path}", request.method()),
        otel.kind = "server",
        http.request.method = %request.method(),
        url.path = path,
        request_id = %RequestId::of_headers(request.headers()),
        trace_id = field::Empty,
    );
    continue_trace(&span, &HeaderReader(request.headers()));
    span
}

/// Makes a span part of the trace that a `traceparent` names, and notes the trace id
/// on it for the logs.
pub fn continue_from(span: &Span, traceparent: Option<&str>) {
    continue_trace(span, &Traceparent(traceparent.map(str::to_owned)));
}

/// The current span's `traceparent`.
pub fn traceparent() -> Option<String> {
    let mut carrier = Traceparent(None);
    TraceContextPropagator::new().inject_context(&Span::current().context(), &mut carrier);
    carrier.0
}

/// Sends the current trace and the request's id along with a gRPC call.
pub fn inject(metadata: &mut MetadataMap, request_id: &RequestId) {
    let headers = [
        (request_id::HEADER, Some(request_id.to_string())),
        (TRACEPARENT, traceparent()),
    ];
    for (name, value) in headers {
        if let Some(value) = value.and_then(|value| MetadataValue::try_from(value).ok()) {
            metadata.insert(name, value);
        }
    }
}

fn continue_trace(span: &Span, carrier: &dyn Extractor) {
    let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), carrier);
    if parent.span().span_context().is_valid() && span.set_parent(parent).is_err() {
        tracing::debug!("the caller's trace could not be continued");
    }
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
