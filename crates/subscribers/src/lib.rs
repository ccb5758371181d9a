//! The newsletter's subscribers: one record per person in a KV bucket, changed by compare-and-set.
//!
//! [`subscriber`], [`state`] and [`audience`] hold the rules without I/O; [`store`] is the bucket. The
//! newsletter service and the operator's tool share this crate, so that the tool depends on no service.

pub mod audience;
pub mod issues;
pub mod state;
pub mod store;
pub mod subscriber;

pub use state::State;
pub use store::Subscribers;
pub use subscriber::{Consent, Subscriber};
