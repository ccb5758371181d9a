//! Headers of dead letters, beside those that the event had.

/// Why the last attempt failed.
pub const DEAD_LETTER_ERROR: &str = "Dead-Letter-Error";
/// How often delivery was tried.
pub const DEAD_LETTER_ATTEMPTS: &str = "Dead-Letter-Attempts";
/// When it was given up (RFC 3339).
pub const DEAD_LETTER_TIME: &str = "Dead-Letter-Time";
