//! Restart for changed TLS files: a process reads them at its start, so it stops once they have changed, and its supervisor starts it
//! again. The copies of a service, whose files change at the same time, do so one after the other, as each waits for a random time.

use std::{env, time::Duration};

use tokio::time::sleep;
use uuid::Uuid;

use super::pem;

/// Seconds within which a process stops whose files have changed.
const WITHIN: &str = "TLS_RESTART_SECONDS";
const DEFAULT_WITHIN: Duration = Duration::from_secs(10 * 60);

/// Waits until TLS files that this process has read are others, and then for a random time. Where `read_again` says that a setting is
/// wrong by then, the process goes on with what it has.
pub async fn is_due(read_again: impl Fn() -> Result<(), String>) {
    let within = env::var(WITHIN).ok().and_then(|seconds| seconds.parse().ok());
    let within = within.map_or(DEFAULT_WITHIN, Duration::from_secs);
    loop {
        while !pem::have_changed() {
            sleep(within / 10).await;
        }
        let delay = within.mul_f64(f64::from(Uuid::new_v4().as_bytes()[0]) / 256.0);
        tracing::info!(
            delay.seconds = delay.as_secs(),
            "TLS files have changed; stopping after a delay"
        );
        sleep(delay).await;
        match read_again() {
            Ok(()) => return,
            Err(reason) => tracing::error!(reason, "changed TLS files cannot be used; the former ones stay"),
        }
    }
}
