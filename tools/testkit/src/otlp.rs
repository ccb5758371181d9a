//! An OTLP collector (gRPC) that discards everything, to measure what sending telemetry costs.

use axum::{
    Router,
    body::{Body, Bytes},
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, Response, header::CONTENT_TYPE},
};
use futures_util::stream;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::Frame;
use tokio::net::TcpListener;

/// An empty message, in a frame of gRPC.
const EMPTY_MESSAGE: [u8; 5] = [0; 5];

/// The collector.
pub struct Discard;

impl Discard {
    /// Starts one on a free port, for as long as the runtime lives. Returns its address.
    pub async fn start() -> anyhow::Result<String> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = format!("http://{}", listener.local_addr()?);
        let serving = axum::serve(listener, Router::new().fallback(discard));
        tokio::spawn(async move { serving.await });
        Ok(address)
    }
}

async fn discard(request: Request) -> Response<Body> {
    let mut body = request.into_body();
    while let Some(Ok(_)) = body.frame().await {}
    let status = (
        HeaderName::from_static("grpc-status"),
        HeaderValue::from_static("0"),
    );
    let frames = [
        Frame::data(Bytes::from_static(&EMPTY_MESSAGE)),
        Frame::trailers(HeaderMap::from_iter([status])),
    ];
    let frames = stream::iter(frames.map(Ok::<_, std::convert::Infallible>));
    let mut answer = Response::new(Body::new(StreamBody::new(frames)));
    let grpc = HeaderValue::from_static("application/grpc");
    answer.headers_mut().insert(CONTENT_TYPE, grpc);
    answer
}
