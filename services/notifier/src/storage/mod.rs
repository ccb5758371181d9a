//! Access to the KV buckets and the event stream of the broker.

mod counted_mails;
mod deliveries;
mod endpoint_records;
mod event_stream;
mod in_progress;
mod issue_events;
mod person_order;
mod visitor_mails;

pub use self::{
    deliveries::{Deliveries, Handover, NotSent},
    endpoint_records::EndpointRecords,
    event_stream::EventStream,
    issue_events::{IssueEvent, IssueEvents},
    person_order::PersonOrder,
    visitor_mails::{Allowance, VisitorMails},
};
