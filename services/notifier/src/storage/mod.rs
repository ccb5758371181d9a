//! Storage in the broker's KV buckets and its stream: deliveries, how many mails each visitor got, the state of webhook
//! endpoints, the newsletter's issues, and the events themselves.

mod attempt_log;
mod counted_mails;
mod deliveries;
mod endpoint_states;
mod event_stream;
mod issue_events;
mod person_order;
mod shared_entry;
mod under_way;
mod visitor_mails;

pub use self::{
    attempt_log::AttemptLog,
    deliveries::{Deliveries, Handover, NotSent},
    endpoint_states::EndpointStates,
    event_stream::EventStream,
    issue_events::{IssueEvent, IssueEvents},
    person_order::PersonOrder,
    visitor_mails::{Allowance, VisitorMails},
};
