//! Issues of the newsletter: their progress, and the limits of what may go out.
//!
//! 1. `sitectl newsletter send` notes the issue as an [`IssueProgress`] and publishes the event that asks for it.
//! 2. The newsletter service runs one loop (`services/newsletter/src/fan_out.rs`). The broker gives it one event at a time, whatever the
//!    number of its processes, so that one process decides what goes out. Each step reads the issue's state, goes through the next
//!    subscribers, takes a place in the [`LimitTable`] for each whom the issue reaches, puts one message for each into the work queue
//!    `SENDINGS`, and writes the new position.
//! 3. The notifiers send each message like any other mail (`services/notifier/src/sending.rs`), unless the issue is paused or canceled, or
//!    the subscriber left.
//!
//! **Each person once.** The id of a message is made of the issue and the subscription. A loop that is killed goes on behind the position
//! that it wrote, and repeats one step at most. The broker drops the repeated messages by their ids, or the notifiers do by their delivery
//! records. A notifier that is killed between sending and recording sends that mail again, with the same `Message-ID`.
//!
//! **Limits.** The table has a window for the second, the hour and the day. What the queue took since a window began is spent, so a kill
//! spends nothing twice and loses nothing. Messages that no notifier has taken when a window begins count in that one, too. The loop
//! keeps the queue short, so that notifiers that were unavailable find no backlog that goes beyond the limits.
//!
//! **Figures.** Delivery records say what came of each mail; [`Outcomes`] counts them.

pub mod limits;
pub mod outcomes;
pub mod progress;
pub mod store;

pub use limits::{LimitTable, Queue, SendingLimits};
pub use outcomes::{Figures, Outcomes};
pub use progress::{IssueProgress, IssueState, PassedOver};
pub use store::{Entry, Issues};
