//! Flood detection: a flood is a rate of submissions that only robots reach.

use std::{
    num::NonZeroU32,
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use governor::{DefaultDirectRateLimiter, Quota, RateLimiter};

const MINUTE: Duration = Duration::from_secs(60);

/// Flood detector. A flood ends a minute after the last submission above the limit.
pub struct Flood {
    limiter: DefaultDirectRateLimiter,
    lasts_until: Mutex<Instant>,
}

impl Flood {
    pub fn above(per_minute: NonZeroU32) -> Self {
        Self {
            limiter: RateLimiter::direct(Quota::per_minute(per_minute)),
            lasts_until: Mutex::new(Instant::now()),
        }
    }

    /// Counts a submission. Returns whether there is a flood.
    pub fn arrives(&self, now: Instant) -> bool {
        let mut lasts_until = self.lasts_until.lock().unwrap_or_else(PoisonError::into_inner);
        if self.limiter.check().is_err() {
            *lasts_until = now + MINUTE;
        }
        now < *lasts_until
    }
}

#[cfg(test)]
mod tests {
    use tokio::time::sleep;

    use super::*;

    #[tokio::test]
    async fn a_flood_ends_a_minute_after_the_last_excess() {
        const PER_MINUTE: NonZeroU32 = NonZeroU32::new(600).expect("not zero");
        let (flood, begin) = (Flood::above(PER_MINUTE), Instant::now());
        let calm = (0..PER_MINUTE.get()).filter(|_| !flood.arrives(begin));
        assert_eq!(calm.count(), 600);
        assert!(flood.arrives(begin));
        // Waits until the quota allows one more submission.
        sleep(MINUTE / PER_MINUTE.get()).await;
        assert!(flood.arrives(begin + MINUTE / 2));
        sleep(MINUTE / PER_MINUTE.get()).await;
        assert!(!flood.arrives(begin + MINUTE));
    }
}
