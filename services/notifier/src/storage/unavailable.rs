//! The broker's stores cannot be used now: the delivery is tried again.

/// A bucket cannot be used now.
#[derive(Debug, thiserror::Error)]
#[error("the bucket {bucket} is away: {reason}")]
pub struct Unavailable {
    bucket: &'static str,
    reason: String,
}

impl Unavailable {
    /// A bucket, and what was said when it was used.
    pub fn new(bucket: &'static str, reason: &dyn std::fmt::Display) -> Self {
        Self {
            bucket,
            reason: reason.to_string(),
        }
    }
}
