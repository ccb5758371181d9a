//! Retry policy of events that were not delivered.

use std::time::Duration;

use uuid::Uuid;

const MAX_BACKOFF: Duration = Duration::from_secs(15 * 60);
/// Limit of the pause that a receiver may ask for.
pub const MAX_ASKED_PAUSE: Duration = Duration::from_secs(60 * 60);

/// Exponential backoff with jitter, until an event is too old.
#[derive(Debug, Clone, Copy)]
pub struct RetryPolicy {
    /// Backoff before the second attempt. Later backoffs equal the event's age, up to 15 minutes.
    pub initial_backoff: Duration,
    /// Age at which an event becomes a dead letter.
    pub give_up_after: Duration,
}

impl RetryPolicy {
    /// Policy of every service.
    pub const DEFAULT: Self = Self {
        initial_backoff: Duration::from_secs(5),
        give_up_after: Duration::from_secs(25 * 60 * 60),
    };

    /// Whether an event is too old. An event first tried late still gets the usual number of attempts.
    pub(crate) fn is_given_up(self, attempt: u32, age: Duration) -> bool {
        age >= self.give_up_after && attempt >= self.attempts_within(self.give_up_after)
    }

    /// Minimum number of attempts within this time.
    fn attempts_within(self, time: Duration) -> u32 {
        let (mut attempts, mut age) = (0, Duration::ZERO);
        while age < time {
            attempts += 1;
            age += self.backoff(age, 1.0);
        }
        attempts
    }

    pub(crate) fn backoff_at(self, age: Duration) -> Duration {
        self.backoff(age, f64::from(Uuid::new_v4().as_bytes()[0]) / 255.0)
    }

    /// Jitter adds up to a fifth: events that failed together must not return together.
    fn backoff(self, age: Duration, jitter: f64) -> Duration {
        let pause = age.max(self.initial_backoff).min(MAX_BACKOFF);
        pause.mul_f64(1.0 + jitter / 5.0)
    }
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self::DEFAULT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retries_slow_down_to_a_quarter_of_an_hour() {
        let pause = |age, jitter| RetryPolicy::DEFAULT.backoff(Duration::from_secs(age), jitter);
        assert_eq!(pause(0, 0.0), Duration::from_secs(5));
        assert_eq!(pause(20, 0.0), Duration::from_secs(20));
        assert_eq!(pause(100_000, 0.0), MAX_BACKOFF);
        assert_eq!(pause(100_000, 1.0), MAX_BACKOFF.mul_f64(1.2));
    }

    #[test]
    fn events_are_dead_lettered_after_25_hours_and_90_attempts() {
        let retries = RetryPolicy::default();
        let old = Duration::from_secs(25 * 60 * 60);
        assert!(retries.is_given_up(90, old));
        assert!(!retries.is_given_up(89, old));
        assert!(!retries.is_given_up(90, old - Duration::from_secs(1)));
    }

    #[test]
    fn events_that_failed_together_do_not_return_together() {
        let allowed = Duration::from_secs(5)..=Duration::from_secs(6);
        let pauses = [(); 20].map(|()| RetryPolicy::DEFAULT.backoff_at(Duration::ZERO));
        assert!(pauses.iter().all(|pause| allowed.contains(pause)), "{pauses:?}");
        assert!(pauses.iter().any(|pause| *pause != pauses[0]), "{pauses:?}");
    }
}
