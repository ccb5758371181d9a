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
pub mod subjects;

pub use attribution::Attribution;
pub use channel::Channel;
pub use event::{Event, EventData, EventType};

/// The stream that holds every event.
pub const SITE_STREAM: &str = "SITE";
/// The stream that holds what could not be delivered.
pub const DEAD_LETTERS_STREAM: &str = "DEAD_LETTERS";
/// The durable consumer that stops the newsletter for addresses that do not exist.
pub const SUPPRESSION_CONSUMER: &str = "newsletter-bounced-suppression";
