//! gRPC middleware against cancellation: a call that was begun runs to its end, whether or not its caller waits for it.
//!
//! A server drops a handler at whatever it awaits when the caller goes away or its deadline (`grpc-timeout`) passes, so
//! that a step may be done and the one that belongs to it may not: an event stored, say, and its record not written.

use std::{
    panic::resume_unwind,
    task::{Context, Poll},
};

use http::{Request, Response};
use tokio_util::task::TaskTracker;
use tower::{Layer, Service};

use crate::grpc_middleware::ResponseFuture;

/// The calls under way, each in a task of its own.
#[derive(Debug, Clone, Default)]
pub struct DetachedCalls(TaskTracker);

impl DetachedCalls {
    /// Waits for the calls that were begun. None may begin afterwards.
    pub async fn finish(&self) {
        self.0.close();
        self.0.wait().await;
    }
}

impl<S> Layer<S> for DetachedCalls {
    type Service = DetachedService<S>;

    fn layer(&self, inner: S) -> DetachedService<S> {
        DetachedService {
            inner,
            calls: self.clone(),
        }
    }
}

/// Runs each call of a service as a task of [`DetachedCalls`].
#[derive(Debug, Clone)]
pub struct DetachedService<S> {
    inner: S,
    calls: DetachedCalls,
}

impl<S, B, R> Service<Request<B>> for DetachedService<S>
where
    S: Service<Request<B>, Response = Response<R>>,
    S::Future: Send + 'static,
    S::Error: Send + 'static,
    R: Send + 'static,
{
    type Response = Response<R>;
    type Error = S::Error;
    type Future = ResponseFuture<R, S::Error>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        let call = self.calls.0.spawn(self.inner.call(request));
        Box::pin(async move {
            // A task that nobody aborts ends by itself or by a panic.
            call.await
                .unwrap_or_else(|error| resume_unwind(error.into_panic()))
        })
    }
}
