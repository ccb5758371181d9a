//! How often attackers began something.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

/// Counts for all of them.
#[derive(Clone, Default)]
pub struct Attempts(Arc<AtomicUsize>);

impl Attempts {
    /// One more.
    pub fn add(&self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// How many there were.
    pub fn count(&self) -> usize {
        self.0.load(Ordering::Relaxed)
    }
}
