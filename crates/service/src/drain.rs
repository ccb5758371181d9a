//! Graceful shutdown (drain): on SIGTERM or Ctrl-C takes no new work and finishes what is in flight.

use std::{future::Future, time::Duration};

use tokio::{
    signal::unix::{SignalKind, signal},
    time::timeout,
};
pub use tokio_util::sync::CancellationToken;

/// The longest a drain may take; below the 30 s that Kubernetes grants by default.
pub const GRACE_PERIOD: Duration = Duration::from_secs(25);

/// A token that is cancelled when the process is asked to stop.
///
/// # Errors
///
/// If the system does not let us listen to signals.
pub fn on_signal() -> std::io::Result<CancellationToken> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let stop = CancellationToken::new();
    let token = stop.clone();
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        tracing::info!("asked to stop; finishing what is in flight");
        token.cancel();
    });
    Ok(stop)
}

/// Runs `work` to its end, but no longer than [`GRACE_PERIOD`] after `stop`.
pub async fn within_grace<T>(stop: &CancellationToken, work: impl Future<Output = T>) -> Option<T> {
    let grace_over = async {
        stop.cancelled().await;
        tokio::time::sleep(GRACE_PERIOD).await;
    };
    tokio::select! {
        done = work => Some(done),
        () = grace_over => {
            tracing::warn!(grace.seconds = GRACE_PERIOD.as_secs(), "work was still in flight when the grace period ended");
            None
        }
    }
}

/// Waits for a task that was told to stop, for at most [`GRACE_PERIOD`].
pub async fn join(name: &str, task: tokio::task::JoinHandle<()>) {
    if timeout(GRACE_PERIOD, task).await.is_err() {
        tracing::warn!(task = name, "a task did not end within the grace period");
    }
}
