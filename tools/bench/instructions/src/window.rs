//! The window in which callgrind counts.

/// Callgrind counts from its beginning to its end, in all threads, and writes down what it counted. The bench knows it by its name.
#[inline(never)]
pub fn counted_window<T>(work: impl FnOnce() -> T) -> T {
    work()
}
