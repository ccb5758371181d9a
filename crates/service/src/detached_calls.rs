//! gRPC middleware against cancellation: a call that was begun runs to its end, whether or not its caller waits for it.
//!
//! A server drops a handler at whatever it awaits when the caller goes away or its deadline (`grpc-timeout`) passes, so
//! that a step may be done and the one that belongs to it may not: an event stored, say, and its record not written.

use std::{
    panic::resume_unwind,
    pin::Pin,
    task::{Context, Poll},
};

use http::{Request, Response};
use tokio_util::task::TaskTracker;
use tower::{Layer, Service};

use crate::drain::Drain;

/// The calls under way, each in a task of its own.
#[derive(Debug, Clone)]
pub struct DetachedCalls {
    tasks: TaskTracker,
    drain: Drain,
}

impl DetachedCalls {
    /// None yet. Each will find this drain among its extensions.
    pub fn new(drain: Drain) -> Self {
        Self {
            tasks: TaskTracker::new(),
            drain,
        }
    }

    /// Waits for the calls that were begun. None may begin afterwards.
    pub async fn finish(&self) {
        self.tasks.close();
        self.tasks.wait().await;
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
    type Future = Pin<Box<dyn Future<Output = Result<Response<R>, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, mut request: Request<B>) -> Self::Future {
        request.extensions_mut().insert(self.calls.drain.clone());
        let call = self.calls.tasks.spawn(self.inner.call(request));
        // A task that nobody aborts ends by itself or by a panic.
        Box::pin(async move {
            call.await
                .unwrap_or_else(|error| resume_unwind(error.into_panic()))
        })
    }
}
