//! Storage in the broker's KV buckets and its stream: deliveries, how many mails each visitor and our own people got, the state of webhook
//! endpoints, and the events themselves.

mod attempt_log;
mod claims;
mod counted_mails;
mod deliveries;
mod endpoint_states;
mod event_stream;
mod mail_counts;
mod person_order;
mod staff_mails;
mod unavailable;
mod under_way;
mod visitor_mails;

pub use self::{
    attempt_log::AttemptLog,
    deliveries::{Deliveries, Handover, LastDigest, Unsent},
    endpoint_states::EndpointStates,
    event_stream::EventStream,
    person_order::PersonOrder,
    staff_mails::{StaffMails, Way},
    unavailable::Unavailable,
    visitor_mails::{Allowance, VisitorMails},
};
