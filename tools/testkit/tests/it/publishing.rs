//! Publishing as a service does.

use async_nats::Client;
use site_broker::{PublishError, Publisher, Stored};
use site_events::{EventData, event::ContactReceived};
use site_service::RequestId;
use uuid::Uuid;
use visitor::{EmailAddress, PersonKey};

/// Publishes an event of Zoë's over this connection.
pub async fn publish_over(client: &Client) -> anyhow::Result<Result<Stored, PublishError>> {
    publish_submitted(client, Uuid::new_v4()).await
}

/// The same, under this idempotency key: what was not acknowledged may be stored all the same, and is stored once.
pub async fn publish_submitted(client: &Client, key: Uuid) -> anyhow::Result<Result<Stored, PublishError>> {
    let email = EmailAddress::parse("zoe@example.org")?;
    let person = PersonKey::new("a person key of thirty-two bytes or more")?.person(&email);
    let message = ContactReceived {
        name: "Zoë Müller".to_owned(),
        email,
        message: "Two cameras.".to_owned(),
        attribution: None,
    };
    let id = ContactReceived::TYPE.id_for(key);
    let request = RequestId::accept(Some("visit-0001"));
    let publisher = Publisher::new(client.clone());
    Ok(publisher.publish(&request, id, &person, message).await)
}
