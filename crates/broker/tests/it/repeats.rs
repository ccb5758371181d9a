//! A repeat of a submission after another one of the same person.

use async_nats::jetstream;
use site_broker::{PublishError, Publisher, Stored};
use site_events::{EventData, SITE_STREAM, event::ContactReceived};
use site_service::{RequestId, idempotency::KeyBinding};
use testkit::{Nats, User};
use uuid::Uuid;
use visitor::EmailAddress;

use crate::readers::person;

#[tokio::test]
async fn one_that_was_erased_meanwhile_is_not_taken_for_stored() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let publisher = Publisher::new(nats.client(User::Contact).await?);
    let (request, person) = (RequestId::fresh(), person()?);
    let [first, second] = ["One camera.", "Two cameras."].map(|message| {
        let id = ContactReceived::TYPE.id_for(Uuid::new_v4());
        (id, message.to_owned())
    });
    let email = EmailAddress::parse("zoe@example.org")?;
    let send = async |(id, message): (Uuid, String)| {
        let received = ContactReceived {
            name: "Zoë Müller".to_owned(),
            email: email.clone(),
            message,
            attribution: None,
        };
        publisher
            .publish_submission(&request, id, &person, received, KeyBinding::Content)
            .await
    };
    assert_eq!(send(first.clone()).await?, Stored::New);
    assert_eq!(send(second).await?, Stored::New);
    assert_eq!(send(first.clone()).await?, Stored::Duplicate);
    let operator = jetstream::new(nats.client(User::Operator).await?);
    operator.get_stream(SITE_STREAM).await?.delete_message(1).await?;
    let again = send(first).await;
    assert!(matches!(again, Err(PublishError::KeyReused)), "{again:?}");
    Ok(())
}
