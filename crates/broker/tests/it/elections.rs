//! A stream that nobody leads for a moment, as while its servers elect another leader.

use std::time::Duration;

use async_nats::jetstream;
use bytes::Bytes;
use site_broker::{
    PublishError, Publisher, SUBSCRIBERS_BUCKET, Stored,
    buckets::{claim_key, open_bucket},
};
use site_events::{EventData, SITE_STREAM, event::ContactReceived};
use site_service::RequestId;
use testkit::{Nats, User};
use tokio::{join, time::sleep};
use uuid::Uuid;
use visitor::EmailAddress;

use crate::readers::person;

/// As long as an orderly change takes on a busy machine.
const WITHOUT_LEADER: Duration = Duration::from_millis(300);

/// Takes a stream away, so that nobody takes what is sent to it, and puts it back.
async fn without_leader(nats: &Nats, stream: &str) -> anyhow::Result<()> {
    let operator = jetstream::new(nats.client(User::Operator).await?);
    operator.delete_stream(stream).await?;
    sleep(WITHOUT_LEADER).await;
    nats.provision().await
}

#[tokio::test]
async fn an_event_waits_a_moment_for_a_leader_and_not_for_ever() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let publisher = Publisher::new(nats.client(User::Contact).await?);
    let (request, person) = (RequestId::accept(Some("visit-0001")), person()?);
    let publish = async || {
        let received = ContactReceived {
            name: "Zoë Müller".to_owned(),
            email: EmailAddress::parse("zoe@example.org")?,
            message: "One camera.".to_owned(),
            attribution: None,
        };
        let id = ContactReceived::TYPE.id_for(Uuid::new_v4());
        anyhow::Ok(publisher.publish(&request, id, &person, received).await)
    };
    let published = async {
        sleep(WITHOUT_LEADER / 2).await;
        publish().await
    };
    let (led, published) = join!(without_leader(&nats, SITE_STREAM), published);
    led?;
    assert!(matches!(published?, Ok(Stored::New)));

    let operator = jetstream::new(nats.client(User::Operator).await?);
    operator.delete_stream(SITE_STREAM).await?;
    let refused = publish().await?;
    assert!(matches!(refused, Err(PublishError::Refused(_))), "{refused:?}");
    Ok(())
}

#[tokio::test]
async fn an_entry_of_a_bucket_waits_a_moment_for_a_leader() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let context = jetstream::new(nats.client(User::Newsletter).await?);
    let bucket = open_bucket(&context, SUBSCRIBERS_BUCKET).await?;
    let claimed = async {
        sleep(WITHOUT_LEADER / 2).await;
        let lifetime = Duration::from_secs(60);
        claim_key(
            &context,
            &bucket,
            "somebody",
            &Bytes::from_static(b"{}"),
            lifetime,
        )
        .await
    };
    let stream = format!("KV_{SUBSCRIBERS_BUCKET}");
    let (led, claimed) = join!(without_leader(&nats, &stream), claimed);
    led?;
    assert_eq!(claimed?, Some(1));
    Ok(())
}
