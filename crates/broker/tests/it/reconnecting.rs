//! Publishing during a reconnect, as when a server sends its clients to another.

use std::{fs, time::Duration};

use anyhow::Context;
use async_nats::connection::State;
use site_broker::{PublishError, Publisher, Stored};
use site_events::{EventData, event::ContactReceived};
use site_service::{
    RequestId,
    nats::{NatsSettings, connect},
};
use tempfile::NamedTempFile;
use testkit::{Nats, TcpProxy, User, eventually};
use uuid::Uuid;
use visitor::EmailAddress;

use crate::readers::person;

/// A publish timeout and a reconnect, on a busy machine.
const SOON: Duration = Duration::from_secs(10);
/// The same with an election.
const STORED: Duration = Duration::from_secs(60);

pub async fn publish(publisher: &Publisher) -> anyhow::Result<Result<Stored, PublishError>> {
    let received = ContactReceived {
        name: "Zoë Müller".to_owned(),
        email: EmailAddress::parse("zoe@example.org")?,
        message: "One camera.".to_owned(),
        attribution: None,
    };
    let request = RequestId::fresh();
    let id = ContactReceived::TYPE.id_for(Uuid::new_v4());
    Ok(publisher.publish(&request, id, &person()?, received).await)
}

#[tokio::test]
async fn an_event_waits_a_moment_for_the_connection_and_not_for_ever() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let url = nats.url();
    let (_, port) = url.rsplit_once(':').context("a port")?;
    let proxy = TcpProxy::start(port.parse()?).await?;
    let settings = NatsSettings {
        nats_url: format!("nats://127.0.0.1:{}", proxy.port),
        nats_user: Some(User::Contact.name()),
        nats_password: Some(nats.password_of(User::Contact).to_owned().into()),
        nats_password_file: None,
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

#[tokio::test]
async fn a_password_in_a_file_changes_while_one_server_after_the_other_takes_it_up() -> anyhow::Result<()> {
    let mut nats = Nats::start_cluster().await?;
    let file = NamedTempFile::new()?;
    fs::write(&file, nats.password_of(User::Contact))?;
    let settings = NatsSettings {
        nats_url: nats.url(),
        nats_user: Some(User::Contact.name()),
        nats_password: Some(nats.password_of(User::Contact).to_owned().into()),
        nats_password_file: Some(file.path().to_owned()),
        nats_ca_file: None,
    };
    let publisher = Publisher::new(connect(&settings, &User::Contact.name()).await?);

    nats.change_passwords(&[User::Contact]);
    fs::write(&file, nats.password_of(User::Contact))?;
    for server in 0..nats.servers.len() {
        nats.servers[server].stop().await?;
        nats.start_server(server).await?;
        nats.wait_until_healthy(server, "/healthz").await?;
        eventually("an event is stored", STORED, async || {
            publish(&publisher).await.ok()?.ok()
        })
        .await?;
    }
    Ok(())
}
