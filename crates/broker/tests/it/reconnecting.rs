//! An event that comes while the connection is made anew, as where a server is stopped and sends its clients to another one.

use std::time::Duration;

use anyhow::Context;
use async_nats::connection::State;
use site_broker::{PublishError, Publisher, Stored};
use site_events::{EventData, event::ContactReceived};
use site_service::{
    RequestId,
    nats::{NatsSettings, connect},
};
use testkit::{Nats, TcpProxy, User, eventually};
use uuid::Uuid;
use visitor::EmailAddress;

use crate::readers::person;

/// A second and a reconnection, with room for a busy machine.
const SOON: Duration = Duration::from_secs(10);

#[tokio::test]
async fn an_event_waits_a_moment_for_the_connection_and_not_for_ever() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let url = nats.url();
    let (_, port) = url.rsplit_once(':').context("a port")?;
    let proxy = TcpProxy::start(port.parse()?).await?;
    let settings = NatsSettings {
        nats_url: format!("nats://127.0.0.1:{}", proxy.port()),
        nats_user: Some(User::Contact.name().to_owned()),
        nats_password: Some(nats.password().to_owned().into()),
    };
    let client = connect(&settings, User::Contact.name()).await?;
    let publisher = Publisher::new(client.clone());
    let publish = async || {
        let received = ContactReceived {
            name: "Zoë Müller".to_owned(),
            email: EmailAddress::parse("zoe@example.org")?,
            message: "One camera.".to_owned(),
            attribution: None,
        };
        let request = RequestId::accept(Some("visit-0001"));
        let id = ContactReceived::TYPE.id_for(Uuid::new_v4());
        anyhow::Ok(publisher.publish(&request, id, &person()?, received).await)
    };
    let disconnected = async || {
        proxy.cut();
        eventually("the connection is gone", SOON, async || {
            (client.connection_state() == State::Disconnected).then_some(())
        })
        .await
    };
    disconnected().await?;
    proxy.restore();
    assert!(matches!(publish().await?, Ok(Stored::New)));

    disconnected().await?;
    let refused = tokio::time::timeout(SOON, publish()).await??;
    assert!(matches!(refused, Err(PublishError::NotConnected)), "{refused:?}");
    Ok(())
}
