//! The broker of three, and what befalls one of its servers.

use std::time::Duration;

use anyhow::Context;
use async_nats::{Client, jetstream};
use site_broker::{ProvisionSettings, provision, provision::stream_names};
use site_events::SITE_STREAM;
use site_service::{
    drain::CancellationToken,
    health::{self, Dependency, HealthStatus},
    nats::{NatsSettings, connect, jetstream as with_our_timeouts},
};
use testkit::{Broker, Nats, Ports, Shape, Stack, User, eventually};
use uuid::Uuid;

use crate::publishing::{publish_over, publish_submitted};

/// Two elections: a server stands after 4 to 9 s without a leader (nats-server's `raft.go`), and again where both stood at once.
const NEW_LEADER: Duration = Duration::from_secs(20);

/// Longer than a leader takes to see that it has lost the others.
const LOST_MAJORITY: Duration = Duration::from_secs(30);
/// What happens while a server is away.
const MISSED_EVENTS: usize = 200;

/// A cluster with its streams.
async fn cluster() -> anyhow::Result<Nats> {
    let nats = Nats::start_cluster().await?;
    nats.provision().await?;
    Ok(nats)
}

/// Publishes as a service does, by a connection that lasts: tries under one key until it is stored.
async fn publish_until_stored(client: &Client) -> anyhow::Result<()> {
    let key = Uuid::new_v4();
    eventually("an event is stored", NEW_LEADER, async || {
        publish_submitted(client, key).await.ok()?.ok().map(drop)
    })
    .await
}

#[tokio::test]
async fn each_stream_and_consumer_has_a_copy_on_each_of_three_servers() -> anyhow::Result<()> {
    let nats = cluster().await?;
    let context = with_our_timeouts(nats.client(User::Operator).await?);
    for name in stream_names() {
        let info = context.get_stream(&name).await?.cached_info().clone();
        let cluster = info.cluster.context("a stream of a cluster")?;
        assert_eq!(info.config.num_replicas, 3, "{name}");
        assert_eq!(cluster.replicas.len(), 2, "{name}");
    }
    nats.wait_until_current().await
}

/// The path that a probe of production's broker asks for.
fn probed(probe: &str) -> anyhow::Result<&'static str> {
    let set = include_str!("../../../../k8s/components/nats/stateful-set.yaml");
    let (_, probe) = set.split_once(probe).context("the broker has this probe")?;
    let (_, path) = probe.split_once("path: \"").context("it asks by HTTP")?;
    Ok(path.split('"').next().unwrap_or_default())
}

#[tokio::test]
async fn a_server_is_ready_once_it_has_a_majority_and_all_that_the_others_have() -> anyhow::Result<()> {
    let (startup, readiness, liveness) = (
        probed("startupProbe")?,
        probed("readinessProbe")?,
        probed("livenessProbe")?,
    );
    let mut nats = cluster().await?;
    nats.wait_until_current().await?;
    for number in [1, 2] {
        nats.stop_server(number).await?;
    }
    eventually(
        "the server that is left is not ready",
        LOST_MAJORITY,
        async || (!nats.is_healthy(0, readiness).await.ok()?).then_some(()),
    )
    .await?;
    assert!(!nats.is_healthy(0, startup).await?);
    assert!(nats.is_healthy(0, liveness).await?, "it would be started anew");

    nats.start_server(1).await?;
    nats.wait_until_one_is_healthy(0, readiness).await?;
    nats.wipe_server(2)?;
    let services = nats.client(User::Contact).await?;
    eventually("the two agree on a leader", LOST_MAJORITY, async || {
        publish_over(&services).await.ok()?.ok()
    })
    .await?;
    for _ in 1..MISSED_EVENTS {
        publish_over(&services).await??;
    }
    nats.start_server(2).await?;
    nats.wait_until_one_is_healthy(2, startup).await?;
    assert!(nats.has_all_of(SITE_STREAM, 2).await?);
    Ok(())
}

#[tokio::test]
async fn a_setup_waits_for_a_server_that_starts_late() -> anyhow::Result<()> {
    let mut nats = Nats::start_cluster().await?;
    nats.stop_server(2).await?;
    let context = with_our_timeouts(nats.client(User::Operator).await?);
    let settings = ProvisionSettings {
        replicas: nats.servers(),
        max_age: Duration::from_secs(60 * 60),
        storage_mb: 100,
        webhooks: None,
    };
    let starting = async {
        tokio::time::sleep(Duration::from_secs(2)).await;
        nats.start_server(2).await
    };
    let (provisioned, started) = tokio::join!(provision(&context, &settings), starting);
    started?;
    assert!(!provisioned?.ready.is_empty());
    Ok(())
}

