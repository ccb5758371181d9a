//! The broker, NATS JetStream: publishing with acknowledgement, durable consumers, retries, dead letters, provisioning.

pub mod buckets;
pub mod consume;
mod consumer_pause;
pub mod dead_letters;
mod delivery;
mod elections;
pub mod endpoint_state;
pub mod endpoints;
mod failure;
mod metrics;
mod person_key;
pub mod provision;
pub mod publish;
mod pull;
mod records;
mod retries;
mod stream_reader;

pub use delivery::{Delivery, Outcome};
pub use endpoints::{Endpoint, Endpoints};
pub use failure::{Failure, Remedy};
pub use person_key::{PersonKeyError, ensure_person_key, person_key_dependency};
pub use provision::{Desired, ProvisionSettings, provision};
pub use publish::{PublishError, Publisher, Stored};
pub use records::{Record, RecordError, Records};
pub use retries::RetryPolicy;
pub use stream_reader::{Messages, ReadError, StreamReader};

/// The durable consumer of dead letters that the operator is told of.
pub const DIGEST_CONSUMER: &str = "operator-digest";
/// The KV bucket of newsletter subscribers, by person.
pub const SUBSCRIBERS_BUCKET: &str = "subscribers";
/// The KV bucket of the state of webhook endpoints, by their name.
pub const ENDPOINTS_BUCKET: &str = "endpoints";
/// The KV bucket of what was already delivered, by `<event id>.<channel>`.
pub const DELIVERIES_BUCKET: &str = "deliveries";
/// How the record of a mail begins that was withheld: the visitor got too many of its kind within a day.
pub const WITHHELD: &str = "withheld";
/// How the record of a mail of the newsletter begins that the mail server refused.
pub const REFUSED: &str = "refused";
/// How the key ends under which it is recorded that a webhook is given up: the person's later ones wait no longer for it.
pub const GIVEN_UP_SUFFIX: &str = "_given-up";
/// The KV bucket of the mails that each visitor got within a day, by inbox.
pub const VISITOR_MAILS_BUCKET: &str = "visitor-mails";
/// The KV bucket of the newsletter's issues: `issue.<id>` is how far one is, `limits` how many mails of all may go out.
pub const ISSUES_BUCKET: &str = "newsletter-issues";
/// The KV bucket of résumés whose event is not stored yet, by `<person>.<application>`.
pub const UPLOADS_BUCKET: &str = "uploads";
