//! Restart after changed TLS files: the process stops, and its supervisor starts it again. A random delay
//! keeps replicas from stopping together.

use std::{env, time::Duration};

use tokio::time::sleep;
use uuid::Uuid;

use super::pem;

/// Maximum of the random delay, in seconds.
const WITHIN: &str = "TLS_RESTART_SECONDS";
const DEFAULT_WITHIN: Duration = Duration::from_secs(10 * 60);

/// Waits for changed TLS files, then for a random time. If `read_again` fails, the old files stay in use.
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
            Err(reason) => tracing::error!(reason, "changed TLS files are invalid; the former ones stay"),
        }
    }
}
