//! gRPC middleware: a trace span on either side, and the duration at the server (OpenTelemetry's semantic conventions for
//! RPC).

use std::{
    borrow::Cow,
    future::Future,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll, ready},
    time::Instant,
};

use http::{HeaderMap, Request, Response, Uri};
use opentelemetry::{
    KeyValue,
    trace::{SpanKind, WithContext},
};
use pin_project_lite::pin_project;
use tonic::Code;
use tower::{Layer, Service};

use crate::{
    RequestId,
    metrics::{self, LabelledHistogram},
    trace::{self, Description, LogFields, Span},
};

/// Histogram buckets, in the unit of this convention.
const BUCKETS_MILLISECONDS: [f64; 14] = [
    5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 250.0, 500.0, 750.0, 1000.0, 2500.0, 5000.0, 7500.0, 10_000.0,
];

/// The path of what nobody serves, which is the caller's own word: each would be a series of its own.
const OTHER: &str = "/_OTHER/_OTHER";

/// The service and the method in a call's path.
fn called(path: &str) -> (&str, &str) {
    let path = path.trim_start_matches('/');
    path.split_once('/').unwrap_or((path, ""))
}

/// How a call with a single answer ended. A failure stands in the headers, where there is no body.
fn code(headers: &HeaderMap) -> Code {
    headers
        .get("grpc-status")
        .map_or(Code::Ok, |status| Code::from_bytes(status.as_bytes()))
}

fn note(span: &Span, code: Code) {
    span.set("rpc.grpc.status_code", code as i64);
    if code != Code::Ok {
        span.fail();
    }
}

/// What a span of a call tells on either side.
fn describe(uri: &Uri) -> Description {
    let path = uri.path();
    (Cow::Owned(path.trim_start_matches('/').to_owned()), labels(path))
}

/// How telemetry names a call.
fn labels(path: &str) -> Vec<KeyValue> {
    let (service, method) = called(path);
    vec![
        KeyValue::new("rpc.system", "grpc"),
        KeyValue::new("rpc.service", service.to_owned()),
        KeyValue::new("rpc.method", method.to_owned()),
    ]
}

/// gRPC client middleware: makes each call to a server a span that is the parent of the server's.
#[derive(Debug, Clone)]
pub struct GrpcClientTracing<S> {
    inner: S,
    server: Uri,
}

impl<S> GrpcClientTracing<S> {
    /// Middleware over this channel to the server at this address.
    pub fn new(inner: S, server: Uri) -> Self {
        Self { inner, server }
    }

    fn span(&self, uri: &Uri) -> Span {
        Span::within_current(SpanKind::Client, || {
            let (name, mut attributes) = describe(uri);
            let (host, port) = (self.server.host(), self.server.port_u16());
            attributes.extend(host.map(|host| KeyValue::new("server.address", host.to_owned())));
            attributes.extend(port.map(|port| KeyValue::new("server.port", i64::from(port))));
            (name, attributes)
        })
    }
}

impl<S, B, R> Service<Request<B>> for GrpcClientTracing<S>
where
    S: Service<Request<B>, Response = Response<R>>,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = Calling<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let span = self.span(request.uri());
        span.inject(request.headers_mut());
        Calling {
            calling: span.instrument(self.inner.call(request)),
            span,
            is_answered: false,
        }
    }
}

pin_project! {
    /// A call under way.
    pub struct Calling<F> {
        #[pin]
        calling: WithContext<F>,
        span: Span,
        is_answered: bool,
    }

    impl<F> PinnedDrop for Calling<F> {
        /// Nobody waits for its answer any more, as after the deadline of all attempts.
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            if !*this.is_answered {
                note(this.span, Code::Cancelled);
            }
        }
    }
}

impl<F, R, E> Future for Calling<F>
where
    F: Future<Output = Result<Response<R>, E>>,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let answer = ready!(this.calling.poll(context));
        let code = answer
            .as_ref()
            .map_or(Code::Unavailable, |answer| code(answer.headers()));
        *this.is_answered = true;
        note(this.span, code);
        Poll::Ready(answer)
    }
}

