//! Storage in the broker's KV buckets and its stream: deliveries, the state of webhook endpoints, and the events
//! themselves.

mod deliveries;
mod endpoint_states;
mod event_stream;
mod unavailable;
mod under_way;

pub use self::{
    deliveries::{Deliveries, Handover, LastDigest, Unsent},
    endpoint_states::EndpointStates,
    event_stream::EventStream,
    unavailable::Unavailable,
};
