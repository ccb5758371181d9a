//! gRPC middleware: client and server spans, and the server's duration (OpenTelemetry's RPC conventions).

use std::{
    task::{Context, Poll},
    time::Instant,
};

use futures_util::future::BoxFuture;
use http::{HeaderMap, Request, Response, Uri};
use opentelemetry::{KeyValue, metrics::Histogram};
use tonic::Code;
use tower::Service;
use tracing::{Instrument, Span, error_span, field::Empty};

use crate::{RequestId, metrics, trace};

const BUCKETS_MILLISECONDS: [f64; 14] = [
    5.0, 10.0, 25.0, 50.0, 75.0, 100.0, 250.0, 500.0, 750.0, 1000.0, 2500.0, 5000.0, 7500.0, 10_000.0,
];

fn called(path: &str) -> (&str, &str) {
    let path = path.trim_start_matches('/');
    path.split_once('/').unwrap_or((path, ""))
}

/// Status of an answer. An error without a body has its status in the headers.
fn code(headers: &HeaderMap) -> Code {
    headers
        .get("grpc-status")
        .map_or(Code::Ok, |status| Code::from_bytes(status.as_bytes()))
}

/// Middleware that traces calls: the server's span is a child of the client's.
#[derive(Debug, Clone)]
pub struct GrpcTracing<S> {
    inner: S,
    side: Side,
}

#[derive(Debug, Clone)]
enum Side {
    Client { server: Uri },
    Server { duration: Histogram<f64> },
}

impl<S> GrpcTracing<S> {
    /// Middleware over a channel to this address.
    pub fn of_client(inner: S, server: Uri) -> Self {
        let side = Side::Client { server };
        Self { inner, side }
    }

    /// Middleware over a server's services.
    pub fn of_server(inner: S) -> Self {
        let duration = metrics::meter()
            .f64_histogram("rpc.server.duration")
            .with_unit("ms")
            .with_description("Duration of calls, measured by the server")
            .with_boundaries(BUCKETS_MILLISECONDS.to_vec())
            .build();
        let side = Side::Server { duration };
        Self { inner, side }
    }
}

impl<S, B, R> Service<Request<B>> for GrpcTracing<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Future: Send + 'static,
    S::Error: 'static,
    R: 'static,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Response<R>, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        let span = span_of(&request, &self.side);
        let measured = match &self.side {
            Side::Client { .. } => None,
            Side::Server { duration } => Some((duration.clone(), request.uri().path().to_owned())),
        };
        let started = Instant::now();
        let calling = span.in_scope(|| {
            if measured.is_none() {
                trace::inject(request.headers_mut());
            }
            self.inner.call(request)
        });
        let noting = async move {
            let answer = calling.await;
            let ended = answer.as_ref().map(|answer| code(answer.headers()));
            let code = ended.unwrap_or(Code::Unavailable);
            let span = Span::current();
            span.record("rpc.grpc.status_code", code as i64);
            if code != Code::Ok {
                trace::fail(&span);
            }
            if let Some((duration, path)) = measured {
                duration.record(started.elapsed().as_secs_f64() * 1000.0, &labels(&path, code));
            }
            answer
        };
        Box::pin(noting.instrument(span))
    }
}

fn labels(path: &str, code: Code) -> [KeyValue; 4] {
    let (service, method) = called(path);
    [
        KeyValue::new("rpc.system", "grpc"),
        KeyValue::new("rpc.service", service.to_owned()),
        KeyValue::new("rpc.method", method.to_owned()),
        KeyValue::new("rpc.grpc.status_code", code as i64),
    ]
}

fn span_of<B>(request: &Request<B>, side: &Side) -> Span {
    let (parent, server, id) = match side {
        Side::Client { server } => (Span::current().id(), Some(server), None),
        Side::Server { .. } => (None, None, Some(RequestId::of_headers(request.headers()))),
    };
    let path = request.uri().path();
    let (service, method) = called(path);
    let span = error_span!(
        parent: parent,
        "call",
        otel.name = path.trim_start_matches('/'),
        otel.kind = if server.is_some() { "client" } else { "server" },
        otel.status_code = Empty,
        rpc.system = "grpc",
        rpc.service = service,
        rpc.method = method,
        rpc.grpc.status_code = Empty,
        server.address = server.and_then(Uri::host),
        server.port = server.and_then(Uri::port_u16).map(i64::from),
        request_id = id.as_ref().map(RequestId::as_str),
    );
    if server.is_none() {
        trace::continue_from(&span, trace::traceparent_in(request.headers()));
    }
    span
}
