//! Event types, channels, subjects and schemas, without I/O. `site-broker` publishes and consumes.

pub mod attribution;
pub mod channel;
#[cfg(test)]
mod documents;
pub mod event;
pub mod headers;
pub mod sending;
pub mod subjects;

pub use attribution::Attribution;
pub use channel::Channel;
pub use event::{Event, EventData, EventType};
pub use sending::{IssueId, Sending};

/// Stream of all events.
pub const SITE_STREAM: &str = "SITE";
/// Stream of dead letters.
pub const DEAD_LETTERS_STREAM: &str = "DEAD_LETTERS";
/// Work queue of newsletter mails.
pub const SENDINGS_STREAM: &str = "SENDINGS";
/// Durable consumer of `SENDINGS`.
pub const SENDINGS_CONSUMER: &str = "newsletter-sendings";
/// Durable consumer that queues the mails of an issue.
pub const FAN_OUT_CONSUMER: &str = "newsletter-issue-fan-out";
/// Durable consumer that suppresses bounced addresses.
pub const SUPPRESSION_CONSUMER: &str = "newsletter-bounced-suppression";

/// Stream that a durable consumer reads.
pub fn stream_of(consumer: &str) -> &'static str {
    if consumer == SENDINGS_CONSUMER {
        SENDINGS_STREAM
    } else {
        SITE_STREAM
    }
}
