//! Deadline of a request: until when it must be answered. What is left of it goes on to the services (`grpc-timeout`).

use std::time::Duration;

use http::request::Parts;
use tokio::time::Instant;

/// Until when a request must be answered. A request that has none yet may take as long as it likes.
#[derive(Debug, Clone, Copy, Default)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// The deadline of a request that may take so long from now on.
    pub fn after(time: Duration) -> Self {
        Self(Some(Instant::now() + time))
    }

    /// What is left of it, and no more than `most`.
    pub fn left(self, most: Duration) -> Duration {
        let left = |at: Instant| at.saturating_duration_since(Instant::now());
        self.0.map_or(most, |at| left(at).min(most))
    }

    /// The deadline that a request was given.
    pub fn of(parts: &Parts) -> Self {
        parts.extensions.get().copied().unwrap_or_default()
    }
}
