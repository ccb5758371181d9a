//! Pause of a consumer while its receiver is unavailable. After the pause, one event is pulled as a probe. A
//! failed probe makes the next pause longer.

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

/// Pauses grow from 1 to 30 seconds; jitter at most doubles each.
const PAUSES: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_secs(1))
    .with_max_delay(Duration::from_secs(30))
    .with_jitter()
    .without_max_times();
/// If a retry fails within this time after a successful delivery, the event is at fault, not the receiver.
const RECENTLY: Duration = Duration::from_secs(60);

pub struct ConsumerPause {
    state: Mutex<State>,
    paused: UpDownCounter<i64>,
    channel: [KeyValue; 1],
}

#[derive(Default)]
struct State {
    pause: Option<Pause>,
    delivered: Option<Instant>,
}

struct Pause {
    since: Instant,
    until: Instant,
    lengths: ExponentialBackoff,
}

impl ConsumerPause {
    pub fn new(channel: &Arc<str>) -> Self {
        let pause = Self {
            state: Mutex::default(),
            paused: metrics::meter()
                .i64_up_down_counter("site.consumer.paused")
                .with_unit("{consumer}")
                .with_description("Consumers paused because their receiver is unavailable")
                .build(),
            channel: [KeyValue::new("channel", channel.clone())],
        };
        pause.paused.add(0, &pause.channel);
        pause
    }

    /// Waits for the end of the pause. Returns whether the next event is a probe.
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

    /// Remaining time of the pause; `None` without a pause.
    pub fn remaining(&self) -> Option<Duration> {
        let state = self.state();
        let pause = state.pause.as_ref()?;
        Some(pause.until.saturating_duration_since(Instant::now()))
    }

    /// Updates the pause from an outcome. Defers the event if the receiver is unavailable.
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
                    state.delivered = Some(now);
                }
                // An attempt that ends during a pause began before it, so its outcome does not end the pause.
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

    fn failed(&self, reason: &str, at_least: Duration, attempt: u32) -> Remedy {
        let (mut state, now) = (self.state(), Instant::now());
        let is_available = state.delivered.is_some_and(|at| now - at < RECENTLY);
        if state.pause.is_none() && is_available && attempt > 1 {
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
            // The backoff is infinite, so `next` always returns a pause.
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
