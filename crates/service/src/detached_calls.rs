//! gRPC calls that finish even if the caller disconnects.
//!
//! Otherwise a server drops the handler when its caller disconnects or its deadline passes. An event could
//! then be stored without its record.

use std::panic::resume_unwind;

use futures_util::{FutureExt, future::BoxFuture};
use tokio_util::task::TaskTracker;

/// Function for tower's `MapFuture` layer that spawns each call on this tracker.
pub fn detached<F>(calls: &TaskTracker) -> impl Fn(F) -> BoxFuture<'static, F::Output> + Clone + use<F>
where
    F: Future<Output: Send> + Send + 'static,
{
    let calls = calls.clone();
    move |call| {
        let call = calls.spawn(call);
        // Nothing aborts a call, so the error is a panic.
        call.map(|ended| ended.unwrap_or_else(|error| resume_unwind(error.into_panic())))
            .boxed()
    }
}
