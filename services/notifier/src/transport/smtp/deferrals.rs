//! Deferrals in a row: a server that puts off one message after the other, and takes none between, is away, and that is no matter of
//! each of them.

use std::{
    collections::HashSet,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

/// So many that are put off one after the other.
const TOO_MANY: usize = 5;
/// For so long that is held for the server's matter, and then counted anew: were it that of five domains, whose mails are before all
/// others, these would never have their turn.
const HELD_FOR: Duration = Duration::from_secs(10 * 60);

/// What was put off since a message was taken: messages, or the domains that they were for.
#[derive(Default)]
pub struct Deferrals(Mutex<State>);

#[derive(Default)]
struct State {
    deferred: HashSet<String>,
    /// Since when they are too many.
    since: Option<Instant>,
}

/// What a message was put off for.
#[derive(Debug, PartialEq, Eq)]
pub enum Cause {
    /// Something of its own, or of its domain.
    Own,
    /// A server that takes nothing at present.
    Server,
}

impl Deferrals {
    /// Counts this one; no more are told apart than it takes.
    pub fn count(&self, what: &str) -> Cause {
        self.count_at(what, Instant::now())
    }

    fn count_at(&self, what: &str, now: Instant) -> Cause {
        let mut state = self.state();
        if state.since.is_some_and(|since| now - since >= HELD_FOR) {
            *state = State::default();
        }
        if state.deferred.len() < TOO_MANY {
            state.deferred.insert(what.to_owned());
        }
        if state.deferred.len() < TOO_MANY {
            return Cause::Own;
        }
        state.since.get_or_insert(now);
        Cause::Server
    }

    /// A message was taken.
    pub fn clear(&self) {
        *self.state() = State::default();
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_away_that_puts_off_five_different_ones_in_a_row() {
        let deferrals = Deferrals::default();
        for _ in 0..100 {
            assert_eq!(deferrals.count("slow.example"), Cause::Own);
        }
        for domain in ["a.example", "b.example", "c.example"] {
            assert_eq!(deferrals.count(domain), Cause::Own);
        }
        assert_eq!(deferrals.count("d.example"), Cause::Server);
        assert_eq!(deferrals.count("slow.example"), Cause::Server);
        deferrals.clear();
        assert_eq!(deferrals.count("slow.example"), Cause::Own);
    }

    #[test]
    fn what_is_held_for_the_servers_matter_is_counted_anew_after_a_while() {
        let (deferrals, then) = (Deferrals::default(), Instant::now());
        let count = |domain: u32, now| deferrals.count_at(&format!("{domain}.example"), now);
        let causes: Vec<Cause> = (0..6).map(|domain| count(domain, then)).collect();
        assert_eq!(causes[3..], [Cause::Own, Cause::Server, Cause::Server]);
        assert_eq!(count(0, then + HELD_FOR - Duration::from_secs(1)), Cause::Server);
        let causes: Vec<Cause> = (0..6).map(|domain| count(domain, then + HELD_FOR)).collect();
        assert_eq!(causes[3..], [Cause::Own, Cause::Server, Cause::Server]);
    }
}
