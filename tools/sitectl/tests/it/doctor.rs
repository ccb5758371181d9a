//! `sitectl doctor`.

use anyhow::{Context as _, ensure};
use async_nats::jetstream::kv;
use serde_json::Value;
use site_broker::{ENDPOINTS_BUCKET, SUBSCRIBERS_BUCKET};
use site_events::{Channel, SITE_STREAM};
use testkit::{HttpStandIn, MailServer, ScriptedReply, free_ports, http_stand_in::Reply};

use crate::{
    site::{CRM, Site, message},
    tool::{sitectl, told, told_json, told_rows, with, without},
};

const ZOE: &str = "zoe@example.org";
/// State of an endpoint that is off.
pub const OFF: &str = r#"{"failing_since":"2026-11-01T10:00:00Z","off":"it answered 410 Gone"}"#;

/// Answer of a store that lists its bucket to everybody.
const LISTING: &str = "<?xml version=\"1.0\"?><ListBucketResult><Name>resumes</Name></ListBucketResult>";

/// Site, mail server, and flags for both.
async fn site() -> anyhow::Result<(Site, MailServer, Vec<String>)> {
    let site = Site::start().await?;
    let server = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let mail = [
        "--smtp-host=127.0.0.1".to_owned(),
        format!("--smtp-port={}", server.port),
    ];
    let flags = [&site.flags[..], &mail].concat();
    Ok((site, server, flags))
}

/// Findings that are not ok: subject, verdict, text and remedy.
fn ill(flags: &[String]) -> anyhow::Result<Vec<String>> {
    let output = sitectl(&["doctor", "--json"], flags)?;
    let told: Value = serde_json::from_slice(&output.stdout)?;
    ensure!(output.status.code() == Some(1) && told["ok"] == false, "{told}");
    let complaint = String::from_utf8(output.stderr)?;
    ensure!(complaint.starts_with("Wrong: "), "{complaint}");
    Ok(not_ok(&told))
}

fn not_ok(told: &Value) -> Vec<String> {
    let findings = told["findings"].as_array().into_iter().flatten();
    findings
        .filter(|finding| finding["verdict"] != "ok")
        .map(|finding| {
            ["what", "verdict", "says", "todo"].map(|name| finding[name].as_str().unwrap_or_default())
        })
        .map(|parts| parts.join(" | "))
        .collect()
}

