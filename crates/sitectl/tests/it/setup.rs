//! `sitectl setup`.

use async_nats::{
    header::NATS_MESSAGE_TTL,
    jetstream::{self, consumer::pull::Config, kv},
};
use serde_json::Value;
use site_events::{Channel, SITE, SUBSCRIBERS};
use testkit::{Nats, S3, User};

use crate::tool::sitectl;

#[tokio::test(flavor = "multi_thread")]
async fn setup_creates_what_is_missing_and_may_be_repeated() -> anyhow::Result<()> {
    let (nats, s3) = (Nats::start().await?, S3::start().await?);
    let usual = ["setup".to_owned(), "--json".to_owned()].into_iter();
    let flags: Vec<String> = usual
        .chain(nats.flags(User::Operator))
        .chain(s3.flags())
        .collect();
    for _ in 0..2 {
        let output = sitectl(&flags)?;
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let told: Value = serde_json::from_slice(&output.stdout)?;
        let ready = told["ready"].as_array().map(Vec::len);
        // Two streams, three buckets, nine consumers, one S3 bucket.
        assert_eq!(ready, Some(15), "{told}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wrong_password_is_one_sentence() -> anyhow::Result<()> {
    let (nats, s3) = (Nats::start().await?, S3::start().await?);
    let mut flags = vec!["setup".to_owned()];
    flags.extend(nats.flags(User::Operator).into_iter().chain(s3.flags()));
    for flag in &mut flags {
        if flag.starts_with("--nats-password") {
            *flag = "--nats-password=wrong".to_owned();
        }
    }
    let output = sitectl(&flags)?;
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr)?;
    assert!(
        said.contains("NATS_PASSWORD") && said.trim().lines().count() == 1,
        "{said}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn setup_lets_consumers_of_an_older_setup_take_replays() -> anyhow::Result<()> {
    let (nats, s3) = (Nats::start().await?, S3::start().await?);
    let context = jetstream::new(nats.client(User::Operator).await?);
    let name = Channel::SalesLead.name();
    context.delete_consumer_from_stream(name, SITE).await?;
    let older = Config {
        durable_name: Some(name.to_owned()),
        filter_subject: "site.contact.received.*".to_owned(),
        ..Config::default()
    };
    context.create_consumer_on_stream(older, SITE).await?;

    let flags = nats.flags(User::Operator).into_iter().chain(s3.flags());
    let flags: Vec<String> = std::iter::once("setup".to_owned()).chain(flags).collect();
    let output = sitectl(&flags)?;
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let stream = context.get_stream(SITE).await?;
    let config = stream.consumer_info(name).await?.config;
    assert_eq!(
        config.filter_subjects,
        ["site.contact.received.*", "replay.contact-received-sales.*"]
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_channel_that_joins_a_running_site_tells_nothing_of_what_was_before() -> anyhow::Result<()> {
    let (nats, s3) = (Nats::start().await?, S3::start().await?);
    let context = jetstream::new(nats.client(User::Operator).await?);
    let (joins, stays) = (Channel::ContactAcknowledgement.name(), Channel::SalesLead.name());
    context.delete_consumer_from_stream(joins, SITE).await?;
    let before = "site.contact.received.0123456789abcdef0123456789abcdef";
    context.publish(before, "{}".into()).await?.await?;

    let flags = nats.flags(User::Operator).into_iter().chain(s3.flags());
    let flags: Vec<String> = std::iter::once("setup".to_owned()).chain(flags).collect();
    assert!(sitectl(&flags)?.status.success());
    let stream = context.get_stream(SITE).await?;
    assert_eq!(stream.consumer_info(joins).await?.num_pending, 0);
    assert_eq!(stream.consumer_info(stays).await?.num_pending, 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_goes_only_where_the_setting_says_so() -> anyhow::Result<()> {
    let (nats, s3) = (Nats::start().await?, S3::start().await?);
    let crm = r#"[{"name": "crm", "url": "https://crm.example", "events": ["contact.received"], "format": "slack"}]"#;
    nats.provision_for(crm).await?;
    let stream = jetstream::new(nats.client(User::Operator).await?)
        .get_stream(SITE)
        .await?;
    let flags = nats.flags(User::Operator).into_iter().chain(s3.flags());
    let forgotten: Vec<String> = std::iter::once("setup".to_owned()).chain(flags).collect();
    assert!(sitectl(&forgotten)?.status.success());
    assert!(stream.consumer_info("webhook-crm").await.is_ok());

    let emptied: Vec<String> = forgotten
        .into_iter()
        .chain(["--webhooks=[]".to_owned()])
        .collect();
    assert!(sitectl(&emptied)?.status.success());
    assert!(stream.consumer_info("webhook-crm").await.is_err());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn setup_lets_the_records_of_an_older_bucket_expire() -> anyhow::Result<()> {
    let (nats, s3) = (Nats::start().await?, S3::start().await?);
    let context = jetstream::new(nats.client(User::Operator).await?);
    context.delete_key_value(SUBSCRIBERS).await?;
    let older = kv::Config {
        bucket: SUBSCRIBERS.to_owned(),
        history: 1,
        ..kv::Config::default()
    };
    let older = context.create_key_value(older).await?;
    older.put("a-person", "a record".into()).await?;
    let (pending, confirmed) = ("0".repeat(32), "1".repeat(32));
    for (person, state) in [
        (&pending, r#""state":"pending","mailed":"2026-11-20T12:00:00Z""#),
        (
            &confirmed,
            r#""state":"confirmed","since":"2026-11-20T12:00:00Z""#,
        ),
    ] {
        let record = format!(
            r#"{{"email":"asha@example.com","subscription":"00000000-0000-0000-0000-000000000001",
                "requested":"2026-11-20T12:00:00Z",{state}}}"#
        );
        older.put(person, record.into()).await?;
    }

    let flags = nats.flags(User::Operator).into_iter().chain(s3.flags());
    let flags: Vec<String> = std::iter::once("setup".to_owned()).chain(flags).collect();
    let output = sitectl(&flags)?;
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let bucket = context.get_key_value(SUBSCRIBERS).await?;
    let config = &bucket.stream.cached_info().config;
    assert!(config.allow_message_ttl);
    assert_eq!(
        config.subject_delete_marker_ttl, None,
        "a marker would name the person"
    );
    assert_eq!(bucket.get("a-person").await?.as_deref(), Some(&b"a record"[..]));
    let time_of = async |person: &str| {
        let subject = format!("$KV.{SUBSCRIBERS}.{person}");
        let record = bucket.stream.get_last_raw_message_by_subject(&subject).await?;
        let time = record.headers.get(NATS_MESSAGE_TTL).map(ToString::to_string);
        anyhow::Ok(time)
    };
    assert_eq!(
        time_of(&pending).await?.as_deref(),
        Some("172800"),
        "its link was good for 48 h"
    );
    assert_eq!(time_of(&confirmed).await?, None);
    Ok(())
}
