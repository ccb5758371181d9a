//! Stop signal and grace period of a graceful shutdown (drain). Servers apply it: `http.rs`, `grpc.rs`.

use std::{
    future::Future,
    sync::{Arc, OnceLock},
    time::Duration,
};

use clap::Args;
use http::Extensions;
use tokio::{
    signal::unix::{SignalKind, signal},
    time::{Instant, sleep_until, timeout},
};
pub use tokio_util::sync::CancellationToken;

use crate::settings::seconds;

/// Grace period of a process whose work takes no longer than a request.
#[derive(Args, Debug, Clone)]
pub struct DrainSettings {
    /// Seconds after a stop signal within which requests in flight can finish
    #[arg(
        long = "grace-seconds",
        value_name = "GRACE_SECONDS",
        env = "GRACE_SECONDS",
        default_value = "25",
        value_parser = seconds(1..)
    )]
    pub grace: Duration,
}

const JOIN_TIMEOUT: Duration = Duration::from_secs(5);

/// Token that SIGTERM or Ctrl-C cancels.
///
/// # Errors
///
/// If the system refuses signal handlers.
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
        tracing::info!("stopping; requests in flight may finish");
        token.cancel();
    });
    Ok(stop)
}

/// Stop and grace period of a process.
#[derive(Debug, Clone)]
pub struct Drain {
    stop: CancellationToken,
    grace: Duration,
    stopped: Arc<OnceLock<Instant>>,
}

impl Drain {
    /// Drain that `stop` begins and `grace` limits.
    pub fn new(stop: CancellationToken, grace: Duration) -> Self {
        Self {
            stop,
            grace,
            stopped: Arc::default(),
        }
    }

    /// The drain that the server added to a request's extensions.
    pub fn of(extensions: &Extensions) -> Self {
        let drain = extensions.get().cloned();
        drain.unwrap_or_else(|| Self::new(CancellationToken::new(), Duration::ZERO))
    }

    /// Token that begins the drain.
    pub fn stop(&self) -> &CancellationToken {
        &self.stop
    }

    /// Waits until only `time` of the grace period remains; without a stop, waits forever.
    pub async fn left(&self, time: Duration) {
        self.stop.cancelled().await;
        let stopped = *self.stopped.get_or_init(Instant::now);
        sleep_until(stopped + self.grace.saturating_sub(time)).await;
    }

    /// Runs `work`, at most until the grace period ends.
    pub async fn within_grace<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            done = work => Some(done),
            () = self.left(Duration::ZERO) => {
                tracing::warn!(grace.seconds = self.grace.as_secs(), "work was still in flight when the grace period ended");
                None
            }
        }
    }
}

/// Joins a stopped task that has no work in flight.
pub async fn join(name: &str, task: tokio::task::JoinHandle<()>) {
    if timeout(JOIN_TIMEOUT, task).await.is_err() {
        tracing::warn!(task = name, "a task did not end in time");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRACE: Duration = Duration::from_millis(400);
    const SHORTER: Duration = Duration::from_millis(100);

    #[tokio::test(start_paused = true)]
    async fn work_goes_on_for_the_grace_period_and_no_longer() {
        let drain = Drain::new(CancellationToken::new(), GRACE);
        let working = |time| drain.within_grace(tokio::time::sleep(time));
        assert_eq!(working(2 * GRACE).await, Some(()), "nobody asked it to stop");
        drain.stop().cancel();
        let stopped = Instant::now();
        assert_eq!(working(SHORTER).await, Some(()));
        assert_eq!(working(2 * GRACE).await, None);
        assert!(
            (GRACE..2 * GRACE).contains(&stopped.elapsed()),
            "{:?}",
            stopped.elapsed()
        );
    }

    #[tokio::test(start_paused = true)]
    async fn the_grace_period_is_counted_from_the_stop() {
        let drain = Drain::new(CancellationToken::new(), GRACE);
        drain.stop().cancel();
        let stopped = Instant::now();
        drain.left(GRACE).await;
        assert!(stopped.elapsed() < SHORTER, "{:?}", stopped.elapsed());
        for left in [2 * SHORTER, SHORTER] {
            drain.clone().left(left).await;
            let elapsed = stopped.elapsed();
            assert!(
                (GRACE - left..GRACE - left + SHORTER).contains(&elapsed),
                "{elapsed:?}"
            );
        }
    }
}
