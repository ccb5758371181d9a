//! Publishing without a connection or a leader, and duplicate submissions.

use std::time::Duration;

use anyhow::Context as _;
use async_nats::{connection::State, jetstream};
use futures_util::StreamExt as _;
use site_broker::{PublishError, Publisher, Records, SUBSCRIBERS_BUCKET, Stored, buckets::open_bucket};
use site_events::SITE_STREAM;
use site_service::{
    RequestId,
    idempotency::KeyBinding,
    nats::{NatsSettings, connect},
};
use testkit::{Nats, TcpProxy, User, eventually};
use tokio::{join, time::sleep};
use uuid::Uuid;

use crate::support::{fresh_id, message, operator, person, send};

const SOON: Duration = Duration::from_secs(10);
/// Duration of an orderly leader change on a busy machine.
const WITHOUT_LEADER: Duration = Duration::from_millis(300);

async fn publish(publisher: &Publisher) -> anyhow::Result<Result<Stored, PublishError>> {
    send(publisher, message("One camera.")?).await
}

#[tokio::test]
async fn an_event_waits_briefly_for_the_connection() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let url = nats.url();
    let (_, port) = url.rsplit_once(':').context("a port")?;
    let proxy = TcpProxy::start(port.parse()?).await?;
    let settings = NatsSettings {
        nats_url: format!("nats://127.0.0.1:{}", proxy.port),
        nats_user: Some(User::Contact.name()),
        nats_password: Some(nats.password_of(User::Contact).to_owned().into()),
        nats_password_file: None,
        nats_credentials: None,
        nats_credentials_file: None,
        nats_ca_file: None,
    };
    let client = connect(&settings, &User::Contact.name()).await?;
    let publisher = Publisher::new(client.clone());
    let disconnected = async || {
        proxy.cut();
        eventually("the connection is gone", SOON, async || {
            (client.connection_state() == State::Disconnected).then_some(())
        })
        .await
    };
    disconnected().await?;
    proxy.restore();
    assert!(matches!(publish(&publisher).await?, Ok(Stored::New)));

    disconnected().await?;
    let refused = tokio::time::timeout(SOON, publish(&publisher)).await??;
    assert!(matches!(refused, Err(PublishError::NotConnected)), "{refused:?}");
    Ok(())
}

/// Deletes and recreates the stream. A publish in between gets no ack.
async fn without_leader(nats: &Nats, stream: &str) -> anyhow::Result<()> {
    operator(nats).await?.delete_stream(stream).await?;
    sleep(WITHOUT_LEADER).await;
    nats.provision(&[]).await
}

#[tokio::test]
async fn writes_wait_briefly_for_a_leader() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let publisher = Publisher::new(nats.client(User::Contact).await?);
    let published = async {
        sleep(WITHOUT_LEADER / 2).await;
        publish(&publisher).await
    };
    let (led, published) = join!(without_leader(&nats, SITE_STREAM), published);
    led?;
    assert!(matches!(published?, Ok(Stored::New)));

    let newsletter = jetstream::new(nats.client(User::Newsletter).await?);
    let records = Records::new(&newsletter, open_bucket(&newsletter, SUBSCRIBERS_BUCKET).await?);
    let written = async {
        sleep(WITHOUT_LEADER / 2).await;
        records.write("somebody", &"a record", 0, None).await
    };
    let stream = format!("KV_{SUBSCRIBERS_BUCKET}");
    let (led, written) = join!(without_leader(&nats, &stream), written);
    led?;
    assert_eq!(written?, 1);

    operator(&nats).await?.delete_stream(SITE_STREAM).await?;
    let refused = publish(&publisher).await?;
    assert!(matches!(refused, Err(PublishError::Refused(_))), "{refused:?}");
    Ok(())
}

#[tokio::test]
async fn an_unacknowledged_event_is_published_again() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let publisher = Publisher::new(nats.client(User::Contact).await?);
    let leader = nats.client(User::Operator).await?;
    jetstream::new(leader.clone()).delete_stream(SITE_STREAM).await?;
    let mut taken = leader.subscribe("site.contact.received.*").await?;
    leader.flush().await?;
    let leading = async {
        let lost = taken.next().await.context("the event")?;
        let again = taken.next().await.context("the event again")?;
        let reply = again.reply.clone().context("an acknowledgement is wanted")?;
        leader
            .publish(reply, r#"{"stream":"SITE","seq":1}"#.into())
            .await?;
        anyhow::ensure!(again.headers == lost.headers && again.payload == lost.payload);
        Ok(())
    };
    let (led, published) = join!(leading, publish(&publisher));
    led?;
    assert!(matches!(published?, Ok(Stored::New)));
    Ok(())
}

#[tokio::test]
async fn a_duplicate_of_an_erased_submission_is_refused() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let publisher = Publisher::new(nats.client(User::Contact).await?);
    let (request, person) = (RequestId::fresh(), person()?);
    let submit = async |id: Uuid, text: &str| {
        let binding = KeyBinding::Content;
        let submitted = publisher.publish_submission(&request, id, &person, message(text)?, binding);
        anyhow::Ok(submitted.await?)
    };
    let (first, second) = (fresh_id(), fresh_id());
    assert_eq!(submit(first, "One camera.").await?, Stored::New);
    assert_eq!(submit(second, "Two cameras.").await?, Stored::New);
    assert_eq!(submit(first, "One camera.").await?, Stored::Duplicate);
    let site = operator(&nats).await?.get_stream(SITE_STREAM).await?;
    site.delete_message(1).await?;
    let refused = submit(first, "One camera.").await.err();
    let refused = refused.and_then(|error| error.downcast::<PublishError>().ok());
    assert!(matches!(refused, Some(PublishError::KeyReused)), "{refused:?}");
    Ok(())
}
