//! Middleware that drains an unread request body, so that a browser can read an early error response.
//!
//! A browser reads no answer while it still sends: closing the connection on it shows
//! the visitor a network error instead of our sentence (RFC 9112, 9.6). So the rest is
//! read and thrown away, up to a limit, before an early refusal is given.

use std::{
    future::poll_fn,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use axum::{
    body::{Body, BodyDataStream},
    extract::Request,
    middleware::Next,
    response::Response,
};
use futures_util::{StreamExt, stream};
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
    let rest = Arc::new(Mutex::new(body.into_data_stream()));
    let shared = Arc::clone(&rest);
    let body = stream::poll_fn(move |context| lock(&shared).poll_next_unpin(context));
    let request = Request::from_parts(parts, Body::from_stream(body));
    let response = next.run(request).await;
    // A body that takes longer, or is larger, is cut off with the connection.
    let mut reading = Box::pin(timeout(DRAIN_TIMEOUT, discard(rest)));
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

/// Reads to the end, or so much, or until nothing comes any more.
async fn discard(body: Arc<Mutex<BodyDataStream>>) {
    let mut left = MAX_DRAINED_BYTES;
    let next = || poll_fn(|context| lock(&body).poll_next_unpin(context));
    while let Ok(Some(Ok(bytes))) = timeout(IDLE_TIMEOUT, next()).await {
        left = match left.checked_sub(bytes.len()) {
            Some(left) => left,
            None => return,
        };
    }
}

fn lock(body: &Mutex<BodyDataStream>) -> MutexGuard<'_, BodyDataStream> {
    body.lock().unwrap_or_else(PoisonError::into_inner)
}
