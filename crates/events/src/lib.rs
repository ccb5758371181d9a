//! The events of the site: what they hold, how they are published so that none is
//! lost, and how they are consumed so that each is dealt with.

pub mod attribution;
pub mod channel;
pub mod consume;
pub mod dead_letters;
pub mod documents;
pub mod endpoints;
pub mod event;
mod metrics;
pub mod provision;
pub mod publish;
mod retries;
pub mod subjects;

pub use attribution::Attribution;
pub use channel::Channel;
pub use consume::{Delivery, Outcome};
pub use endpoints::{Endpoint, Endpoints};
pub use event::{Event, EventData, EventType};
pub use provision::{Desired, Provision, provision};
pub use publish::{PublishError, Publisher, Stored};
pub use retries::RetryPolicy;

/// The stream that holds every event.
pub const SITE: &str = "SITE";
/// The stream that holds what could not be delivered.
pub const DEAD_LETTERS: &str = "DEAD_LETTERS";
/// The durable consumer of dead letters that the operator is told of.
pub const DIGEST: &str = "operator-digest";
/// The KV bucket of newsletter subscribers, by person.
pub const SUBSCRIBERS: &str = "subscribers";
/// The consumer that stops the newsletter for addresses that do not exist.
pub const SUPPRESSION: &str = "newsletter-bounced-suppression";
/// The KV bucket of how the endpoints of webhooks fare, by their name.
pub const ENDPOINTS: &str = "endpoints";
/// The KV bucket of what was already delivered, by `<event id>.<channel>`.
pub const DELIVERIES: &str = "deliveries";