/// Layer of [`GrpcServerTracing`].
#[derive(Debug, Clone)]
pub struct ServerLayer {
    duration: Arc<LabelledHistogram<Code>>,
}

impl ServerLayer {
    /// Measures by what telemetry there is at this moment.
    pub fn new() -> Self {
        let duration = metrics::meter()
            .f64_histogram("rpc.server.duration")
            .with_unit("ms")
            .with_description("How long calls took, at the called side")
            .with_boundaries(BUCKETS_MILLISECONDS.to_vec())
            .build();
        Self {
            duration: Arc::new(LabelledHistogram::new(duration)),
        }
    }

    fn measure(&self, uri: &Uri, code: Code, started: Instant) {
        let path = if code == Code::Unimplemented {
            OTHER
        } else {
            uri.path()
        };
        let milliseconds = started.elapsed().as_secs_f64() * 1000.0;
        self.duration.record(milliseconds, path, code, || {
            let mut labels = labels(path);
            labels.push(KeyValue::new("rpc.grpc.status_code", code as i64));
            labels
        });
    }
}

impl Default for ServerLayer {
    fn default() -> Self {
        Self::new()
    }
}

impl<S> Layer<S> for ServerLayer {
    type Service = GrpcServerTracing<S>;

    fn layer(&self, inner: S) -> GrpcServerTracing<S> {
        GrpcServerTracing {
            inner,
            layer: self.clone(),
        }
    }
}

/// gRPC server middleware: span and duration of each call. The span is below the caller's.
#[derive(Debug, Clone)]
pub struct GrpcServerTracing<S> {
    inner: S,
    layer: ServerLayer,
}

impl<S, B, R> Service<Request<B>> for GrpcServerTracing<S>
where
    S: Service<Request<B>, Response = Response<R>>,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = Answering<S::Future>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let started = Instant::now();
        let uri = request.uri().clone();
        let span = server_span(&request);
        let answering = {
            let _current = span.enter();
            self.inner.call(request)
        };
        Answering {
            answering: span.instrument(answering),
            span,
            layer: self.layer.clone(),
            uri,
            started,
        }
    }
}

pin_project! {
    /// A call that is answered.
    pub struct Answering<F> {
        #[pin]
        answering: WithContext<F>,
        span: Span,
        layer: ServerLayer,
        uri: Uri,
        started: Instant,
    }
}

impl<F, R, E> Future for Answering<F>
where
    F: Future<Output = Result<Response<R>, E>>,
{
    type Output = F::Output;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = self.project();
        let answer = ready!(this.answering.poll(context));
        let code = answer
            .as_ref()
            .map_or(Code::Unknown, |answer| code(answer.headers()));
        note(this.span, code);
        this.layer.measure(this.uri, code, *this.started);
        Poll::Ready(answer)
    }
}

fn server_span<B>(request: &Request<B>) -> Span {
    let id = RequestId::of_headers(request.headers());
    let caller = trace::traceparent_in(request.headers());
    Span::after(LogFields::from(&id), caller, SpanKind::Server, || {
        let (name, mut attributes) = describe(request.uri());
        attributes.push(KeyValue::new("request_id", &id));
        (name, attributes)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_names_service_and_method() {
        let path = "/contact.v1.ContactService/Submit";
        assert_eq!(called(path), ("contact.v1.ContactService", "Submit"));
        assert_eq!(called("/"), ("", ""));
    }

    #[test]
    fn an_answer_without_a_status_among_its_headers_is_well() {
        let mut headers = HeaderMap::new();
        assert_eq!(code(&headers), Code::Ok);
        headers.insert("grpc-status", http::HeaderValue::from_static("14"));
        assert_eq!(code(&headers), Code::Unavailable);
    }
}
