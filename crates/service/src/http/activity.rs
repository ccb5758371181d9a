//! Activity of a connection: whether a request is in flight, and since when there is none.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::{Instant, sleep};

use super::limits::Deadlines;

/// Requests of one connection.
#[derive(Debug)]
pub(super) struct Activity(Mutex<State>);

#[derive(Debug)]
struct State {
    in_flight: usize,
    /// When the last request ended; before the first one, when the connection began.
    quiet_since: Instant,
    was_asked: bool,
}

impl Activity {
    /// That of a connection that just began.
    pub fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(State {
            in_flight: 0,
            quiet_since: Instant::now(),
            was_asked: false,
        })))
    }

    /// A request that is in flight until this is dropped.
    pub fn begin(self: &Arc<Self>) -> InFlight {
        let mut state = self.state();
        state.in_flight += 1;
        state.was_asked = true;
        InFlight(Arc::clone(self))
    }

    /// Waits until nothing was asked for as long as the deadlines allow: for the first request, or after one.
    pub async fn ceases(&self, deadlines: Deadlines) {
        while let Some(left) = self.left(deadlines) {
            sleep(left).await;
        }
    }

    /// How much time is left, if nothing is asked until then.
    fn left(&self, deadlines: Deadlines) -> Option<Duration> {
        let state = self.state();
        let limit = if state.was_asked {
            deadlines.idle
        } else {
            deadlines.head
        };
        if state.in_flight > 0 {
            return Some(limit);
        }
        limit
            .checked_sub(state.quiet_since.elapsed())
            .filter(|left| !left.is_zero())
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request in flight, from its head to the end of its answer.
#[derive(Debug)]
pub(super) struct InFlight(Arc<Activity>);

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.in_flight -= 1;
        state.quiet_since = Instant::now();
    }
}
