//! Publishing while a stream has no leader, as during an election.

use std::time::Duration;

use anyhow::Context;
use async_nats::jetstream;
use bytes::Bytes;
use futures_util::StreamExt;
use site_broker::{
    PublishError, Publisher, SUBSCRIBERS_BUCKET, Stored,
    buckets::{open_bucket, write_entry},
};
use site_events::SITE_STREAM;
use testkit::{Nats, User};
use tokio::{join, time::sleep};

use crate::reconnecting::publish;

/// Duration of an orderly leader change on a busy machine.
const WITHOUT_LEADER: Duration = Duration::from_millis(300);

/// Deletes and recreates the stream. In between nothing acks a publish.
async fn without_leader(nats: &Nats, stream: &str) -> anyhow::Result<()> {
    let operator = jetstream::new(nats.client(User::Operator).await?);
    operator.delete_stream(stream).await?;
    sleep(WITHOUT_LEADER).await;
    nats.provision(&[]).await
}

#[tokio::test]
async fn an_event_waits_a_moment_for_a_leader_and_not_for_ever() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let publisher = Publisher::new(nats.client(User::Contact).await?);
    let published = async {
        sleep(WITHOUT_LEADER / 2).await;
        publish(&publisher).await
    };
    let (led, published) = join!(without_leader(&nats, SITE_STREAM), published);
    led?;
    assert!(matches!(published?, Ok(Stored::New)));

    let operator = jetstream::new(nats.client(User::Operator).await?);
    operator.delete_stream(SITE_STREAM).await?;
    let refused = publish(&publisher).await?;
    assert!(matches!(refused, Err(PublishError::Refused(_))), "{refused:?}");
    Ok(())
}

#[tokio::test]
async fn an_event_that_a_leader_took_with_it_is_sent_once_more() -> anyhow::Result<()> {
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
async fn an_entry_of_a_bucket_waits_a_moment_for_a_leader() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let context = jetstream::new(nats.client(User::Newsletter).await?);
    let bucket = open_bucket(&context, SUBSCRIBERS_BUCKET).await?;
    let written = async {
        sleep(WITHOUT_LEADER / 2).await;
        let value = Bytes::from_static(b"{}");
        write_entry(&context, &bucket, "somebody", &value, 0, None).await
    };
    let stream = format!("KV_{SUBSCRIBERS_BUCKET}");
    let (led, written) = join!(without_leader(&nats, &stream), written);
    led?;
    assert_eq!(written?, 1);
    Ok(())
}
