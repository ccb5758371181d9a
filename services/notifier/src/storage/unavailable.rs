//! A store of the broker is unavailable: the delivery is tried again.

/// A KV bucket or stream is unavailable.
#[derive(Debug, thiserror::Error)]
#[error("{store} is unavailable: {reason}")]
pub struct Unavailable {
    store: &'static str,
    reason: String,
}

impl Unavailable {
    /// The store, and the error of its use.
    pub fn new(store: &'static str, reason: &dyn std::fmt::Display) -> Self {
        Self {
            store,
            reason: reason.to_string(),
        }
    }
}
