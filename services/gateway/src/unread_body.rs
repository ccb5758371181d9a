//! Middleware that drains an unread request body, so that a browser can read an early error response.
//!
//! A browser reads no answer while it still sends: closing the connection on it shows
//! the visitor a network error instead of our sentence (RFC 9112, 9.6). So the rest is
//! read and thrown away, up to a limit, before an early refusal is given.

use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    body::{Body, Bytes, HttpBody},
    extract::Request,
    middleware::Next,
    response::Response,
};
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};
use site_service::drain::Drain;
use tokio::time::timeout;

use crate::stopping::RECEIVING_ENDS;

/// How much is read and thrown away.
const MAX_DRAINED_BYTES: usize = 64 * 1024 * 1024;
/// How long that may take.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(60);
/// How long nothing may arrive meanwhile.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);

/// Runs the inner service, then reads and drops what it left of the request's body.
///
/// When the gateway stops there is no time for that: the answer goes out at once, and the rest is read behind it, so that no
/// reset of the connection takes the answer from a client that still sends.
pub async fn drain_unread_body(request: Request, next: Next) -> Response {
    let drain = Drain::of(request.extensions());
    let (parts, body) = request.into_parts();
    let mut shared = SharedBody::new(body);
    let request = Request::from_parts(parts, Body::new(shared.clone()));
    let response = next.run(request).await;
    // A body that takes longer, or is larger, is cut off with the connection.
    let mut reading =
        Box::pin(async move { timeout(DRAIN_TIMEOUT, shared.discard(MAX_DRAINED_BYTES)).await });
    tokio::select! {
        biased;
        () = drain.left(RECEIVING_ENDS) => {
            // The connection waits for it, and the drain for the connection.
            tokio::spawn(reading);
        }
        _cut = &mut reading => {}
    }
    response
}

/// A body that can still be reached after it was handed on.
#[derive(Clone)]
pub struct SharedBody(Arc<Mutex<Body>>);

impl SharedBody {
    pub fn new(body: Body) -> Self {
        Self(Arc::new(Mutex::new(body)))
    }

    /// Reads on to the end, or so many bytes, or until nothing comes any more.
    pub async fn discard(&mut self, bytes: usize) {
        let mut left = bytes;
        while let Ok(Some(Ok(frame))) = timeout(IDLE_TIMEOUT, self.frame()).await {
            let size = frame.data_ref().map_or(0, Bytes::len);
            left = match left.checked_sub(size) {
                Some(left) => left,
                None => return,
            };
        }
    }

    fn with<T>(&self, use_body: impl FnOnce(&mut Body) -> T) -> T {
        use_body(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl HttpBody for SharedBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        self.with(|body| Pin::new(body).poll_frame(context))
    }

    fn is_end_stream(&self) -> bool {
        self.with(|body| body.is_end_stream())
    }

    fn size_hint(&self) -> SizeHint {
        self.with(|body| body.size_hint())
    }
}
