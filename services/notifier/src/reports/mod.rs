//! Reports about deliveries: dead letters to the operator, the backlog as metrics, and bounces to the newsletter
//! service.

mod backlog;
mod bounces;
mod digest;

pub use self::{
    backlog::Backlog,
    bounces::publish_bounce,
    digest::{DeadLetterDigest, consumer as digest_consumer},
};
