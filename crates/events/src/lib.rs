//! Event types, channels, subjects and schemas: what the outside may know of the events, without I/O.
//!
//! Publishing and consuming is in `site-broker`.

pub mod attribution;
pub mod channel;
#[cfg(test)]
mod documents;
pub mod event;
#[cfg(test)]
mod fuzz;
pub mod headers;
pub mod sending;
pub mod subjects;

pub use attribution::Attribution;
pub use channel::Channel;
pub use event::{Event, EventData, EventType};
pub use sending::{IssueId, Sending};

/// The stream that holds every event.
pub const SITE_STREAM: &str = "SITE";
/// The stream that holds what could not be delivered.
pub const DEAD_LETTERS_STREAM: &str = "DEAD_LETTERS";
/// The stream of the newsletter's mails that are still to be sent (a work queue).
pub const SENDINGS_STREAM: &str = "SENDINGS";
/// The durable consumer of that stream.
pub const SENDINGS_CONSUMER: &str = "newsletter-sendings";
/// The durable consumer that hands an issue of the newsletter out to its subscribers.
pub const FAN_OUT_CONSUMER: &str = "newsletter-issue-fan-out";
/// The durable consumer that stops the newsletter for addresses that do not exist.
pub const SUPPRESSION_CONSUMER: &str = "newsletter-bounced-suppression";

/// The stream that a durable consumer reads.
pub fn stream_of(consumer: &str) -> &'static str {
    if consumer == SENDINGS_CONSUMER {
        SENDINGS_STREAM
    } else {
        SITE_STREAM
    }
}
