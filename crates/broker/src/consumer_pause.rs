//! Pause of a consumer whose receiver is unavailable: nothing is pulled until it is over. Then one event is pulled as a probe: if the
//! receiver takes it, all go on; if not, the next pause is longer.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use backon::{BackoffBuilder, ExponentialBackoff, ExponentialBuilder};
use opentelemetry::{KeyValue, metrics::UpDownCounter};
use site_service::metrics;
use tokio::{
    sync::Notify,
    time::{Instant, sleep_until},
};

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
/// The most events whose failures are remembered.
const MAX_FAILED: usize = 1024;

/// How many events may be pulled.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Width {
    /// As many as may be under way.
    All,
    /// One event, to see whether the receiver is back.
    Probe,
}

/// Pause of one consumer, shared by its pull and its deliveries.
pub struct ConsumerPause {
    state: Mutex<State>,
    changed: Notify,
    paused: UpDownCounter<i64>,
    channel: [KeyValue; 1],
}

#[derive(Default)]
struct State {
    pause: Option<Pause>,
    /// How many events the receiver took.
    taken: u64,
    /// Of events that failed, by their sequence: how many it had taken by then.
    failed: HashMap<u64, u64>,
}

struct Pause {
    since: Instant,
    until: Instant,
    is_probed: bool,
    lengths: ExponentialBackoff,
}

impl Pause {
    fn lengthen(&mut self, at_least: Duration, now: Instant) {
        // The lengths are without end.
        let length = self.lengths.next().unwrap_or_default();
        self.until = now + length.max(at_least.min(MAX_ASKED_PAUSE));
        self.is_probed = false;
    }
}

impl ConsumerPause {
    /// No pause of the channel's consumer yet.
    pub fn new(channel: &Arc<str>) -> Self {
        let pause = Self {
            state: Mutex::default(),
            changed: Notify::new(),
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

    /// Waits until something may be pulled.
    pub async fn over(&self) -> Width {
        loop {
            let changed = self.changed.notified();
            let until = match &self.state().pause {
                None => return Width::All,
                Some(pause) if pause.is_probed => None,
                Some(pause) if pause.until <= Instant::now() => return Width::Probe,
                Some(pause) => Some(pause.until),
            };
            tokio::select! {
                () = changed => {}
                () = sleep_until(until.unwrap_or_else(Instant::now)), if until.is_some() => {}
            }
        }
    }

    /// A probe was pulled: nothing else is until its outcome is known.
    pub fn probe(&self) {
        if let Some(pause) = &mut self.state().pause {
            pause.is_probed = true;
        }
    }

    /// How much longer the pause takes, if there is one; for events that were pulled before it began.
    pub fn remaining(&self) -> Option<Duration> {
        let state = self.state();
        let pause = state.pause.as_ref()?;
        Some(pause.until.saturating_duration_since(Instant::now()))
    }

    /// Learns from the outcome of the event with this sequence whether the receiver is available. Where it is not, the event comes again
    /// when the pause is over. A failure at an event alone, while others are taken, is the event's own.
    pub fn learn(&self, outcome: Outcome, sequence: u64, is_probe: bool) -> Outcome {
        let outcome = match outcome {
            Outcome::Failed(Failure {
                reason,
                remedy: Remedy::RetryLater { at_least },
            }) => {
                let remedy = self.failed(&reason, at_least, sequence, is_probe);
                Outcome::Failed(Failure { reason, remedy })
            }
            Outcome::Delivered | Outcome::Failed(_) => {
                let mut state = self.state();
                state.taken += u64::from(matches!(outcome, Outcome::Delivered));
                if is_probe && let Some(pause) = state.pause.take() {
                    self.paused.add(-1, &self.channel);
                    let seconds = pause.since.elapsed().as_secs();
                    tracing::info!(paused.seconds = seconds, "the receiver is available again");
                }
                outcome
            }
            Outcome::NotYet { .. } | Outcome::NotBegun => {
                if is_probe && let Some(pause) = &mut self.state().pause {
                    pause.is_probed = false;
                }
                outcome
            }
        };
        self.changed.notify_waiters();
        outcome
    }

    /// The remedy of a failure for which the receiver is said to be unavailable.
    fn failed(&self, reason: &str, at_least: Duration, sequence: u64, is_probe: bool) -> Remedy {
        let (mut state, now) = (self.state(), Instant::now());
        if state.failed.len() >= MAX_FAILED {
            state.failed.clear();
        }
        let taken = state.taken;
        if state
            .failed
            .insert(sequence, taken)
            .is_some_and(|before| before < taken)
            && state.pause.is_none()
        {
            return Remedy::Retry { at_least };
        }
        let pause = state.pause.get_or_insert_with(|| {
            self.paused.add(1, &self.channel);
            tracing::warn!(reason, "the receiver is unavailable; its events wait");
            let mut pause = Pause {
                since: now,
                until: now,
                is_probed: false,
                lengths: PAUSES.build(),
            };
            pause.lengthen(at_least, now);
            pause
        });
        if is_probe {
            pause.lengthen(at_least, now);
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
