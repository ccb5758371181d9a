//! What is remembered, in the broker's buckets and its stream: deliveries, the state of webhook endpoints, and the events
//! themselves.

mod deliveries;
mod endpoint_states;
mod events;
mod unavailable;

pub use self::{
    deliveries::{Deliveries, LastDigest},
    endpoint_states::EndpointStates,
    events::Events,
    unavailable::Unavailable,
};
