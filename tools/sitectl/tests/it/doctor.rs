//! `sitectl doctor`.

use std::{
    net::{Ipv4Addr, TcpListener},
    process::Command,
};

use anyhow::{Context as _, ensure};
use async_nats::jetstream::{self, kv};
use serde_json::Value;
use site_broker::{ENDPOINTS_BUCKET, SUBSCRIBERS_BUCKET};
use site_events::{Channel, SITE_STREAM};
use testkit::{MailServer, Nats, S3, ScriptedReply, User, pass_flags};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::tool::{PERSON_KEY, command, message, publish, sitectl, told, told_json, told_rows};

const ZOE: &str = "zoe@example.org";

struct Site {
    nats: Nats,
    s3: S3,
    server: MailServer,
}

impl Site {
    async fn start() -> anyhow::Result<Self> {
        Ok(Self {
            nats: Nats::start().await?,
            s3: S3::start().await?,
            server: MailServer::start(|_, _| ScriptedReply::Take).await?,
        })
    }

    fn flags(&self) -> Vec<String> {
        let mail = format!("--smtp-port={}", self.server.port);
        let own = [
            format!("--person-key={PERSON_KEY}"),
            "--smtp-host=127.0.0.1".to_owned(),
            mail,
        ];
        let broker = self.nats.flags(User::Operator);
        own.into_iter().chain(broker).chain(self.s3.flags()).collect()
    }
}

/// Replaces the flag of the same name.
fn with(flags: &[String], flag: &str) -> Vec<String> {
    let name = |flag: &str| flag.split('=').next().unwrap_or_default().to_owned();
    let others = flags.iter().filter(|other| name(other) != name(flag)).cloned();
    others.chain([flag.to_owned()]).collect()
}

/// Findings that are not ok: subject, verdict, text and remedy.
fn ill(flags: &[String]) -> anyhow::Result<Vec<[String; 4]>> {
    let output = sitectl(&command(&["doctor", "--json"], flags))?;
    ensure!(
        output.status.code() == Some(1),
        "{}",
        String::from_utf8_lossy(&output.stdout)
    );
    let complaint = String::from_utf8(output.stderr)?;
    ensure!(complaint.starts_with("Wrong: "), "{complaint}");
    let told: Value = serde_json::from_slice(&output.stdout)?;
    ensure!(told["ok"] == false, "{told}");
    Ok(not_ok(&told))
}

fn not_ok(told: &Value) -> Vec<[String; 4]> {
    let findings = told["findings"].as_array().into_iter().flatten();
    let text = |finding: &Value, name: &str| finding[name].as_str().unwrap_or_default().to_owned();
    findings
        .filter(|finding| finding["verdict"] != "ok")
        .map(|finding| ["what", "verdict", "says", "todo"].map(|name| text(finding, name)))
        .collect()
}

