//! Servers that try to join a cluster, and who watches those that belong to it.

use std::{collections::BTreeSet, time::Duration};

use async_nats::Client;
use futures_util::{FutureExt, StreamExt};
use serde_json::Value;
use testkit::{Nats, RouteCredentials, Stranger, User, eventually};

use crate::publishing::publish_over;

const SOON: Duration = Duration::from_secs(45);

/// Whether somebody who holds the server's own operator hears of what the contact service publishes to the cluster.
async fn hears_of_events(nats: &Nats, stranger: &Stranger) -> anyhow::Result<bool> {
    let operator = stranger.client(User::Operator).await?;
    let mut events = operator.subscribe("site.>").await?;
    operator.flush().await?;
    publish_over(&nats.client(User::Contact).await?).await??;
    operator.flush().await?;
    Ok(events.next().now_or_never().is_some())
}

#[tokio::test]
async fn a_server_joins_by_a_certificate_of_the_routes_and_their_password_alone() -> anyhow::Result<()> {
    let nats = Nats::start_cluster().await?;
    nats.provision().await?;
    for credentials in [
        RouteCredentials::None,
        RouteCredentials::ForeignCertificate,
        RouteCredentials::WrongPassword,
    ] {
        let stranger = nats.start_stranger(credentials).await?;
        assert!(!stranger.has_joined().await?, "{credentials:?}");
        assert!(!hears_of_events(&nats, &stranger).await?, "{credentials:?}");
    }
    let fourth = nats.start_stranger(RouteCredentials::Both).await?;
    assert!(fourth.has_joined().await?);
    eventually("it hears of an event", SOON, async || {
        hears_of_events(&nats, &fourth).await.ok()?.then_some(())
    })
    .await
}

/// The names of the servers that answer until all of them did.
async fn answering(monitor: &Client, servers: usize) -> anyhow::Result<BTreeSet<String>> {
    let mut names = BTreeSet::new();
    eventually("an answer of each server", SOON, async || {
        let inbox = monitor.new_inbox();
        let mut answers = monitor.subscribe(inbox.clone()).await.ok()?;
        monitor
            .publish_with_reply("$SYS.REQ.SERVER.PING.JSZ", inbox, "".into())
            .await
            .ok()?;
        while let Ok(Some(answer)) = tokio::time::timeout(Duration::from_secs(1), answers.next()).await {
            let answer: Value = serde_json::from_slice(&answer.payload).ok()?;
            names.insert(answer["server"]["name"].as_str()?.to_owned());
        }
        (names.len() == servers).then_some(())
    })
    .await?;
    Ok(names)
}

#[tokio::test]
async fn whoever_monitors_one_server_sees_all_three_and_no_event() -> anyhow::Result<()> {
    let nats = Nats::start_cluster().await?;
    nats.provision().await?;
    let monitor = nats.client_of(0, User::Monitor).await?;
    let mut events = monitor.subscribe(">").await?;
    monitor.flush().await?;
    publish_over(&nats.client_of(0, User::Contact).await?).await??;
    monitor.flush().await?;
    assert!(events.next().now_or_never().is_none());
    events.unsubscribe().await?;
    let names = answering(&monitor, nats.servers()).await?;
    assert!(
        names.iter().all(|name| nats.number_of(name).is_some()),
        "{names:?}"
    );
    Ok(())
}
