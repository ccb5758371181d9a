//! Middleware that drains an unread request body, so that a browser can read an early error.
//!
//! A browser reads no answer while it sends a body. If the connection closes meanwhile, the visitor sees a network
//! error (RFC 9112, 9.6).

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

const MAX_DRAINED_BYTES: usize = 64 * 1024 * 1024;
const DRAIN_TIMEOUT: Duration = Duration::from_secs(60);
/// Longest pause between two reads.
const IDLE_TIMEOUT: Duration = Duration::from_secs(5);

/// Reads the rest of the body, then answers. During a stop it answers at once and then reads the rest. Closing a
/// connection with unread bytes would reset it, and the client could lose the answer.
pub async fn drain_unread_body(request: Request, next: Next) -> Response {
    let drain = Drain::of(request.extensions());
    let (parts, body) = request.into_parts();
    let rest = Arc::new(Mutex::new(body.into_data_stream()));
    let shared = Arc::clone(&rest);
    let body = stream::poll_fn(move |context| lock(&shared).poll_next_unpin(context));
    let request = Request::from_parts(parts, Body::from_stream(body));
    let response = next.run(request).await;
    // If the rest is too large or too slow, the connection closes instead.
    let mut reading = Box::pin(timeout(DRAIN_TIMEOUT, discard(rest)));
    tokio::select! {
        biased;
        () = drain.left(RECEIVING_ENDS) => {
            // The connection stays open until this task ends, and the drain waits for connections.
            tokio::spawn(reading);
        }
        _cut = &mut reading => {}
    }
    response
}

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
