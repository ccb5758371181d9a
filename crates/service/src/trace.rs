//! Spans: the steps of a request across HTTP, gRPC and NATS, by W3C trace context.
//!
//! A span is OpenTelemetry's, kept in its context, from which log lines take the ids. Whether a trace is recorded is decided before
//! anything is written down about it: of one that is not, each process makes the ids once and nothing else.

use std::{borrow::Cow, sync::OnceLock};

use base16ct::lower::encode_string;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use opentelemetry::{
    Context, ContextGuard, KeyValue, Value,
    propagation::{Extractor, TextMapPropagator},
    trace::{
        FutureExt, Link, Span as _, SpanBuilder, SpanContext, SpanKind, Status, TraceContextExt, Tracer,
        WithContext,
    },
};
use opentelemetry_sdk::{propagation::TraceContextPropagator, trace::SdkTracer};
use serde::Serialize;

use crate::RequestId;

/// The header that carries the trace (W3C Trace Context, 3.2).
pub const TRACEPARENT: &str = "traceparent";
const HEADER: HeaderName = HeaderName::from_static(TRACEPARENT);

static TRACER: OnceLock<SdkTracer> = OnceLock::new();

/// Has this tracer make all spans of the process. Without one there are none.
pub(crate) fn set_tracer(tracer: SdkTracer) {
    // The first one stays: a process has one.
    let _second = TRACER.set(tracer);
}

/// What stands on each log line within a span, beside the trace's id.
#[derive(Debug, Clone)]
pub struct LogFields(Vec<KeyValue>);

impl From<Vec<KeyValue>> for LogFields {
    fn from(fields: Vec<KeyValue>) -> Self {
        Self(fields)
    }
}

impl From<&RequestId> for LogFields {
    fn from(id: &RequestId) -> Self {
        Self(vec![KeyValue::new("request_id", id)])
    }
}

/// A step of a request's way. It ends when it is dropped, and with it all its clones.
#[derive(Debug, Clone)]
pub struct Span(Context);

