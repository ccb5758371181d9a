//! `sitectl setup`.

use std::fs;

use async_nats::jetstream::consumer::{DeliverPolicy, Info, PullConsumer, pull::Config};
use futures_util::{StreamExt, TryStreamExt};
use serde_json::json;
use site_events::{Channel, SITE_STREAM};
use testkit::{HttpStandIn, http_stand_in::Reply};

use crate::{
    site::{CONTACT, CRM, Site},
    tool::{assert_says, refused, told, told_in_part, told_json, tool, with, without},
};

#[tokio::test(flavor = "multi_thread")]
async fn setup_creates_missing_parts_and_is_repeatable() -> anyhow::Result<()> {
    let site = Site::empty().await?;
    for _ in 0..2 {
        let told = told_json(&["setup"], &site.flags)?;
        // Three streams, six buckets, four consumers beside those of mails, one S3 bucket.
        let ready = 14 + Channel::ALL.len();
        assert_eq!(told["ready"].as_array().map(Vec::len), Some(ready), "{told}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_larger_than_its_share_is_left_unchanged() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let context = site.jetstream().await?;
    for _ in 0..12 {
        let megabyte = vec![b'x'; 1_000_000];
        context.publish(CONTACT, megabyte.into()).await?.await?;
    }
    let limit = async || {
        let stream = context.get_stream(SITE_STREAM).await?;
        anyhow::Ok(stream.cached_info().config.max_bytes)
    };
    let before = limit().await?;
    let said = refused(&["setup", "--storage-mb=16"], &site.flags)?;
    assert_says(
        &said,
        &["stream SITE", "12.0 MB", "6.2 MB", "STREAM_STORAGE_MB=16 "],
    );
    assert_eq!(limit().await?, before);
    told(&["setup", "--storage-mb=31"], &site.flags)?;
    assert_eq!(limit().await?, 12_090_000);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_unusable_dependency_is_reported_with_its_setting() -> anyhow::Result<()> {
    let site = Site::start().await?;
    for (setting, wrong) in [
        ("NATS_PASSWORD", "wrong"),
        ("NATS_USER", "nobody"),
        ("S3_SECRET_ACCESS_KEY", "wrong"),
        ("S3_ACCESS_KEY_ID", "nobody"),
        ("S3_ENDPOINT", "http://127.0.0.1:9"),
        ("S3_ENDPOINT", "http://nowhere.invalid"),
    ] {
        let flag = format!("--{}={wrong}", setting.to_lowercase().replace('_', "-"));
        let said = refused(&["setup"], &with(&site.flags, &flag))?;
        assert_says(&said, &[setting]);
        assert!(!said.contains(['{', '"']), "a struct of the library's: {said}");
        let mut parts: Vec<&str> = said.split(": ").map(str::trim).collect();
        let count = parts.len();
        parts.sort_unstable();
        parts.dedup();
        assert_eq!(parts.len(), count, "a part is repeated: {said}");
    }
    Ok(())
}

/// Answer of STS with a session (AssumeRoleWithWebIdentity).
fn session(id: &str, secret: &str) -> String {
    format!(
        "<AssumeRoleWithWebIdentityResponse xmlns=\"https://sts.amazonaws.com/doc/2011-06-15/\">\
         <AssumeRoleWithWebIdentityResult><Credentials><AccessKeyId>{id}</AccessKeyId>\
         <SecretAccessKey>{secret}</SecretAccessKey><SessionToken>a session</SessionToken>\
         <Expiration>2100-01-01T00:00:00Z</Expiration></Credentials></AssumeRoleWithWebIdentityResult>\
         </AssumeRoleWithWebIdentityResponse>"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn a_web_identity_replaces_the_key_of_the_store() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let flags = without(
        &without(&site.flags, "--s3-access-key-id"),
        "--s3-secret-access-key",
    );
    let output = tool(&["setup"], &flags).output()?;
    let said = String::from_utf8(output.stderr)?;
    assert_eq!(
        (output.status.code(), said.lines().count()),
        (Some(2), 1),
        "{said}"
    );
    assert_says(&said, &["S3_ACCESS_KEY_ID", "S3_SECRET_ACCESS_KEY"]);

    let [.., (_, id), (_, secret)] = site.s3.env();
    let sts = HttpStandIn::start(move |_| Reply::Text(200, session(&id, &secret))).await?;
    let token = tempfile::NamedTempFile::new()?;
    fs::write(&token, "a-token")?;
    let setup = |sts: &str| {
        let mut setup = tool(&["setup"], &flags);
        setup
            .env("AWS_ROLE_ARN", "arn:aws:iam::123456789012:role/site")
            .env("AWS_WEB_IDENTITY_TOKEN_FILE", token.path())
            .env("AWS_ENDPOINT_URL_STS", sts)
            .output()
    };
    let output = setup(&sts.url)?;
    assert!(output.status.success(), "{}", String::from_utf8(output.stderr)?);
    let asked = sts
        .asked()
        .into_iter()
        .map(|request| String::from_utf8(request.body));
    let asked = asked.collect::<Result<Vec<_>, _>>()?.join("\n");
    assert_says(&asked, &["WebIdentityToken=a-token", "role%2Fsite"]);

    let refused = setup("http://127.0.0.1:9")?;
    assert!(!refused.status.success());
    assert_says(
        &String::from_utf8(refused.stderr)?,
        &["no session", "AWS_ROLE_ARN"],
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn setup_updates_consumers_and_new_ones_begin_with_new_events() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let context = site.jetstream().await?;
    let (joins, differs) = (Channel::ContactAcknowledgement.name(), Channel::SalesLead.name());
    for name in [joins, differs] {
        context.delete_consumer_from_stream(name, SITE_STREAM).await?;
    }
    let other = Config {
        durable_name: Some(differs.to_owned()),
        filter_subject: "site.contact.received.*".to_owned(),
        ..Config::default()
    };
    context.create_consumer_on_stream(other, SITE_STREAM).await?;
    context.publish(CONTACT, "{}".into()).await?.await?;

    told(&["setup"], &site.flags)?;
    let stream = context.get_stream(SITE_STREAM).await?;
    assert_eq!(stream.consumer_info(joins).await?.num_pending, 0);
    let info = stream.consumer_info(differs).await?;
    assert_eq!(info.num_pending, 1);
    assert_eq!(
        info.config.filter_subjects,
        ["site.contact.received.*", "replay.contact-received-sales.*"]
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_omitted_endpoint_with_events_is_removed_only_with_yes() -> anyhow::Result<()> {
    let site = Site::start().await?;
    site.nats.provision(&["--webhooks", CRM]).await?;
    let context = site.jetstream().await?;
    let stream = context.get_stream(SITE_STREAM).await?;
    let exists = async |name: &str| stream.consumer_info(name).await.is_ok();
    let reader = Config {
        durable_name: Some("warehouse".to_owned()),
        ..Config::default()
    };
    stream.create_consumer(reader).await?;
    for _ in 0..2 {
        context.publish(CONTACT, "{}".into()).await?.await?;
    }
    for unrelated in [
        &["setup", "--yes"][..],
        &["setup", &format!("--webhooks={CRM}"), "--yes"],
    ] {
        told(unrelated, &site.flags)?;
        assert!(exists("webhook-crm").await, "{unrelated:?}");
    }

    let omitted = ["setup", "--webhooks=[]", "--yes"];
    let repaired = Channel::SalesLead.name();
    stream.delete_consumer(repaired).await?;
    let (told, said) = told_in_part(&omitted[..2], &site.flags)?;
    assert_says(&told, &["left alone: consumer webhook-crm; waiting for it: 2"]);
    assert_says(&said, &["webhook-crm (2)", "--yes"]);
    assert!(exists(repaired).await, "all else is set up");

    // An event with an unacked delivery counts as waiting.
    let crm: PullConsumer = context
        .get_consumer_from_stream("webhook-crm", SITE_STREAM)
        .await?;
    let delivered = crm.fetch().max_messages(2).messages().await?;
    assert_eq!(delivered.count().await, 2);
    told_in_part(&omitted[..2], &site.flags)?;
    assert!(exists("webhook-crm").await);

    let told = told_json(&omitted, &site.flags)?;
    let removed = json!([{ "consumer": "webhook-crm", "waiting": 2 }]);
    assert_eq!((&told["removed"], &told["leftAlone"]), (&removed, &json!([])));
    assert!(!exists("webhook-crm").await);
    assert!(exists("warehouse").await, "another program's consumer");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn consumers_of_an_interrupted_setup_begin_with_the_first_event() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let context = site.jetstream().await?;
    context.delete_stream(SITE_STREAM).await?;
    site.nats.provision(&["--webhooks", CRM]).await?;
    let stream = context.get_stream(SITE_STREAM).await?;
    let mut consumers: Vec<_> = stream.consumers().try_collect().await?;
    consumers.sort_by_key(|consumer| consumer.created);
    // Simulates a setup that stopped after the streams, the buckets and `made` consumers.
    for made in 0..consumers.len() {
        for consumer in &consumers[made..] {
            stream.delete_consumer(&consumer.name).await?;
        }
        told(&["setup", &format!("--webhooks={CRM}")], &site.flags)?;
        let known: Vec<_> = stream.consumers().try_collect().await?;
        assert_eq!(known.len(), consumers.len());
        for Info { name, config, .. } in known {
            let begin = config.deliver_policy;
            assert_eq!(begin, DeliverPolicy::All, "{name}, where {made} were made");
        }
    }
    Ok(())
}
