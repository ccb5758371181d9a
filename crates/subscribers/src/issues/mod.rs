//! Issues of the newsletter: progress, sending limits and outcomes.
//!
//! 1. `sitectl newsletter send` stores an [`IssueProgress`] and publishes the event that requests the issue.
//! 2. The newsletter service (`services/newsletter/src/fan_out.rs`) handles one such event at a time, in a
//!    single process. Each step reserves places in the [`LimitTable`] for the next recipients, publishes their
//!    mails to the work queue `SENDINGS` and stores its position.
//! 3. The notifiers (`services/notifier/src/sending.rs`) send the mails, unless the issue is paused or canceled
//!    or the subscriber left.
//!
//! **Duplicates.** Message ids derive from the issue and the subscription. After a kill, the newsletter service
//! repeats at most one step. The broker drops repeats within an hour by message id. Later, the notifiers skip
//! mails that have a delivery record. A notifier killed between sending and recording sends its mail again, with the same `Message-ID`.
//!
//! **Limits.** The [`LimitTable`] counts the mails that the queue accepted in the current second and day, so a
//! kill neither loses nor doubles a count. Mails that are pending at the start of a second or day count in
//! that second or day. The queue is short, to bound the backlog after an outage of the notifiers.

pub mod limits;
pub mod outcomes;
pub mod progress;
pub mod store;

pub use limits::{LimitTable, Queue, SendingLimits};
pub use outcomes::{Figures, Outcomes};
pub use progress::{IssueProgress, IssueState, PassedOver};
pub use store::Issues;
