//! Changing a password at the broker, as docs/operations.md describes.

use std::time::Duration;

use clap::Parser;
use site_proto::contact::v1::{SubmitRequest, contact_service_client::ContactServiceClient};
use testkit::{MailServer, Nats, ScriptedReply, User, eventually};
use tokio_util::sync::{CancellationToken, DropGuard};
use tonic::{Code, transport::Channel};
use uuid::Uuid;

use crate::{
    dead_letters::notifier,
    tool::{PERSON_KEY, message, publish},
};

const SOON: Duration = Duration::from_secs(45);
const BEFORE: &str = "before@example.org";
const MEANWHILE: &str = "meanwhile@example.org";
const AFTER: &str = "after@example.org";

async fn contact(nats: &Nats) -> anyhow::Result<(ContactServiceClient<Channel>, DropGuard)> {
    let default_flags = [
        "contact".to_owned(),
        "--listen=127.0.0.1:0".to_owned(),
        format!("--person-key={PERSON_KEY}"),
    ];
    let flags = default_flags.into_iter().chain(nats.flags(User::Contact));
    let service = contact::Service::build(contact::Settings::try_parse_from(flags)?).await?;
    let (address, stop) = (
        format!("http://127.0.0.1:{}", service.port()),
        CancellationToken::new(),
    );
    tokio::spawn(service.run(stop.clone()));
    Ok((ContactServiceClient::connect(address).await?, stop.drop_guard()))
}

fn from(email: &str) -> SubmitRequest {
    SubmitRequest {
        name: "Zoë Müller".to_owned(),
        email: email.to_owned(),
        message: "Two cameras,\none question.".to_owned(),
        idempotency_key: Uuid::new_v4().to_string(),
        ..SubmitRequest::default()
    }
}

async fn answered(server: &MailServer, visitor: &str) -> anyhow::Result<()> {
    eventually(&format!("an answer to {visitor}"), SOON, async || {
        (server.accepted(visitor).len() == 1).then_some(())
    })
    .await
}

#[tokio::test(flavor = "multi_thread")]
async fn while_a_password_changes_nothing_that_was_accepted_is_lost() -> anyhow::Result<()> {
    let mut nats = Nats::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let (mut former_contact, _contact) = contact(&nats).await?;
    let former_notifier = notifier(&nats, server.port).await?;
    former_contact.submit(from(BEFORE)).await?;
    answered(&server, BEFORE).await?;

    nats.change_passwords(&[User::Contact, User::Notifier]);
    nats.stop().await?;
    nats.resume_from_disk().await?;
    let refused = former_contact.submit(from(AFTER)).await;
    assert_eq!(
        refused.map_err(|status| status.code()).err(),
        Some(Code::Unavailable)
    );
    // Services that keep their password accept events, which wait for the notifier.
    publish(&nats, MEANWHILE, message("Asha Rao", MEANWHILE)?).await?;
    assert_eq!(nats.events().await?.len(), 2, "the refused one was not stored");
    assert!(server.accepted(MEANWHILE).is_empty());

    drop(former_notifier);
    let (mut contact, _contact) = contact(&nats).await?;
    contact.submit(from(AFTER)).await?;
    let _notifier = notifier(&nats, server.port).await?;
    for visitor in [MEANWHILE, AFTER] {
        answered(&server, visitor).await?;
    }
    for visitor in [BEFORE, MEANWHILE, AFTER] {
        assert_eq!(server.accepted(visitor).len(), 1, "{visitor}");
    }
    Ok(())
}
