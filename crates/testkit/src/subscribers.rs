//! Confirmed subscribers of the newsletter, as many as a test wants.

use async_nats::jetstream::{self, context::PublishAckFuture};
use site_broker::SUBSCRIBERS_BUCKET;
use subscribers::Subscriber;
use time::{Duration, OffsetDateTime};
use uuid::Uuid;
use visitor::{EmailAddress, PersonId, PersonKey};

use crate::{Nats, User};

/// How many records are on their way at once.
const AT_ONCE: usize = 500;

/// Somebody who gets the newsletter.
#[derive(Debug, Clone)]
pub struct SeededSubscriber {
    /// Where.
    pub email: EmailAddress,
    /// Under which id.
    pub person: PersonId,
    /// Their record.
    pub record: Subscriber,
}

/// Has these addresses subscribed, each since an hour, under ids by this key.
pub async fn seed_subscribers(
    nats: &Nats,
    person_key: &str,
    addresses: impl IntoIterator<Item = String>,
) -> anyhow::Result<Vec<SeededSubscriber>> {
    let context = jetstream::new(nats.client(User::Operator).await?);
    let key = PersonKey::new(person_key)?;
    let since = OffsetDateTime::now_utc() - Duration::HOUR;
    let (mut seeded, mut on_their_way) = (Vec::new(), Vec::with_capacity(AT_ONCE));
    for address in addresses {
        let email = EmailAddress::parse(&address)?;
        let person = key.person(&email);
        let record = Subscriber::imported(email.clone(), None, since, Uuid::new_v4());
        let subject = format!("$KV.{SUBSCRIBERS_BUCKET}.{person}");
        let payload = serde_json::to_vec(&record)?;
        on_their_way.push(context.publish(subject, payload.into()).await?);
        if on_their_way.len() == AT_ONCE {
            arrived(&mut on_their_way).await?;
        }
        seeded.push(SeededSubscriber {
            email,
            person,
            record,
        });
    }
    arrived(&mut on_their_way).await?;
    Ok(seeded)
}

async fn arrived(on_their_way: &mut Vec<PublishAckFuture>) -> anyhow::Result<()> {
    for ack in on_their_way.drain(..) {
        ack.await?;
    }
    Ok(())
}
