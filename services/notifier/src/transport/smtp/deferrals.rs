//! Deferrals in a row: a server that puts off one message after the other, and takes none between, is away, and that is no matter of
//! each of them.

use std::{
    collections::HashSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

/// So many that are put off one after the other.
const TOO_MANY: usize = 5;

/// What was put off since a message was taken: messages, or the domains that they were for.
#[derive(Default)]
pub struct Deferrals(Mutex<HashSet<String>>);

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
        let mut deferred = self.deferred();
        if deferred.len() < TOO_MANY {
            deferred.insert(what.to_owned());
        }
        if deferred.len() < TOO_MANY {
            Cause::Own
        } else {
            Cause::Server
        }
    }

    /// A message was taken.
    pub fn clear(&self) {
        self.deferred().clear();
    }

    fn deferred(&self) -> MutexGuard<'_, HashSet<String>> {
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
}
