//! Calls that finish once begun, even if the caller is gone.
//!
//! A server drops a handler at any await when its caller disconnects or its deadline (`grpc-timeout`) passes.
//! That could store an event without its record.

use std::panic::resume_unwind;

use futures_util::{FutureExt, future::BoxFuture};
use tokio_util::task::TaskTracker;

/// Spawns each call on this tracker, for tower's `MapFuture` layer.
pub fn detached<F>(calls: &TaskTracker) -> impl Fn(F) -> BoxFuture<'static, F::Output> + Clone + use<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    let calls = calls.clone();
    move |call| {
        let call = calls.spawn(call);
        // Never aborted, so the error is a panic.
        call.map(|ended| ended.unwrap_or_else(|error| resume_unwind(error.into_panic())))
            .boxed()
    }
}
