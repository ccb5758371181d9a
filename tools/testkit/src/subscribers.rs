//! Confirmed newsletter subscribers for tests.

use async_nats::jetstream::{self, message::PublishMessage};
use site_broker::SUBSCRIBERS_BUCKET;
use subscribers::Subscriber;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;
use visitor::{EmailAddress, PersonId, PersonKey};

use crate::{Nats, User, publishing::publish_all};

/// Seeded subscriber.
#[derive(Debug, Clone)]
pub struct SeededSubscriber {
    /// Address.
    pub email: EmailAddress,
    /// Person id.
    pub person: PersonId,
    /// Stored record.
    pub record: Subscriber,
}

/// Stores subscriptions confirmed an hour ago, with person ids by this key.
pub async fn seed_subscribers(
    nats: &Nats,
    person_key: &str,
    addresses: impl IntoIterator<Item = String>,
) -> anyhow::Result<Vec<SeededSubscriber>> {
    let context = jetstream::new(nats.client(User::Operator).await?);
    let key = PersonKey::new(person_key)?;
    let since = OffsetDateTime::now_utc() - Duration::HOUR;
    let seeded = addresses.into_iter().map(|address| {
        let email = EmailAddress::parse(&address)?;
        Ok(SeededSubscriber {
            person: key.person(&email),
            record: Subscriber::imported(email.clone(), None, since, Uuid::new_v4()),
            email,
        })
    });
    let seeded: Vec<SeededSubscriber> = seeded.collect::<anyhow::Result<_>>()?;
    let records = seeded.iter().map(|seeded| {
        let subject = format!("$KV.{SUBSCRIBERS_BUCKET}.{}", seeded.person);
        let payload = serde_json::to_vec(&seeded.record)?;
        Ok((subject, PublishMessage::build().payload(payload.into())))
    });
    publish_all(&context, records).await?;
    Ok(seeded)
}