fn ensure_found(found: &[[String; 4]], wanted: [&str; 4]) -> anyhow::Result<()> {
    let one = found.iter().find(|[what, ..]| what == wanted[0]);
    let one = one.with_context(|| format!("nothing of {}: {found:?}", wanted[0]))?;
    for (said, wanted) in one.iter().zip(wanted) {
        ensure!(said.contains(wanted), "{wanted}: {one:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_site_that_is_well_is_told_so_row_by_row() -> anyhow::Result<()> {
    let site = Site::start().await?;
    publish(&site.nats, ZOE, message("Zoë Müller", ZOE)?).await?;
    let rows = told_rows(&["doctor"], &site.flags())?;
    assert!(rows.iter().all(|row| row[0] == "ok"), "{rows:?}");
    let lines: Vec<String> = rows.iter().map(|row| row[1..].join(": ")).collect();
    for line in [
        "broker: version 2.",
        "clock: within",
        "stream SITE: as set up, 1 messages",
        "stream DEAD_LETTERS: as set up",
        "bucket subscribers: as set up",
        "consumer newsletter-bounced-suppression: as set up",
        "waiting for contact-received-sales: 1, the oldest for",
        "waiting for newsletter-confirmed-welcome: nothing",
        "dead letters: none",
        "PERSON_KEY: it is the one",
        "S3 bucket resumes: can be used",
        "S3 bucket resumes: shows nothing to anybody",
        "mail server 127.0.0.1:",
    ] {
        assert!(
            lines.iter().any(|told| told.starts_with(line)),
            "{line}: {lines:?}"
        );
    }
    let told = told_json(&["doctor"], &site.flags())?;
    assert_eq!(told["ok"], true);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_mail_server_that_is_not_named_is_not_passed_over_in_silence() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let mut flags = site.flags();
    flags.retain(|flag| !flag.starts_with("--smtp-host"));
    let rows = told_rows(&["doctor"], &flags)?;
    let server = rows.iter().find(|row| row[1] == "mail server");
    let says = "not looked at, because SMTP_HOST is not given";
    assert!(
        server
            .is_some_and(|row| row[0] == "warning" && row[2] == says && row[3].starts_with("give SMTP_HOST")),
        "{rows:?}"
    );
    let told = told_json(&["doctor"], &flags)?;
    assert_eq!(told["ok"], true);
    ensure_found(
        &not_ok(&told),
        ["mail server", "warning", "not looked at", "give SMTP_HOST"],
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn what_setup_would_mend_is_named_and_setup_mends_it() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let context = jetstream::new(site.nats.client(User::Operator).await?);
    let welcome = Channel::NewsletterWelcome.name();
    context.delete_consumer_from_stream(welcome, SITE_STREAM).await?;
    context.delete_key_value(ENDPOINTS_BUCKET).await?;
    context.delete_key_value(SUBSCRIBERS_BUCKET).await?;
    let older = kv::Config {
        bucket: SUBSCRIBERS_BUCKET.to_owned(),
        history: 1,
        ..kv::Config::default()
    };
    context.create_key_value(older).await?;
    let flags = with(&site.flags(), "--max-age=30");

    let found = ill(&flags)?;
    for wanted in [
        [
            "stream SITE",
            "wrong",
            "max_age is 31536000s and should be 2592000s",
            "sitectl setup",
        ],
        [
            "bucket subscribers",
            "wrong",
            "allow_rollup_hdrs is true and should be unset, allow_msg_ttl is unset and should be true",
            "sitectl setup",
        ],
        ["bucket endpoints", "wrong", "cannot be opened", "sitectl setup"],
        [
            "consumer newsletter-confirmed-welcome",
            "wrong",
            "cannot be opened",
            "sitectl setup",
        ],
    ] {
        ensure_found(&found, wanted)?;
    }
    let own = ["--smtp-host", "--smtp-port"];
    let of_setup = flags
        .iter()
        .filter(|flag| own.iter().all(|own| !flag.starts_with(own)));
    told(&["setup"], &of_setup.cloned().collect::<Vec<_>>())?;
    let told = told_json(&["doctor"], &flags)?;
    assert_eq!(not_ok(&told), [[""; 4]; 0]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_a_person_is_a_warning_and_no_failure() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let crm = r#"[{"name": "crm", "url": "https://crm.example", "events": ["newsletter.bounced"], "format": "slack"}]"#;
    site.nats.provision(&["--webhooks", crm]).await?;
    let context = jetstream::new(site.nats.client(User::Operator).await?);
    let letter = "dead.webhook-crm.0123456789abcdef0123456789abcdef";
    context.publish(letter, "{}".into()).await?.await?;
    let endpoints = context.get_key_value(ENDPOINTS_BUCKET).await?;
    let off = r#"{"failing_since":"2026-11-01T10:00:00Z","off":"it answered 410 Gone"}"#;
    endpoints.put("crm", off.into()).await?;
    let flags = site.flags();
    let flags: Vec<String> = flags
        .into_iter()
        .filter(|flag| !flag.starts_with("--person-key"))
        .collect();

    let told = told_json(&["doctor"], &with(&flags, "--webhooks=[]"))?;
    let found = not_ok(&told);
    for wanted in [
        ["dead letters", "warning", "1 wait", "sitectl dead-letters list"],
        [
            "endpoint crm",
            "warning",
            "off: it answered 410 Gone",
            "sitectl webhooks enable crm",
        ],
        ["PERSON_KEY", "warning", "not given", "give the key"],
    ] {
        ensure_found(&found, wanted)?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_key_and_parts_that_are_away_are_named() -> anyhow::Result<()> {
    let mut site = Site::start().await?;
    publish(&site.nats, ZOE, message("Zoë Müller", ZOE)?).await?;
    let free = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
    let flags = with(
        &site.flags(),
        "--person-key=another person key of thirty-two bytes",
    );
    let flags = with(&flags, &format!("--smtp-port={free}"));
    let flags = with(&flags, "--s3-secret-access-key=wrong");
    let found = ill(&flags)?;
    let mail = format!("mail server 127.0.0.1:{free}");
    for wanted in [
        ["PERSON_KEY", "wrong", "set up with another key", "give the key"],
        [&*mail, "wrong", "refused", "SMTP_PORT"],
        [
            "S3 bucket resumes",
            "wrong",
            "could not find the bucket",
            "S3_ACCESS_KEY_ID",
        ],
    ] {
        ensure_found(&found, wanted)?;
    }
    assert_eq!(found.len(), 3, "{found:?}");

    site.nats.stop().await?;
    let found = ill(&site.flags())?;
    assert_eq!(found.len(), 1, "{found:?}");
    ensure_found(&found, ["broker", "wrong", "NATS_URL", "nothing that lies in it"])
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_anybody_may_read_is_wrong() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let listener = tokio::net::TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await?;
    let port = listener.local_addr()?.port();
    tokio::spawn(show_all(listener));
    let found = ill(&with(
        &site.flags(),
        &format!("--s3-endpoint=http://127.0.0.1:{port}"),
    ))?;
    ensure_found(
        &found,
        [
            "S3 bucket resumes",
            "wrong",
            "anybody can list it",
            "public access",
        ],
    )
}

/// A store that lists its bucket to everybody.
async fn show_all(listener: tokio::net::TcpListener) -> anyhow::Result<()> {
    const LISTING: &str = "<?xml version=\"1.0\"?><ListBucketResult><Name>resumes</Name></ListBucketResult>";
    loop {
        let (mut socket, _) = listener.accept().await?;
        let mut request = [0; 4096];
        let read = socket.read(&mut request).await?;
        let body = if request[..read].starts_with(b"HEAD") {
            ""
        } else {
            LISTING
        };
        let length = body.len();
        let answer =
            format!("HTTP/1.1 200 OK\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{body}");
        socket.write_all(answer.as_bytes()).await?;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn on_a_machine_without_root_certificates_a_store_behind_tls_is_refused_with_what_is_missing()
-> anyhow::Result<()> {
    let site = Site::start().await?;
    let asked = |flags: &[String]| {
        let mut tool = Command::new(env!("CARGO_BIN_EXE_sitectl"));
        pass_flags(&mut tool, &command(&["doctor"], flags));
        tool.env("SSL_CERT_FILE", "/nowhere/ca.pem")
            .env("SSL_CERT_DIR", "/nowhere")
            .output()
    };
    let plain = asked(&site.flags())?;
    assert!(plain.status.success(), "{}", String::from_utf8(plain.stderr)?);
    let refused = asked(&with(&site.flags(), "--s3-endpoint=https://127.0.0.1:9"))?;
    let said = String::from_utf8(refused.stderr)?;
    assert_eq!(refused.status.code(), Some(2), "{said}");
    assert!(
        said.contains("--s3-endpoint") && said.contains("ca-certificates"),
        "{said}"
    );
    assert_eq!(said.lines().count(), 1, "{said}");
    Ok(())
}
