//! Mail servers, endpoints and stores over TLS.

use std::{fs, path::Path};

use anyhow::Context;
use resumes::{ResumeStore, S3Settings};
use serde_json::json;
use site_events::Channel;
use site_service::tls::CaFile;
use testkit::{
    CertificateAuthority, MailServer, MountedCertificate, Nats, Receiver, S3, TcpProxy, eventually,
    mail_server::{Behaviour, Encryption, Login},
};
use tokio_rustls::TlsAcceptor;

use crate::running::{Running, SOON, Site, accepted, process, take};

const VISITOR: &str = "zoe@example.org";

fn login(mechanism: &'static str) -> Option<Login> {
    Some(Login {
        mechanism,
        user: "notifier".to_owned(),
        password: "a password",
    })
}

fn flags(tls: &str, trusted: &CertificateAuthority) -> Vec<String> {
    vec![
        format!("--smtp-tls={tls}"),
        format!("--smtp-ca-file={}", trusted.file().display()),
        "--smtp-user=notifier".to_owned(),
        "--smtp-password=a password".to_owned(),
    ]
}

#[tokio::test]
async fn mails_go_out_encrypted_after_a_login() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let site = Site::on(&nats).await?;
    let authority = CertificateAuthority::new()?;
    let certified = || authority.issue("127.0.0.1");
    for (tls, encryption, mechanism) in [
        ("starttls", Encryption::Starttls(certified()?), "PLAIN"),
        ("starttls", Encryption::Starttls(certified()?), "LOGIN"),
        ("implicit", Encryption::Implicit(certified()?), "PLAIN"),
        ("implicit", Encryption::Implicit(certified()?), "LOGIN"),
    ] {
        let behaviour = Behaviour {
            encryption,
            login: login(mechanism),
            ..Behaviour::default()
        };
        let server = MailServer::start_with(behaviour, 0, take).await?;
        let _notifier = Running::start(&nats, server.port, &flags(tls, &authority)).await?;
        site.request_newsletter(VISITOR).await?;
        accepted(&server, VISITOR, 1).await?;
        let counts = server.counts();
        assert_eq!(
            (counts.logins, counts.plaintext_commands),
            (1, 0),
            "{tls} {mechanism}"
        );
    }
    Ok(())
}

#[tokio::test]
async fn an_untrusted_mail_server_gets_no_login_and_no_mail() -> anyhow::Result<()> {
    let (authority, unknown) = (CertificateAuthority::new()?, CertificateAuthority::new()?);
    let of_another_host = authority.issue("mail.example.org")?;
    let of_nobody = unknown.issue("127.0.0.1")?;
    for (tls, encryption, because) in [
        ("implicit", Encryption::Implicit(of_nobody), "UnknownIssuer"),
        (
            "starttls",
            Encryption::Starttls(of_another_host),
            "not valid for name",
        ),
        ("starttls", Encryption::None, "STARTTLS is not supported"),
    ] {
        let nats = Nats::start().await?;
        let site = Site::on(&nats).await?;
        let logs = tempfile::TempDir::new()?;
        let behaviour = Behaviour {
            encryption,
            login: login("PLAIN"),
            ..Behaviour::default()
        };
        let server = MailServer::start_with(behaviour, 0, take).await?;
        let _notifier = process(&nats, server.port, &flags(tls, &authority), logs.path())?;
        site.request_newsletter(VISITOR).await?;
        until_logged(&logs, |line| line.contains(because)).await?;
        let counts = server.counts();
        assert_eq!((counts.logins, counts.plaintext_commands), (0, 0), "{because}");
        assert_eq!(server.attempts(VISITOR), 0, "{because}");
        assert_eq!(site.open(Channel::NewsletterConfirmation).await?, 1, "{because}");
        assert!(nats.dead_letters().await?.is_empty(), "{because}");
    }
    Ok(())
}

/// Waits, because a separate thread writes the log.
async fn until_logged(logs: &tempfile::TempDir, is_it: impl Fn(&str) -> bool) -> anyhow::Result<()> {
    eventually("the line in the log", SOON, async || {
        let log = fs::read_to_string(logs.path().join("notifier.log")).ok()?;
        log.lines().any(&is_it).then_some(())
    })
    .await
}

