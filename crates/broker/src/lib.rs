//! NATS JetStream: acknowledged publishing, durable consumers, retries, dead letters, provisioning.

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

/// Durable consumer of dead letters, for the operator's digest.
pub const DIGEST_CONSUMER: &str = "operator-digest";
/// KV bucket of newsletter subscribers, by person.
pub const SUBSCRIBERS_BUCKET: &str = "subscribers";
/// KV bucket of webhook endpoints' states and attempts, by endpoint name.
pub const ENDPOINTS_BUCKET: &str = "endpoints";
/// KV bucket of delivery records, by `<event id>.<channel>`.
pub const DELIVERIES_BUCKET: &str = "deliveries";
/// Prefix of the record of a withheld mail. A mail is withheld if the visitor reached a daily limit.
pub const WITHHELD: &str = "withheld";
/// Prefix of a rejected newsletter mail's record.
pub const REFUSED: &str = "refused";
/// Suffix of the record of a dead-lettered webhook, so that the person's later webhooks do not wait for it.
pub const GIVEN_UP_SUFFIX: &str = "_given-up";
/// KV bucket of the mails to each visitor within a day, by inbox.
pub const VISITOR_MAILS_BUCKET: &str = "visitor-mails";
/// KV bucket of newsletter issues: `issue.<id>` holds progress, `limits` the table of limits.
pub const ISSUES_BUCKET: &str = "newsletter-issues";
/// KV bucket of résumés whose event is not stored yet, by `<person>.<application>`.
pub const UPLOADS_BUCKET: &str = "uploads";
