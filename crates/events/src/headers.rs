//! Headers that a dead letter has besides the headers of its event.

/// Why the last attempt failed.
pub const DEAD_LETTER_ERROR: &str = "Dead-Letter-Error";
/// Number of deliveries, deferrals included.
pub const DEAD_LETTER_ATTEMPTS: &str = "Dead-Letter-Attempts";
/// Time of dead-lettering (RFC 3339).
pub const DEAD_LETTER_TIME: &str = "Dead-Letter-Time";