async fn webhooks_to(
    certified: TlsAcceptor,
    trusted: &CertificateAuthority,
    said: &str,
) -> anyhow::Result<usize> {
    let (nats, receiver) = tokio::try_join!(Nats::start(), Receiver::start_at(0))?;
    let port = url::Url::parse(&receiver.url())?.port().unwrap_or_default();
    let proxy = TcpProxy::start_encrypted(certified, port).await?;
    let mail_server = MailServer::start(take).await?;
    let mut endpoint = receiver.endpoint("crm", &["contact.received"]);
    endpoint["url"] = format!("https://127.0.0.1:{}/hooks", proxy.port).into();
    let webhooks = json!([endpoint]).to_string();
    nats.provision(&["--webhooks", &webhooks]).await?;
    let flags = [
        format!("--webhooks={webhooks}"),
        "--webhooks-allow-private".to_owned(),
        format!("--webhooks-ca-file={}", trusted.file().display()),
    ];
    let logs = tempfile::TempDir::new()?;
    let notifier = process(&nats, mail_server.port, &flags, logs.path())?;
    Site::on(&nats).await?.contact(VISITOR).await?;
    until_logged(&logs, |line| line.contains("webhook-crm") && line.contains(said)).await?;
    assert!(nats.dead_letters().await?.is_empty());
    assert!(notifier.stop().await?.success());
    Ok(receiver.received().len())
}

#[tokio::test]
async fn an_endpoint_gets_webhooks_only_with_a_trusted_certificate() -> anyhow::Result<()> {
    let authority = CertificateAuthority::new()?;
    let good = authority.issue("127.0.0.1")?;
    assert_eq!(webhooks_to(good, &authority, r#""message":"sent""#).await?, 1);

    let of_nobody = CertificateAuthority::new()?.issue("127.0.0.1")?;
    let of_another = authority.issue("crm.example.org")?;
    let expired = authority.issue_expired("127.0.0.1")?;
    for (refused, because) in [
        (of_nobody, "UnknownIssuer"),
        (of_another, "not valid for name"),
        (expired, "certificate expired"),
    ] {
        assert_eq!(webhooks_to(refused, &authority, because).await?, 0, "{because}");
    }
    Ok(())
}

/// The client trusts the file's authorities and the system's.
async fn checked(
    s3: &S3,
    certified: TlsAcceptor,
    ca_file: Option<&Path>,
) -> anyhow::Result<(TcpProxy, ResumeStore)> {
    let plain = s3.settings()?;
    let port = s3.url().rsplit(':').next().unwrap_or_default().parse()?;
    let proxy = TcpProxy::start_encrypted(certified, port).await?;
    let ca_file = ca_file.map(|file| CaFile::parse(&file.to_string_lossy()));
    let settings = S3Settings {
        s3_endpoint: format!("https://127.0.0.1:{}", proxy.port),
        s3_ca_file: ca_file.transpose().map_err(anyhow::Error::msg)?,
        ..plain
    };
    Ok((proxy, ResumeStore::new(&settings)))
}

#[tokio::test]
async fn a_store_with_an_untrusted_certificate_is_refused() -> anyhow::Result<()> {
    let s3 = S3::start().await?;
    let (theirs, ours) = (CertificateAuthority::new()?, CertificateAuthority::new()?);
    let trusted = MountedCertificate::new(ours.issue_to_server(&["127.0.0.1"])?, &ours)?;
    let ca_file = trusted.file("ca.crt");
    for file in [None, Some(ca_file.as_path())] {
        let (_proxy, store) = checked(&s3, theirs.issue("127.0.0.1")?, file).await?;
        let refused = store.check().await.err().context("it was trusted")?.to_string();
        assert!(refused.contains("UnknownIssuer"), "{refused}");
    }
    trusted.renew(ours.issue_to_server(&["127.0.0.1"])?, theirs.pem())?;
    let (_proxy, store) = checked(&s3, theirs.issue("127.0.0.1")?, Some(&ca_file)).await?;
    store.check().await?;
    Ok(())
}
