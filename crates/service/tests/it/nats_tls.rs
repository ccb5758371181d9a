//! TLS to the broker: trusted authorities and renewed certificates.

use std::{fs, time::Duration};

use clap::Parser;
use site_service::nats::{NatsSettings, connect_within, is_connected};
use testkit::{CertificateAuthority, MountedCertificate, Nats, User, eventually};

use crate::http_server::SOON;

const HOST: &str = "127.0.0.1";

#[derive(Parser)]
struct Flags {
    #[command(flatten)]
    nats: NatsSettings,
}

fn settings(nats: &Nats, trusting: &MountedCertificate) -> anyhow::Result<NatsSettings> {
    let trusting = format!("--nats-ca-file={}", trusting.file("ca.crt").display());
    let flags = nats.flags(User::Operator).into_iter().chain([trusting]);
    Ok(Flags::try_parse_from(std::iter::once("service".to_owned()).chain(flags))?.nats)
}

async fn refusal(nats: &Nats, trusting: &MountedCertificate) -> anyhow::Result<String> {
    let connected = connect_within(Duration::ZERO, &settings(nats, trusting)?, "operator").await;
    Ok(connected.err().map(|error| error.to_string()).unwrap_or_default())
}

#[tokio::test]
async fn an_untrusted_broker_gets_no_credentials() -> anyhow::Result<()> {
    let (ours, theirs) = (CertificateAuthority::new()?, CertificateAuthority::new()?);
    let good = MountedCertificate::new(ours.issue_to_server(&[HOST])?, &ours)?;
    let nats = Nats::start_encrypted(&good).await?;
    connect_within(SOON, &settings(&nats, &good)?, "operator").await?;

    let trusting_another = MountedCertificate::new(theirs.issue_to_server(&[HOST])?, &theirs)?;
    let told = refusal(&nats, &trusting_another).await?;
    assert!(
        told.contains("NATS_CA_FILE") && told.contains("UnknownIssuer"),
        "{told}"
    );

    let of_another_host = MountedCertificate::new(ours.issue_to_server(&["nats"])?, &ours)?;
    let other = Nats::start().await?;
    let told = refusal(&other, &of_another_host).await?;
    assert!(told.contains("NATS_CA_FILE"), "{told}");
    Ok(())
}

#[tokio::test]
async fn a_connected_client_uses_renewed_certificates_and_authorities() -> anyhow::Result<()> {
    let (former, new) = (CertificateAuthority::new()?, CertificateAuthority::new()?);
    let mounted = MountedCertificate::new(former.issue_to_server(&[HOST])?, &former)?;
    let nats = Nats::start_encrypted(&mounted).await?;
    let client = connect_within(SOON, &settings(&nats, &mounted)?, "operator").await?;
    let context = site_service::nats::jetstream(client.clone());
    let until_there = async || {
        eventually("the stream is there", SOON, async || {
            context.get_stream("SITE").await.ok()
        })
        .await
    };
    let both = former.pem() + &new.pem();
    for (issuer, trusted) in [
        (&former, former.pem()),
        (&former, both.clone()),
        (&new, both.clone()),
        (&new, new.pem()),
    ] {
        mounted.renew(issuer.issue_to_server(&[HOST])?, trusted)?;
        nats.reload()?;
        let before = client.server_info().client_id;
        // A reload keeps the connection, but may hide streams for a moment.
        until_there().await?;
        assert_eq!(client.server_info().client_id, before);
        eventually("the server takes its new certificate", SOON, async || {
            let log = fs::read_to_string(nats.servers[0].folder.join("nats.log")).ok()?;
            log.contains("Reloaded: tls = enabled").then_some(())
        })
        .await?;
        client.force_reconnect().await?;
        eventually("a new connection", SOON, async || {
            (is_connected(&client) && client.server_info().client_id != before).then_some(())
        })
        .await?;
        until_there().await?;
    }
    // Now only the new authority vouches for the broker.
    let trusting_the_former = MountedCertificate::new(former.issue_to_server(&[HOST])?, &former)?;
    let told = refusal(&nats, &trusting_the_former).await?;
    assert!(told.contains("UnknownIssuer"), "{told}");
    Ok(())
}
