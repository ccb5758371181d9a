//! Deadline of a request. Calls pass the remaining time to the services (`grpc-timeout`).

use std::time::Duration;

use http::request::Parts;
use tokio::time::Instant;

/// Point in time when a request must be answered; by default there is none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    pub fn after(time: Duration) -> Self {
        Self(Some(Instant::now() + time))
    }

    pub fn left(self, most: Duration) -> Duration {
        let left = |at: Instant| at.saturating_duration_since(Instant::now());
        self.0.map_or(most, |at| left(at).min(most))
    }

    pub fn of(parts: &Parts) -> Self {
        parts.extensions.get().copied().unwrap_or_default()
    }
}
