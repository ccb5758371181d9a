//! Pause of a consumer whose receiver is unavailable: nothing is pulled until it is over. Then one event is pulled as a probe: if the
//! receiver takes it, all go on; if not, the next pause is longer.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use opentelemetry::{KeyValue, metrics::UpDownCounter};
use site_service::metrics;
use tokio::time::{Instant, sleep_until};

use crate::{
    delivery::Outcome,
    failure::{Failure, Remedy},
    retries::MAX_ASKED_PAUSE,
};

/// From a second up to half a minute, with jitter up to twice as long.
const PAUSES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_secs(1))
    .with_max_delay(Duration::from_secs(30))
    .with_jitter()
    .without_max_times();
/// How long a receiver that took an event counts as available: an event that fails again meanwhile fails by itself.
const TAKEN_LATELY: Duration = Duration::from_secs(60);

/// Pause of one consumer, shared by its pull and its deliveries.
pub struct ConsumerPause {
    state: Mutex<State>,
    paused: UpDownCounter<i64>,
    channel: [KeyValue; 1],
}

#[derive(Default)]
struct State {
    pause: Option<Pause>,
    /// When the receiver last took an event.
    taken: Option<Instant>,
}

struct Pause {
    since: Instant,
    until: Instant,
    lengths: ExponentialBackoff,
}

impl ConsumerPause {
    /// No pause of the channel's consumer yet.
    pub fn new(channel: &Arc<str>) -> Self {
        let pause = Self {
            state: Mutex::default(),
            paused: metrics::meter()
                .i64_up_down_counter("site.consumer.paused")
                .with_unit("{consumer}")
                .with_description("Consumers that pause because their receiver is unavailable")
                .build(),
            channel: [KeyValue::new("channel", channel.clone())],
        };
        pause.paused.add(0, &pause.channel);
        pause
    }

    /// Waits until something may be pulled; gives whether that is a probe.
    pub async fn over(&self) -> bool {
        loop {
            let until = self.state().pause.as_ref().map(|pause| pause.until);
            match until {
                None => return false,
                Some(until) if until <= Instant::now() => return true,
                Some(until) => sleep_until(until).await,
            }
        }
    }

    /// How much longer the pause takes, if there is one; for events that were pulled before it began.
    pub fn remaining(&self) -> Option<Duration> {
        let state = self.state();
        let pause = state.pause.as_ref()?;
        Some(pause.until.saturating_duration_since(Instant::now()))
    }

    /// Learns from the outcome of an attempt whether the receiver is available. Where it is not, the event comes again
    /// when the pause is over.
    pub fn learn(&self, outcome: Outcome, attempt: u32) -> Outcome {
        match outcome {
            Outcome::Failed(Failure {
                reason,
                remedy: Remedy::RetryLater { at_least },
            }) => {
                let remedy = self.failed(&reason, at_least, attempt);
                Outcome::Failed(Failure { reason, remedy })
            }
            Outcome::Delivered | Outcome::Failed(_) => {
                let (mut state, now) = (self.state(), Instant::now());
                if matches!(outcome, Outcome::Delivered) {
                    state.taken = Some(now);
                }
                // What was under way when the pause began says nothing new.
                if let Some(pause) = state.pause.take_if(|pause| pause.until <= now) {
                    self.paused.add(-1, &self.channel);
                    let seconds = pause.since.elapsed().as_secs();
                    tracing::info!(paused.seconds = seconds, "the receiver is available again");
                }
                outcome
            }
            Outcome::NotYet { .. } | Outcome::NotBegun => outcome,
        }
    }

    /// The remedy of a failure for which the receiver is said to be unavailable.
    fn failed(&self, reason: &str, at_least: Duration, attempt: u32) -> Remedy {
        let (mut state, now) = (self.state(), Instant::now());
        let is_taking = state.taken.is_some_and(|taken| now - taken < TAKEN_LATELY);
        if state.pause.is_none() && is_taking && attempt > 1 {
            return Remedy::Retry { at_least };
        }
        let pause = state.pause.get_or_insert_with(|| {
            self.paused.add(1, &self.channel);
            tracing::warn!(reason, "the receiver is unavailable; its events wait");
            Pause {
                since: now,
                until: now,
                lengths: PAUSES.build(),
            }
        });
        if pause.until <= now {
            // The lengths are without end.
            let length = pause.lengths.next().unwrap_or_default();
            pause.until = now + length.max(at_least.min(MAX_ASKED_PAUSE));
        }
        Remedy::RetryLater {
            at_least: pause.until.saturating_duration_since(now),
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for ConsumerPause {
    fn drop(&mut self) {
        let is_paused = i64::from(self.state().pause.is_some());
        self.paused.add(-is_paused, &self.channel);
    }
}
