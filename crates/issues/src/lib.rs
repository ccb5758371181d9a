//! The newsletter's issues: how far one is, and the ledger of what was sent of all.
//!
//! [`progress`] and [`ledger`] hold the rules, without I/O; [`store`] the bucket that both lie in, and [`clock`] the time by which the
//! ledger counts.
//!
//! A crate of its own because three work with it: the newsletter service hands issues out, the notifier sends their mails, and the
//! operator's tool begins, pauses and ends them.

pub mod clock;
pub mod ledger;
pub mod progress;
pub mod store;

pub use clock::BrokerClock;
pub use ledger::{CLAIM_HOLDS, Claim, Figures, Ledger, Outcome, PutOff, SendingLimits};
pub use progress::{IssueProgress, IssueState, PassedOver};
pub use store::{Entry, IssueStoreError, Issues};
