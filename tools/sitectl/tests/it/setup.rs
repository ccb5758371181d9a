//! `sitectl setup`.

use async_nats::jetstream::{
    self,
    consumer::{DeliverPolicy, Info, PullConsumer, pull::Config},
    kv,
};
use futures_util::{StreamExt, TryStreamExt};
use serde_json::{Value, json};
use site_broker::SUBSCRIBERS_BUCKET;
use site_events::{Channel, SITE_STREAM};
use testkit::{Nats, S3, User};

use crate::tool::{PERSON_KEY, refused, sitectl, told, told_in_part, told_json, unread};

fn flags_of(nats: &Nats, s3: &S3) -> Vec<String> {
    let key = format!("--person-key={PERSON_KEY}");
    [nats.flags(User::Operator), s3.flags(), vec![key]].concat()
}

#[tokio::test(flavor = "multi_thread")]
async fn setup_creates_what_is_missing_and_may_be_repeated() -> anyhow::Result<()> {
    let (nats, s3) = (Nats::start().await?, S3::start().await?);
    let default_flags = ["setup".to_owned(), "--json".to_owned()].into_iter();
    let flags: Vec<String> = default_flags.chain(flags_of(&nats, &s3)).collect();
    for _ in 0..2 {
        let output = sitectl(&flags)?;
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        let told: Value = serde_json::from_slice(&output.stdout)?;
        let ready = told["ready"].as_array().map(Vec::len);
        // Three streams, six buckets, eleven consumers, one S3 bucket.
        assert_eq!(ready, Some(21), "{told}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stream_that_holds_more_than_its_share_is_left_as_it_is() -> anyhow::Result<()> {
    let (nats, s3) = (Nats::start().await?, S3::start().await?);
    let context = jetstream::new(nats.client(User::Operator).await?);
    let subject = "site.contact.received.0123456789abcdef0123456789abcdef";
    for _ in 0..12 {
        let megabyte = vec![b'x'; 1_000_000];
        context.publish(subject, megabyte.into()).await?.await?;
    }
    let limit = async || -> anyhow::Result<i64> {
        let stream = context.get_stream(SITE_STREAM).await?;
        Ok(stream.cached_info().config.max_bytes)
    };
    let before = limit().await?;
    let setup = |storage: &str| {
        let flags: Vec<String> = ["setup".to_owned(), storage.to_owned()]
            .into_iter()
            .chain(flags_of(&nats, &s3))
            .collect();
        sitectl(&flags)
    };

    let output = setup("--storage-mb=16")?;
    assert!(!output.status.success());
    let said = String::from_utf8(output.stderr)?;
    for word in ["stream SITE", "12.0 MB", "6.2 MB", "STREAM_STORAGE_MB=16 "] {
        assert!(said.contains(word), "no {word} in {said}");
    }
    assert_eq!(said.trim().lines().count(), 1, "{said}");
    assert_eq!(limit().await?, before);

    assert!(setup("--storage-mb=31")?.status.success());
    assert_eq!(limit().await?, 12_090_000);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_cannot_be_used_is_one_sentence_that_names_the_setting_and_says_nothing_twice()
-> anyhow::Result<()> {
    let (nats, s3) = (Nats::start().await?, S3::start().await?);
    for (setting, wrong) in [
        ("NATS_PASSWORD", "wrong"),
        ("NATS_USER", "nobody"),
        ("S3_SECRET_ACCESS_KEY", "wrong"),
        ("S3_ACCESS_KEY_ID", "nobody"),
        ("S3_ENDPOINT", "http://127.0.0.1:9"),
        ("S3_ENDPOINT", "http://nowhere.invalid"),
    ] {
        let flag = format!("--{}=", setting.to_lowercase().replace('_', "-"));
        let mut flags = flags_of(&nats, &s3);
        flags.retain(|other| !other.starts_with(&flag));
        flags.push(flag + wrong);
        let said = refused(&["setup"], &flags)?;
        assert!(said.contains(setting), "{said}");
        assert!(!said.contains(['{', '"']), "a struct of the library's: {said}");
        let parts: Vec<&str> = said.split(": ").map(str::trim).collect();
        let repeated = parts
            .iter()
            .enumerate()
            .find(|(at, part)| parts[..*at].contains(part));
        assert_eq!(repeated, None, "{said}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn setup_updates_a_consumer_that_differs() -> anyhow::Result<()> {
    let (nats, s3) = (Nats::start().await?, S3::start().await?);
    let context = jetstream::new(nats.client(User::Operator).await?);
    let name = Channel::SalesLead.name();
    context.delete_consumer_from_stream(name, SITE_STREAM).await?;
    let other = Config {
        durable_name: Some(name.to_owned()),
        filter_subject: "site.contact.received.*".to_owned(),
        ..Config::default()
    };
    context.create_consumer_on_stream(other, SITE_STREAM).await?;

    let flags: Vec<String> = std::iter::once("setup".to_owned())
        .chain(flags_of(&nats, &s3))
        .collect();
    let output = sitectl(&flags)?;
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let stream = context.get_stream(SITE_STREAM).await?;
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
    context.delete_consumer_from_stream(joins, SITE_STREAM).await?;
    let before = "site.contact.received.0123456789abcdef0123456789abcdef";
    context.publish(before, "{}".into()).await?.await?;

    let flags: Vec<String> = std::iter::once("setup".to_owned())
        .chain(flags_of(&nats, &s3))
        .collect();
    assert!(sitectl(&flags)?.status.success());
    let stream = context.get_stream(SITE_STREAM).await?;
    assert_eq!(stream.consumer_info(joins).await?.num_pending, 0);
    assert_eq!(stream.consumer_info(stays).await?.num_pending, 1);
    Ok(())
}

const CRM: &str = r#"[
    {"name": "crm", "url": "https://crm.example", "events": ["contact.received"], "format": "slack"}
]"#;

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_goes_only_where_the_setting_says_so() -> anyhow::Result<()> {
    let (nats, s3) = (Nats::start().await?, S3::start().await?);
    nats.provision(&["--webhooks", CRM]).await?;
    let stream = jetstream::new(nats.client(User::Operator).await?)
        .get_stream(SITE_STREAM)
        .await?;
    let flags = flags_of(&nats, &s3);
    told(&["setup", "--yes"], &flags)?;
    assert!(stream.consumer_info("webhook-crm").await.is_ok());
    let reader = Config {
        durable_name: Some("warehouse".to_owned()),
        ..Config::default()
    };
    stream.create_consumer(reader).await?;
    told(&["setup", &format!("--webhooks={CRM}"), "--yes"], &flags)?;
    assert!(
        stream.consumer_info("webhook-crm").await.is_ok(),
        "it is still named"
    );

    let said = told(&["setup", "--webhooks=[]"], &flags)?;
    assert!(
        said.contains("removed: consumer webhook-crm; given up with it: 0"),
        "{said}"
    );
    assert!(stream.consumer_info("webhook-crm").await.is_err());
    assert!(
        stream.consumer_info("warehouse").await.is_ok(),
        "a reader's is none of ours"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_waits_for_a_former_endpoint_is_given_up_only_with_yes() -> anyhow::Result<()> {
    let (nats, s3) = (Nats::start().await?, S3::start().await?);
    nats.provision(&["--webhooks", CRM]).await?;
    let context = jetstream::new(nats.client(User::Operator).await?);
    for _ in 0..2 {
        let event = "site.contact.received.0123456789abcdef0123456789abcdef";
        context.publish(event, "{}".into()).await?.await?;
    }
    let mends = Channel::SalesLead.name();
    context.delete_consumer_from_stream(mends, SITE_STREAM).await?;
    let flags = flags_of(&nats, &s3);

    let (told, said) = told_in_part(&["setup", "--webhooks=[]"], &flags)?;
    assert!(
        told.contains("left alone: consumer webhook-crm; waiting for it: 2"),
        "{told}"
    );
    assert!(
        said.contains("webhook-crm (2)") && said.contains("--yes"),
        "{said}"
    );
    let stream = context.get_stream(SITE_STREAM).await?;
    assert!(
        stream.consumer_info(mends).await.is_ok(),
        "all else is set up nevertheless"
    );

    let unread = unread(&["setup", "--webhooks=[]"], &flags)?;
    assert_eq!(
        (unread.status.code(), String::from_utf8(unread.stderr)?),
        (Some(1), said),
        "it ends as if somebody read"
    );

    // Unacked deliveries wait as well.
    let crm: PullConsumer = context
        .get_consumer_from_stream("webhook-crm", SITE_STREAM)
        .await?;
    let handed_out = crm.fetch().max_messages(2).messages().await?;
    assert_eq!(handed_out.count().await, 2);
    let (told, _) = told_in_part(&["setup", "--webhooks=[]", "--json"], &flags)?;
    let told: Value = serde_json::from_str(&told)?;
    assert_eq!(
        (&told["removed"], &told["leftAlone"]),
        (&json!([]), &json!([{ "consumer": "webhook-crm", "waiting": 2 }]))
    );
    assert!(stream.consumer_info("webhook-crm").await.is_ok());

    let told = told_json(&["setup", "--webhooks=[]", "--yes"], &flags)?;
    assert_eq!(
        (&told["removed"], &told["leftAlone"]),
        (&json!([{ "consumer": "webhook-crm", "waiting": 2 }]), &json!([]))
    );
    assert!(stream.consumer_info("webhook-crm").await.is_err());
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_bucket_that_is_there_is_given_what_it_lacks_and_keeps_its_records() -> anyhow::Result<()> {
    let (nats, s3) = (Nats::start().await?, S3::start().await?);
    let context = jetstream::new(nats.client(User::Operator).await?);
    context.delete_key_value(SUBSCRIBERS_BUCKET).await?;
    let plain = kv::Config {
        bucket: SUBSCRIBERS_BUCKET.to_owned(),
        history: 1,
        ..kv::Config::default()
    };
    let plain = context.create_key_value(plain).await?;
    plain.put("a-person", "a record".into()).await?;

    told(&["setup"], &flags_of(&nats, &s3))?;
    let bucket = context.get_key_value(SUBSCRIBERS_BUCKET).await?;
    let config = &bucket.stream.cached_info().config;
    assert!(config.allow_message_ttl);
    assert_eq!(
        config.subject_delete_marker_ttl, None,
        "a marker would name the person"
    );
    assert_eq!(bucket.get("a-person").await?.as_deref(), Some(&b"a record"[..]));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_taken_before_an_interrupted_setup_is_repeated_is_told_of() -> anyhow::Result<()> {
    let (nats, s3) = (Nats::start().await?, S3::start().await?);
    let context = jetstream::new(nats.client(User::Operator).await?);
    context.delete_stream(SITE_STREAM).await?;
    nats.provision(&["--webhooks", CRM]).await?;
    let site = context.get_stream(SITE_STREAM).await?;
    let mut consumers: Vec<_> = site.consumers().try_collect().await?;
    consumers.sort_by_key(|consumer| consumer.created);
    let flags = flags_of(&nats, &s3);
    let webhooks = format!("--webhooks={CRM}");
    // As if setup had stopped after the streams, the buckets and this many consumers.
    for made in 0..consumers.len() {
        for consumer in &consumers[made..] {
            site.delete_consumer(&consumer.name).await?;
        }
        told(&["setup", &webhooks], &flags)?;
        let known: Vec<_> = site.consumers().try_collect().await?;
        assert_eq!(known.len(), consumers.len());
        for Info { name, config, .. } in known {
            let begin = config.deliver_policy;
            assert_eq!(begin, DeliverPolicy::All, "{name}, where {made} were made");
        }
    }
    Ok(())
}
