//! A full stream rejects events, but leaves other streams their storage.

use async_nats::jetstream;
use serde_json::json;
use site_broker::{DELIVERIES_BUCKET, PublishError, Publisher, SUBSCRIBERS_BUCKET};
use site_events::{Channel, EventType, SITE_STREAM, event::ContactReceived, subjects};
use site_service::{RequestId, status::unavailable};
use testkit::{Nats, User};
use tonic::Status;

use crate::support::{fresh_id, message, operator, person, send};

/// Ten times as many events as fit into the smallest storage.
const FLOOD: usize = 10_000;

async fn small() -> anyhow::Result<Nats> {
    let nats = Nats::start().await?;
    nats.provision(&["--storage-mb=16"]).await?;
    Ok(nats)
}

async fn flood(nats: &Nats) -> anyhow::Result<Result<(), PublishError>> {
    let publisher = Publisher::new(nats.client(User::Contact).await?);
    let message = message(&"x".repeat(10_000))?;
    for _ in 0..FLOOD {
        if let Err(error) = send(&publisher, message.clone()).await? {
            return Ok(Err(error));
        }
    }
    Ok(Ok(()))
}

async fn filled(nats: &Nats, stream: &str) -> anyhow::Result<u64> {
    let stream = operator(nats).await?.get_stream(stream).await?;
    let info = stream.cached_info();
    Ok(info.state.bytes * 10_000 / u64::try_from(info.config.max_bytes)?)
}

#[tokio::test]
async fn the_shortest_events_fill_their_share_before_their_deliveries_do() -> anyhow::Result<()> {
    const FORMS: usize = 300;
    let nats = small().await?;
    let publisher = Publisher::new(nats.client(User::Contact).await?);
    let notifier = jetstream::new(nats.client(User::Notifier).await?);
    let deliveries = notifier.get_key_value(DELIVERIES_BUCKET).await?;
    let shortest = json!({ "name": "Z", "email": "z@x.io", "message": "x" });
    let shortest: ContactReceived = serde_json::from_value(shortest)?;
    let of_contact = |channel: &Channel| channel.event_type() == EventType::ContactReceived;
    let mails = Channel::ALL.into_iter().filter(of_contact).map(Channel::name);
    let consumers: Vec<&str> = mails.chain(["webhook-customers"]).collect();
    for _ in 0..FORMS {
        let (request, id) = (RequestId::fresh(), fresh_id());
        publisher
            .publish(&request, id, &person()?, shortest.clone())
            .await?;
        for consumer in &consumers {
            let delivered = "2026-11-24T03:38:00.123456789Z";
            deliveries
                .put(format!("{id}.{consumer}"), delivered.into())
                .await?;
        }
    }
    let events = filled(&nats, SITE_STREAM).await?;
    let records = filled(&nats, &format!("KV_{DELIVERIES_BUCKET}")).await?;
    assert!(
        records < events,
        "{records} of the deliveries' share, {events} of the events'"
    );
    Ok(())
}

#[tokio::test]
async fn a_full_stream_refuses_forms_but_not_dead_letters() -> anyhow::Result<()> {
    let nats = small().await?;
    let refused = flood(&nats).await?;
    assert!(matches!(refused, Err(PublishError::Refused(_))), "{refused:?}");
    let answer = Status::from(refused.expect_err("it was refused"));
    assert_eq!(answer.code(), unavailable("").code());

    let notifier = jetstream::new(nats.client(User::Notifier).await?);
    let dead = subjects::dead_letter(Channel::SalesLead.name(), "0123456789abcdef0123456789abcdef");
    notifier.publish(dead, "{}".into()).await?.await?;
    let deliveries = notifier.get_key_value(DELIVERIES_BUCKET).await?;
    deliveries.put("event.channel", "now".into()).await?;
    let newsletter = jetstream::new(nats.client(User::Newsletter).await?);
    let subscribers = newsletter.get_key_value(SUBSCRIBERS_BUCKET).await?;
    subscribers.put("somebody", "{}".into()).await?;
    Ok(())
}
