//! Events and consumers of these tests.

use std::time::Duration;

use async_nats::jetstream::{self, Context, consumer::pull};
use site_broker::{PublishError, Publisher, Stored};
use site_events::{EventData, SITE_STREAM, event::ContactReceived};
use site_service::RequestId;
use testkit::{Nats, User};
use time::OffsetDateTime;
use uuid::Uuid;
use visitor::{EmailAddress, PersonId, PersonKey};

/// Timeout for anything on a busy machine, shorter than the ack wait.
pub const SOON: Duration = Duration::from_secs(45);
pub const REQUEST: &str = "01a20025-9c5f-742b-90b1-ce5b530933f2";

pub fn person() -> anyhow::Result<PersonId> {
    let key = PersonKey::new("a person key of thirty-two bytes or more")?;
    Ok(key.person(&EmailAddress::parse("zoe@example.org")?))
}

pub fn message(text: &str) -> anyhow::Result<ContactReceived> {
    Ok(ContactReceived {
        name: "Zoë Müller".to_owned(),
        email: EmailAddress::parse("zoe@example.org")?,
        message: text.to_owned(),
        ..EventData::sample(OffsetDateTime::UNIX_EPOCH)
    })
}

pub async fn send(
    publisher: &Publisher,
    message: ContactReceived,
) -> anyhow::Result<Result<Stored, PublishError>> {
    let request = RequestId::accept(Some(REQUEST));
    let id = fresh_id();
    Ok(publisher.publish(&request, id, &person()?, message).await)
}

pub fn fresh_id() -> Uuid {
    ContactReceived::TYPE.id_for(Uuid::new_v4())
}

pub async fn publish(nats: &Nats) -> anyhow::Result<()> {
    let publisher = Publisher::new(nats.client(User::Operator).await?);
    send(&publisher, message("Two cameras.")?).await??;
    Ok(())
}

pub async fn operator(nats: &Nats) -> anyhow::Result<Context> {
    Ok(jetstream::new(nats.client(User::Operator).await?))
}

/// Creates the reader's consumer as docs/events.md says.
pub async fn create_the_consumer(nats: &Nats) -> anyhow::Result<()> {
    let config = pull::Config {
        durable_name: Some("reader".to_owned()),
        filter_subject: "site.>".to_owned(),
        ..Default::default()
    };
    let operator = operator(nats).await?;
    operator.create_consumer_on_stream(config, SITE_STREAM).await?;
    Ok(())
}