#[tokio::test]
async fn what_was_stored_outlives_the_kill_of_its_leader_and_publishing_goes_on() -> anyhow::Result<()> {
    let mut nats = cluster().await?;
    let services = nats.client(User::Contact).await?;
    publish_over(&services).await??;
    let leader = nats.leader_of(SITE_STREAM).await?;
    nats.kill_server(leader).await?;
    publish_until_stored(&services).await?;
    assert_ne!(nats.leader_of(SITE_STREAM).await?, leader);
    nats.start_server(leader).await?;
    nats.wait_until_current().await?;
    assert_eq!(nats.events().await?.len(), 2);
    Ok(())
}

#[tokio::test]
async fn a_server_whose_disk_is_lost_gets_everything_from_the_others() -> anyhow::Result<()> {
    let mut nats = cluster().await?;
    publish_over(&nats.client(User::Contact).await?).await??;
    let lost = nats.leader_of(SITE_STREAM).await?;
    assert!(nats.wipe_server(lost).is_err(), "it runs");
    nats.kill_server(lost).await?;
    nats.wipe_server(lost)?;
    nats.start_server(lost).await?;
    nats.wait_until_current().await?;
    // The two that kept theirs go away, one after the other: what it got has to be whole.
    for other in (0..nats.servers()).filter(|other| *other != lost) {
        nats.kill_server(other).await?;
        let events = eventually("the event is read", NEW_LEADER, async || nats.events().await.ok());
        assert_eq!(events.await?.len(), 1);
        nats.start_server(other).await?;
        nats.wait_until_current().await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_minority_that_is_cut_off_acknowledges_nothing_until_it_is_back() -> anyhow::Result<()> {
    let nats = cluster().await?;
    // The leader: it would acknowledge alone, if any did.
    let alone = nats.leader_of(SITE_STREAM).await?;
    let its_client = nats.client_of(alone, User::Contact).await?;
    publish_over(&its_client).await??;
    nats.cut_off(alone)?;
    let unknown = publish_over(&its_client).await?;
    assert!(unknown.is_err(), "{unknown:?}");
    publish_until_stored(&nats.client(User::Contact).await?).await?;
    let refused = publish_over(&its_client).await?;
    assert!(refused.is_err(), "{refused:?}");
    nats.reconnect(alone)?;
    nats.wait_until_current().await?;
    publish_until_stored(&its_client).await?;
    Ok(())
}

#[tokio::test]
async fn a_service_leaves_a_server_that_is_cut_off_from_the_others() -> anyhow::Result<()> {
    let nats = cluster().await?;
    let settings = NatsSettings {
        nats_url: nats.url(),
        nats_user: Some(User::Contact.name().to_owned()),
        nats_password: Some(nats.password().to_owned().into()),
        nats_password_file: None,
        nats_ca_file: None,
    };
    let services = connect(&settings, "contact").await?;
    let (reporter, _) = tonic_health::server::health_reporter();
    let status = HealthStatus::new(reporter, &[]).await;
    let dependencies = vec![Dependency::stream(services.clone(), SITE_STREAM)];
    let watching = tokio::spawn(health::watch(status, dependencies, CancellationToken::new()));
    publish_over(&services).await??;
    for _ in 0..2 {
        let alone = nats.number_of(&services.server_info().server_name);
        let alone = alone.context("the server that the service is connected to")?;
        nats.cut_off(alone)?;
        publish_until_stored(&services).await?;
        nats.reconnect(alone)?;
        nats.wait_until_current().await?;
    }
    watching.abort();
    Ok(())
}

#[tokio::test]
async fn a_server_that_stands_still_holds_nobody_up() -> anyhow::Result<()> {
    let nats = cluster().await?;
    let leader = nats.leader_of(SITE_STREAM).await?;
    nats.freeze_server(leader).await?;
    publish_until_stored(&nats.client(User::Contact).await?).await?;
    nats.thaw_server(leader)?;
    nats.wait_until_current().await
}

#[tokio::test]
async fn a_stack_runs_on_three_and_takes_a_message_while_any_one_is_away() -> anyhow::Result<()> {
    let shape = Shape {
        broker: Broker::Three,
        ..Shape::USUAL
    };
    let mut stack = Stack::start_as(shape, Ports::free()?, &[]).await?;
    for away in 0..stack.nats.servers() {
        stack.nats.kill_server(away).await?;
        let url = format!("{}/api/contact", stack.site());
        let form =
            serde_json::json!({ "name": "Zoë", "email": "zoe@example.org", "message": format!("{away}") });
        let http = reqwest::Client::new();
        eventually("the message is taken", NEW_LEADER, async || {
            let answer = http.post(&url).json(&form).send().await.ok()?;
            answer.status().is_success().then_some(())
        })
        .await?;
        stack.nats.start_server(away).await?;
        stack.nats.wait_until_current().await?;
    }
    let context = jetstream::new(stack.nats.client(User::Operator).await?);
    let stored = context
        .get_stream(SITE_STREAM)
        .await?
        .cached_info()
        .state
        .messages;
    assert_eq!(stored, 3);
    stack.stop().await
}