/// Each expected line names parts of one finding.
fn ensure_found<const N: usize>(found: &[String], expected: [&str; N]) -> anyhow::Result<()> {
    for expected in expected {
        let mut parts = expected.split(" | ");
        let what = format!("{} | ", parts.next().unwrap_or_default());
        let one = found.iter().find(|one| one.starts_with(&what));
        let one = one.with_context(|| format!("nothing of {what}: {found:?}"))?;
        ensure!(parts.all(|part| one.contains(part)), "{expected}: {one}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_healthy_site_is_reported_row_by_row() -> anyhow::Result<()> {
    let (site, _server, flags) = site().await?;
    site.publish(ZOE, message("Zoë Müller", ZOE)?).await?;
    let flags = with(&flags, "--sales-to=sales@company.com");
    let rows = told_rows(&["doctor"], &flags)?;
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
        "PERSON_KEY: it is the key of this installation",
        "S3 bucket resumes: can be used",
        "S3 bucket resumes: is not public",
        "mail server 127.0.0.1:",
        "SALES_TO: not in a domain for examples",
    ] {
        let is_told = lines.iter().any(|told| told.starts_with(line));
        assert!(is_told, "{line}: {lines:?}");
    }
    assert_eq!(told_json(&["doctor"], &flags)?["ok"], true);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn setup_repairs_what_doctor_finds() -> anyhow::Result<()> {
    let (site, _server, flags) = site().await?;
    let context = site.jetstream().await?;
    let welcome = Channel::NewsletterWelcome.name();
    context.delete_consumer_from_stream(welcome, SITE_STREAM).await?;
    context.delete_key_value(ENDPOINTS_BUCKET).await?;
    context.delete_key_value(SUBSCRIBERS_BUCKET).await?;
    let older = kv::Config {
        bucket: SUBSCRIBERS_BUCKET.to_owned(),
        history: 1,
        ..kv::Config::default()
    };
    let older = context.create_key_value(older).await?;
    older.put("a-person", "a record".into()).await?;

    let age = ["--max-age=30".to_owned()];
    let doctor = [&flags[..], &age].concat();
    ensure_found(
        &ill(&doctor)?,
        [
            "stream SITE | wrong | max_age is 31536000s and should be 2592000s | sitectl setup",
            "bucket subscribers | wrong | allow_rollup_hdrs is true and should be unset | sitectl setup",
            "bucket subscribers | wrong | allow_msg_ttl is unset and should be true | sitectl setup",
            "bucket endpoints | wrong | cannot be opened | sitectl setup",
            "consumer newsletter-confirmed-welcome | wrong | cannot be opened | sitectl setup",
        ],
    )?;
    told(&["setup"], &[&site.flags[..], &age].concat())?;
    assert_eq!(not_ok(&told_json(&["doctor"], &doctor)?), [""; 0]);
    let bucket = context.get_key_value(SUBSCRIBERS_BUCKET).await?;
    let marker_ttl = bucket.stream.cached_info().config.subject_delete_marker_ttl;
    assert_eq!(marker_ttl, None, "a marker would name the person");
    assert_eq!(bucket.get("a-person").await?.as_deref(), Some(&b"a record"[..]));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn tolerable_problems_are_warnings() -> anyhow::Result<()> {
    let (site, _server, flags) = site().await?;
    site.nats.provision(&["--webhooks", CRM]).await?;
    let context = site.jetstream().await?;
    let letter = "dead.webhook-crm.0123456789abcdef0123456789abcdef";
    context.publish(letter, "{}".into()).await?.await?;
    let endpoints = context.get_key_value(ENDPOINTS_BUCKET).await?;
    endpoints.put("crm", OFF.into()).await?;
    let flags = with(&without(&flags, "--person-key"), "--webhooks=[]");
    let flags = with(&flags, "--mail-from=hello@oculant.example");
    let told = told_json(&["doctor"], &without(&flags, "--smtp-host"))?;
    assert_eq!(told["ok"], true);
    ensure_found(
        &not_ok(&told),
        [
            "dead letters | warning | 1 wait | sitectl dead-letters list",
            "endpoint crm | warning | off: it answered 410 Gone | sitectl webhooks enable crm",
            "PERSON_KEY | warning | not set | set the key",
            "mail server | warning | not checked, because SMTP_HOST is not set | set SMTP_HOST",
            "MAIL_FROM | warning | nobody reads mail | notifier",
        ],
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_secrets_and_unavailable_parts_are_named() -> anyhow::Result<()> {
    let (mut site, _server, flags) = site().await?;
    site.publish(ZOE, message("Zoë Müller", ZOE)?).await?;
    let [free] = free_ports()?;
    let mut wrong = flags.clone();
    for flag in [
        "--person-key=another person key of thirty-two bytes",
        "--s3-secret-access-key=wrong",
        &format!("--smtp-port={free}"),
    ] {
        wrong = with(&wrong, flag);
    }
    let found = ill(&wrong)?;
    ensure_found(
        &found,
        [
            "PERSON_KEY | wrong | set up with another key | set the key",
            &format!("mail server 127.0.0.1:{free} | wrong | refused | SMTP_PORT"),
            "S3 bucket resumes | wrong | could not find the bucket | S3_ACCESS_KEY_ID",
        ],
    )?;
    assert_eq!(found.len(), 3, "{found:?}");

    let public = HttpStandIn::start(|_| Reply::Text(200, LISTING.to_owned())).await?;
    let found = ill(&with(&flags, &format!("--s3-endpoint={}", public.url)))?;
    ensure_found(
        &found,
        ["S3 bucket resumes | wrong | anybody can list it | public access"],
    )?;

    site.nats.stop().await?;
    let found = ill(&flags)?;
    assert_eq!(found.len(), 1, "{found:?}");
    ensure_found(
        &found,
        ["broker | wrong | NATS_URL | its streams were not checked"],
    )
}
