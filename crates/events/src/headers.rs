//! Headers that a dead letter adds to the event's own.

/// Why the last attempt failed.
pub const DEAD_LETTER_ERROR: &str = "Dead-Letter-Error";
/// Number of attempts.
pub const DEAD_LETTER_ATTEMPTS: &str = "Dead-Letter-Attempts";
/// Time of dead-lettering (RFC 3339).
pub const DEAD_LETTER_TIME: &str = "Dead-Letter-Time";
