//! Calls against cancellation: one that was begun runs to its end, whether or not its caller waits for it.
//!
//! A server drops a handler at whatever it awaits when the caller goes away or its deadline (`grpc-timeout`) passes, so
//! that a step may be done and the one that belongs to it may not: an event stored, say, and its record not written.

use std::panic::resume_unwind;

use futures_util::{FutureExt, future::BoxFuture};
use tokio_util::task::TaskTracker;

/// Runs each call as a task of these, for the layer `MapFuture` of `tower`.
pub fn detached<F>(calls: &TaskTracker) -> impl Fn(F) -> BoxFuture<'static, F::Output> + Clone + use<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    let calls = calls.clone();
    move |call| {
        let call = calls.spawn(call);
        // A task that nobody aborts ends by itself or by a panic.
        call.map(|ended| ended.unwrap_or_else(|error| resume_unwind(error.into_panic())))
            .boxed()
    }
}