/// What a span is called, and its attributes. Only asked for where the span is recorded.
pub type Description = (Cow<'static, str>, Vec<KeyValue>);

impl Span {
    /// The step that begins a trace, linked to what its caller says of its own: anybody may send a `traceparent`, and under it
    /// would decide what is recorded, and under which ids.
    pub fn root(
        fields: LogFields,
        caller: Option<&str>,
        kind: SpanKind,
        describe: impl FnOnce() -> Description,
    ) -> Self {
        let links = caller.and_then(span_context).map(Link::with_context);
        Self::start(&Context::new().with_value(fields), kind, links, describe)
    }

    /// The step after what a message's `traceparent` names, linked to it where that was an event.
    pub fn after(
        fields: LogFields,
        sender: Option<&str>,
        kind: SpanKind,
        describe: impl FnOnce() -> Description,
    ) -> Self {
        let parent = Context::new().with_value(fields);
        let Some(sender) = sender.and_then(span_context) else {
            return Self::start(&parent, kind, None, describe);
        };
        let link = (kind == SpanKind::Consumer).then(|| Link::with_context(sender.clone()));
        Self::start(&parent.with_remote_span_context(sender), kind, link, describe)
    }

    /// A step within the current one.
    pub fn within_current(kind: SpanKind, describe: impl FnOnce() -> Description) -> Self {
        Context::map_current(|current| Self::start(current, kind, None, describe))
    }

    /// No step, but what log lines carry.
    pub fn ids(fields: LogFields) -> Self {
        Self(Context::new().with_value(fields))
    }

    fn start(
        parent: &Context,
        kind: SpanKind,
        link: Option<Link>,
        describe: impl FnOnce() -> Description,
    ) -> Self {
        let is_left_out = {
            let span = parent.span();
            span.span_context().is_valid() && !span.span_context().is_sampled()
        };
        let Some(tracer) = TRACER.get().filter(|_| !is_left_out) else {
            return Self(parent.clone());
        };
        let mut builder = SpanBuilder::from_name("").with_kind(kind);
        builder.links = link.map(|link| vec![link]);
        let mut span = tracer.build_with_context(builder, parent);
        if !span.is_recording() {
            return Self(parent.with_remote_span_context(span.span_context().clone()));
        }
        let (name, attributes) = describe();
        span.update_name(name);
        span.set_attributes(attributes);
        Self(parent.with_span(span))
    }

    /// Adds what became known later.
    pub fn set(&self, name: &'static str, value: impl Into<Value>) {
        self.0.span().set_attribute(KeyValue::new(name, value));
    }

    /// Says that the step failed.
    pub fn fail(&self) {
        self.0.span().set_status(Status::error(""));
    }

    /// Its `traceparent`.
    pub fn traceparent(&self) -> Option<String> {
        traceparent_of(&self.0)
    }

    /// Sends its trace along in a request's headers.
    pub fn inject(&self, headers: &mut HeaderMap) {
        if let Some(value) = self
            .traceparent()
            .and_then(|value| HeaderValue::try_from(value).ok())
        {
            headers.insert(HEADER, value);
        }
    }

    /// The same work as part of this step.
    pub fn instrument<F>(&self, work: F) -> WithContext<F> {
        work.with_context(self.0.clone())
    }

    /// Makes it the current step until this is dropped.
    pub fn enter(&self) -> ContextGuard {
        self.0.clone().attach()
    }
}

/// Adds to the current step what became known later.
pub fn set(name: &'static str, value: impl Into<Value>) {
    Context::map_current(|current| current.span().set_attribute(KeyValue::new(name, value)));
}

/// The current step's `traceparent`.
pub fn traceparent() -> Option<String> {
    Context::map_current(traceparent_of)
}

/// What a log line of this moment carries, each with its name.
pub(crate) fn with_log_fields(mut write: impl FnMut(&str, &LogValue<'_>)) {
    Context::map_current(|current| {
        if let Some(LogFields(fields)) = current.get() {
            for field in fields {
                write(field.key.as_str(), &LogValue::of(&field.value));
            }
        }
        let span = current.span();
        if span.span_context().is_valid() {
            // Its own text takes a sixth of what a log line does.
            let id = encode_string(&span.span_context().trace_id().to_bytes());
            write("trace_id", &LogValue::Text(id.into()));
        }
    });
}

/// A value of a log line.
#[derive(Serialize)]
#[serde(untagged)]
pub(crate) enum LogValue<'a> {
    Text(Cow<'a, str>),
    Number(i64),
}

impl<'a> LogValue<'a> {
    fn of(value: &'a Value) -> Self {
        match value {
            Value::I64(number) => Self::Number(*number),
            value => Self::Text(value.as_str()),
        }
    }
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

/// The `traceparent` among these headers.
pub fn traceparent_in(headers: &HeaderMap) -> Option<&str> {
    headers.get(HEADER).and_then(|value| value.to_str().ok())
}

/// As W3C Trace Context, 3.2.2 has it.
fn traceparent_of(context: &Context) -> Option<String> {
    let span = context.span();
    let ids = span.span_context();
    let flags = if ids.is_sampled() { "01" } else { "00" };
    let (trace, step) = (ids.trace_id().to_bytes(), ids.span_id().to_bytes());
    ids.is_valid()
        .then(|| ["00", &encode_string(&trace), &encode_string(&step), flags].join("-"))
}

/// What a `traceparent` names, if it is one.
fn span_context(traceparent: &str) -> Option<SpanContext> {
    let carrier = Carrier(traceparent);
    let context = TraceContextPropagator::new().extract_with_context(&Context::new(), &carrier);
    Some(context.span().span_context().clone()).filter(SpanContext::is_valid)
}

struct Carrier<'a>(&'a str);

impl Extractor for Carrier<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        (key == TRACEPARENT).then_some(self.0)
    }

    fn keys(&self) -> Vec<&str> {
        vec![TRACEPARENT]
    }
}

#[cfg(test)]
mod tests {
    use opentelemetry::trace::{SpanId, TraceFlags, TraceId, TraceState};

    use super::*;

    #[test]
    fn a_traceparent_is_what_it_is_read_as() {
        for text in [
            "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
            "00-0000000000000000000000000000000f-a000000000000000-00",
        ] {
            let ids = span_context(text).expect("a traceparent");
            let context = Context::new().with_remote_span_context(ids);
            assert_eq!(traceparent_of(&context).as_deref(), Some(text));
        }
        let nothing = SpanContext::new(
            TraceId::INVALID,
            SpanId::INVALID,
            TraceFlags::default(),
            true,
            TraceState::default(),
        );
        let context = Context::new().with_remote_span_context(nothing);
        assert_eq!(traceparent_of(&context), None);
    }
}
