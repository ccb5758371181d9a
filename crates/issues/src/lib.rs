//! Issues of the newsletter: progress, sending limits and outcomes.
//!
//! 1. `sitectl newsletter send` stores an [`IssueProgress`] and publishes the event that requests the issue.
//! 2. The newsletter service queues the mails (`services/newsletter/src/fan_out.rs`). The broker delivers one
//!    event at a time, so a single process decides what goes out. Each step reads the issue's state and reserves
//!    a place in the [`LimitTable`] for each of the next recipients. Then it publishes their mails to the work
//!    queue `SENDINGS` and stores its position.
//! 3. The notifiers send the mails (`services/notifier/src/sending.rs`), unless the issue is paused or canceled
//!    or the subscriber left.
//!
//! **Duplicates.** A message id derives from the issue and the subscription. A killed loop resumes at its stored
//! position and repeats one step at most. The broker drops the repeats by message id, or the notifiers by
//! delivery record. A notifier killed between sending and recording sends that mail again, with the same
//! `Message-ID`.
//!
//! **Limits.** The table has a window for the second, the hour and the day. It counts what the queue accepted
//! since the window began, so a kill neither loses nor doubles a count. Pending mails count in each new window,
//! too. The loop keeps the queue short, to bound the backlog after an outage of the notifiers.
//!
//! **Figures.** [`Outcomes`] counts the delivery records.

pub mod limits;
pub mod outcomes;
pub mod progress;
pub mod store;

pub use limits::{LimitTable, Queue, SendingLimits};
pub use outcomes::{Figures, Outcomes};
pub use progress::{IssueProgress, IssueState, PassedOver};
pub use store::{Entry, Issues};
