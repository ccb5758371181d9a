//! `sitectl webhooks`.

use std::{fs, path::Path};

use async_nats::jetstream::consumer::PullConsumer;
use futures_util::StreamExt as _;
use serde_json::{Value, json};
use site_broker::ENDPOINTS_BUCKET;
use site_events::SITE_STREAM;
use testkit::{
    HttpStandIn,
    http_stand_in::{Reply, body_of, header_of},
    root,
};

use crate::{
    doctor::OFF,
    site::{CONTACT, Site},
    tool::{assert_says, refused, told, told_in_part, told_json, told_rows},
};

const TWO: &str = r#"[
    {"name": "crm", "url": "https://crm.example", "events": ["contact.received"], "format": "slack"},
    {"name": "chat", "url": "https://chat.example", "events": ["contact.received"], "format": "slack"}
]"#;

async fn with_two_endpoints() -> anyhow::Result<Site> {
    let site = Site::start().await?;
    let none = told(&["webhooks", "list"], &site.broker)?;
    assert_says(&none, &["There are no endpoints"]);
    site.nats.provision(&["--webhooks", TWO]).await?;
    Ok(site)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_disabled_endpoint_is_enabled_again() -> anyhow::Result<()> {
    let site = with_two_endpoints().await?;
    let context = site.jetstream().await?;
    let endpoints = context.get_key_value(ENDPOINTS_BUCKET).await?;
    endpoints.put("crm", OFF.into()).await?;
    for number in 0..2 {
        let letter = format!("dead.webhook-crm.{number:032}");
        context.publish(letter, "{}".into()).await?.await?;
    }
    context.publish(CONTACT, "{}".into()).await?.await?;

    let list = told_json(&["webhooks", "list"], &site.broker)?;
    let (chat, crm) = (&list["endpoints"][0], &list["endpoints"][1]);
    assert_eq!(
        chat,
        &json!({
            "name": "chat", "state": "on", "on": true, "paused": false, "held": null, "off": null, "failingSince": null, "waiting": 1, "deadLetters": 0,
        })
    );
    assert_eq!((&crm["on"], &crm["deadLetters"]), (&json!(false), &json!(2)));
    let rows = told_rows(&["webhooks", "list"], &site.broker)?;
    assert_eq!(rows[0], ["chat", "1", "0", "on"]);
    assert_eq!(rows[1], ["crm", "1", "2", "off: it answered 410 Gone"]);

    let done = told_json(&["webhooks", "enable", "crm"], &site.broker)?;
    let enabled = json!({ "name": "crm", "state": "on", "enabled": "crm", "deadLetters": 2 });
    assert_eq!(done, enabled);
    let list = told_json(&["webhooks", "list"], &site.broker)?;
    assert_eq!(list["endpoints"][1]["on"], true);
    assert_eq!(list["endpoints"][1]["failingSince"], json!(null));
    assert_says(
        &refused(&["webhooks", "enable", "crm"], &site.broker)?,
        &["is on"],
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn events_of_a_paused_endpoint_wait_through_a_setup() -> anyhow::Result<()> {
    let site = with_two_endpoints().await?;
    let done = told(&["webhooks", "pause", "crm"], &site.broker)?;
    assert!(done.starts_with("Paused: crm."), "{done}");
    let paused = told_json(&["webhooks", "pause", "crm"], &site.broker)?;
    assert_eq!(
        paused,
        json!({ "name": "crm", "state": "paused", "paused": "crm" })
    );
    let context = site.jetstream().await?;
    context.publish(CONTACT, "{}".into()).await?.await?;
    site.nats.provision(&["--webhooks", TWO]).await?;

    let delivered = async |name: &str| -> anyhow::Result<usize> {
        let consumer: PullConsumer = context.get_consumer_from_stream(name, SITE_STREAM).await?;
        let batch = consumer.fetch().max_messages(10).messages().await?;
        Ok(batch.count().await)
    };
    assert_eq!(delivered("webhook-chat").await?, 1);
    assert_eq!(delivered("webhook-crm").await?, 0);
    let list = told_json(&["webhooks", "list"], &site.broker)?;
    assert_eq!(list["endpoints"][1]["paused"], true);
    let rows = told_rows(&["webhooks", "list"], &site.broker)?;
    assert_eq!(rows[1], ["crm", "1", "0", "paused"]);

    let resumed = told_json(&["webhooks", "resume", "crm"], &site.broker)?;
    let running = json!({ "name": "crm", "state": "running", "resumed": "crm", "waiting": 1 });
    assert_eq!(resumed, running);
    assert_eq!(delivered("webhook-crm").await?, 1);
    assert_says(
        &refused(&["webhooks", "resume", "crm"], &site.broker)?,
        &["is not paused"],
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_latest_attempts_are_listed_newest_first() -> anyhow::Result<()> {
    let site = with_two_endpoints().await?;
    let none = told(&["webhooks", "deliveries", "crm"], &site.broker)?;
    assert_eq!(none, "Nothing was sent to an endpoint crm yet.\n");
    for command in ["deliveries", "enable", "pause"] {
        let unknown = refused(&["webhooks", command, "cmr"], &site.broker)?;
        assert_says(&unknown, &["no endpoint cmr"]);
    }
    let attempts = json!([
        {
            "time": "2026-11-20T12:00:00Z", "event": "0199d4c0-0000-7000-8000-000000000000", "attempt": 1,
            "status": 500, "milliseconds": 120, "error": "the receiver answered 500",
        },
        {
            "time": "2026-11-20T12:00:05Z", "event": "0199d4c0-0000-7000-8000-000000000000", "attempt": 2,
            "status": 204, "milliseconds": 80, "error": null,
        },
    ]);
    let endpoints = site.jetstream().await?.get_key_value(ENDPOINTS_BUCKET).await?;
    endpoints.put("crm_attempts", attempts.to_string().into()).await?;
    let rows = told_rows(&["webhooks", "deliveries", "crm"], &site.broker)?;
    assert_eq!(rows[0][2..], ["2", "204", "80", "-"]);
    assert_eq!(rows[1][2..], ["1", "500", "120", "the receiver answered 500"]);
    let told = told_json(&["webhooks", "deliveries", "crm"], &site.broker)?;
    assert_eq!(told["deliveries"][1], attempts[0]);
    let list = told_json(&["webhooks", "list"], &site.broker)?;
    assert_eq!(list["endpoints"].as_array().map(Vec::len), Some(2));
    Ok(())
}

fn hubspot(url: &str, secrets: &Path) -> Vec<String> {
    let endpoint = json!([{
        "name": "crm", "url": url, "events": ["contact.received", "person.erased"], "format": "template",
        "recipe": root().join("recipes/hubspot.yaml"),
    }]);
    vec![
        format!("--webhooks={endpoint}"),
        format!("--webhooks-secrets-dir={}", secrets.display()),
        "--webhooks-allow-private".to_owned(),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn samples_are_previewed_without_secrets_and_sent_by_test() -> anyhow::Result<()> {
    let vendor = HttpStandIn::start(|asked| match asked.url.path() {
        "/crm/v3/objects/notes" => Reply::Answer(201, json!({ "id": "9" })),
        _ => Reply::Answer(200, json!({ "results": [{ "id": "512" }] })),
    })
    .await?;
    let secrets = tempfile::tempdir()?;
    let flags = hubspot(&vendor.url, secrets.path());
    // A preview needs no secret. In place of a value from an answer, it shows the value's name.
    let shown = told(&["webhooks", "preview", "crm"], &flags)?;
    assert_says(
        &shown,
        &[
            "POST http://127.0.0.1:",
            "# contact",
            "# note",
            "\"id\":\"contact.id\"",
        ],
    );
    assert!(vendor.asked().is_empty());

    fs::write(secrets.path().join("hubspot-token"), "pat-na1-abc\n")?;
    let done = told_json(&["webhooks", "test", "crm"], &flags)?;
    assert_eq!(done["taken"], true);
    assert_eq!(done["requests"].as_array().map(Vec::len), Some(2));
    assert_eq!(done["requests"][1]["answer"]["status"], 201);
    assert!(!done.to_string().contains("pat-na1-abc"), "{done}");
    let asked = vendor.asked();
    assert_eq!(asked.len(), 2);
    assert_eq!(header_of(&asked[0], "authorization"), "Bearer pat-na1-abc");
    let person = &body_of(&asked[0])["inputs"][0]["properties"]["site_person_id"];
    assert_eq!(*person, "0".repeat(32));

    let preview = |event: &'static str| ["webhooks", "preview", "crm", "--event", event];
    assert_says(&told(&preview("person.erased"), &flags)?, &["# erasure"]);
    let unsent = refused(&preview("careers.applied"), &flags)?;
    assert_says(&unsent, &["does not receive the event careers.applied"]);
    let unknown = refused(&["webhooks", "test", "cmr"], &flags)?;
    assert_says(&unknown, &["names no endpoint cmr"]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refused_sample_is_shown_with_its_answer() -> anyhow::Result<()> {
    let vendor = HttpStandIn::start(|_| {
        let answer: Value =
            json!({ "category": "VALIDATION_ERROR", "message": "Bad \u{1b}[31mvalue pat-na1-abc" });
        Reply::Answer(400, answer)
    })
    .await?;
    let secrets = tempfile::tempdir()?;
    fs::write(secrets.path().join("hubspot-token"), "pat-na1-abc")?;
    let flags = hubspot(&vendor.url, secrets.path());
    let (shown, said) = told_in_part(&["webhooks", "test", "crm"], &flags)?;
    assert_says(
        &said,
        &["step contact: the receiver answered 400 (VALIDATION_ERROR)"],
    );
    assert_says(&shown, &["< 400", "VALIDATION_ERROR", "[secret hubspot-token]"]);
    assert!(
        !shown.contains("pat-na1-abc") && !shown.contains('\u{1b}'),
        "{shown}"
    );
    Ok(())
}
