//! `sitectl webhooks`.

use std::{fs, process::Output};

use async_nats::jetstream::{self, consumer::PullConsumer};
use serde_json::{Value, json};
use site_broker::ENDPOINTS_BUCKET;
use site_events::SITE_STREAM;
use testkit::{
    HttpStandIn, Nats, Receiver, User,
    http_stand_in::{Reply, body_of, header_of},
    root,
};

use crate::tool::{command, message, publish, refused, sitectl, told, told_json, told_rows};

const TWO: &str = r#"[
    {"name": "crm", "url": "https://crm.example", "events": ["contact.received"], "format": "slack"},
    {"name": "chat", "url": "https://chat.example", "events": ["contact.received"], "format": "slack"}
]"#;

#[tokio::test(flavor = "multi_thread")]
async fn an_endpoint_that_was_switched_off_is_switched_on_again() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let flags = nats.flags(User::Operator);
    let none = told(&["webhooks", "list"], &flags)?;
    assert!(none.contains("There are no endpoints"), "{none}");

    nats.provision(&["--webhooks", TWO]).await?;
    let context = jetstream::new(nats.client(User::Operator).await?);
    let endpoints = context.get_key_value(ENDPOINTS_BUCKET).await?;
    let off = r#"{"failing_since":"2026-11-01T10:00:00Z","off":"it answered 410 Gone"}"#;
    endpoints.put("crm", off.into()).await?;
    for number in 0..2 {
        let letter = format!("dead.webhook-crm.{number:032}");
        context.publish(letter, "{}".into()).await?.await?;
    }
    let event = "site.contact.received.0123456789abcdef0123456789abcdef";
    context.publish(event, "{}".into()).await?.await?;

    let list = told_json(&["webhooks", "list"], &flags)?;
    let (chat, crm) = (&list["endpoints"][0], &list["endpoints"][1]);
    assert_eq!(
        chat,
        &json!({
            "name": "chat", "state": "on", "on": true, "paused": false, "held": null, "off": null, "failingSince": null, "waiting": 1, "deadLetters": 0,
        })
    );
    assert_eq!((&crm["on"], &crm["deadLetters"]), (&json!(false), &json!(2)));
    let rows = told_rows(&["webhooks", "list"], &flags)?;
    assert_eq!(rows[0], ["chat", "1", "0", "on"]);
    assert_eq!(rows[1], ["crm", "1", "2", "off: it answered 410 Gone"]);

    let done = told(&["webhooks", "enable", "crm"], &flags)?;
    assert!(done.contains("Switched on: crm") && done.contains("2"), "{done}");
    let list = told_json(&["webhooks", "list"], &flags)?;
    assert_eq!(list["endpoints"][1]["on"], true);
    assert_eq!(list["endpoints"][1]["failingSince"], json!(null));

    endpoints.put("crm", off.into()).await?;
    let done = told_json(&["webhooks", "enable", "crm"], &flags)?;
    assert_eq!(
        done,
        json!({ "name": "crm", "state": "on", "enabled": "crm", "deadLetters": 2 })
    );
    let again = refused(&["webhooks", "enable", "crm"], &flags)?;
    assert!(again.contains("is on"), "{again}");
    let unknown = refused(&["webhooks", "enable", "cmr"], &flags)?;
    assert!(unknown.contains("no endpoint cmr"), "{unknown}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_comes_for_an_endpoint_that_is_paused_waits_through_a_setup() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    nats.provision(&["--webhooks", TWO]).await?;
    let flags = nats.flags(User::Operator);
    let done = told(&["webhooks", "pause", "crm"], &flags)?;
    assert!(done.starts_with("Paused: crm."), "{done}");
    let paused = told_json(&["webhooks", "pause", "crm"], &flags)?;
    assert_eq!(
        paused,
        json!({ "name": "crm", "state": "paused", "paused": "crm" })
    );
    publish(&nats, "zoe@example.org", message("Zoe", "zoe@example.org")?).await?;
    nats.provision(&["--webhooks", TWO]).await?;

    let context = jetstream::new(nats.client(User::Operator).await?);
    let taken = async |name: &str| -> anyhow::Result<usize> {
        let consumer: PullConsumer = context.get_consumer_from_stream(name, SITE_STREAM).await?;
        let batch = consumer.fetch().max_messages(10).messages().await?;
        Ok(futures_util::StreamExt::count(batch).await)
    };
    assert_eq!(taken("webhook-chat").await?, 1);
    assert_eq!(taken("webhook-crm").await?, 0, "it is handed out to nobody");
    let list = told_json(&["webhooks", "list"], &flags)?;
    assert_eq!(list["endpoints"][1]["paused"], true);
    let rows = told_rows(&["webhooks", "list"], &flags)?;
    assert_eq!(rows[1], ["crm", "1", "0", "paused"]);

    let resumed = told_json(&["webhooks", "resume", "crm"], &flags)?;
    assert_eq!(
        resumed,
        json!({ "name": "crm", "state": "running", "resumed": "crm", "waiting": 1 })
    );
    assert_eq!(taken("webhook-crm").await?, 1);
    assert!(refused(&["webhooks", "resume", "crm"], &flags)?.contains("is not paused"));
    assert!(refused(&["webhooks", "pause", "cmr"], &flags)?.contains("no endpoint cmr"));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_last_attempts_are_listed_the_newest_first_and_are_no_endpoint() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    nats.provision(&["--webhooks", TWO]).await?;
    let flags = nats.flags(User::Operator);
    let none = told(&["webhooks", "deliveries", "crm"], &flags)?;
    assert_eq!(none, "Nothing was sent to an endpoint crm yet.\n");
    assert!(refused(&["webhooks", "deliveries", "cmr"], &flags)?.contains("no endpoint cmr"));
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
    let context = jetstream::new(nats.client(User::Operator).await?);
    let endpoints = context.get_key_value(ENDPOINTS_BUCKET).await?;
    endpoints.put("crm_attempts", attempts.to_string().into()).await?;
    let rows = told_rows(&["webhooks", "deliveries", "crm"], &flags)?;
    assert_eq!(rows[0][2..], ["2", "204", "80", "-"]);
    assert_eq!(rows[1][2..], ["1", "500", "120", "the receiver answered 500"]);
    let told = told_json(&["webhooks", "deliveries", "crm"], &flags)?;
    assert_eq!(told["deliveries"][1], attempts[0]);
    let list = told_json(&["webhooks", "list"], &flags)?;
    assert_eq!(list["endpoints"].as_array().map(Vec::len), Some(2));
    Ok(())
}

fn hubspot(url: &str, secrets: &std::path::Path) -> Vec<String> {
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
async fn a_sample_is_shown_without_a_secret_and_sent_only_where_that_is_asked_for() -> anyhow::Result<()> {
    let vendor = HttpStandIn::start(|asked| match asked.url.path() {
        "/crm/v3/objects/notes" => Reply::Answer(201, json!({ "id": "9" })),
        _ => Reply::Answer(200, json!({ "results": [{ "id": "512" }] })),
    })
    .await?;
    let secrets = tempfile::tempdir()?;
    let flags = hubspot(&vendor.url, secrets.path());
    // A preview needs no secret.
    let shown = told(&["webhooks", "preview", "crm"], &flags)?;
    assert!(shown.contains("POST http://127.0.0.1:"), "{shown}");
    assert!(shown.contains("# contact") && shown.contains("# note"), "{shown}");
    assert!(
        shown.contains("\"id\":\"contact.id\""),
        "what is not known yet has a name: {shown}"
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
    assert_eq!(
        body_of(&asked[0])["inputs"][0]["properties"]["site_person_id"],
        "0".repeat(32)
    );

    let erased = told(
        &["webhooks", "preview", "crm", "--event", "person.erased"],
        &flags,
    )?;
    assert!(erased.contains("# erasure"), "{erased}");
    let unheard = refused(
        &["webhooks", "preview", "crm", "--event", "careers.applied"],
        &flags,
    )?;
    assert!(
        unheard.contains("does not hear of the event careers.applied"),
        "{unheard}"
    );
    let unknown = refused(&["webhooks", "test", "cmr"], &flags)?;
    assert!(unknown.contains("names no endpoint cmr"), "{unknown}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sample_that_is_not_taken_is_shown_with_its_answer_and_fails() -> anyhow::Result<()> {
    let vendor = HttpStandIn::start(|_| {
        let answer: Value =
            json!({ "category": "VALIDATION_ERROR", "message": "Bad \u{1b}[31mvalue pat-na1-abc" });
        Reply::Answer(400, answer)
    })
    .await?;
    let secrets = tempfile::tempdir()?;
    fs::write(secrets.path().join("hubspot-token"), "pat-na1-abc")?;
    let flags = hubspot(&vendor.url, secrets.path());
    let Output {
        status,
        stdout,
        stderr,
    } = sitectl(&command(&["webhooks", "test", "crm"], &flags))?;
    let (shown, said) = (String::from_utf8(stdout)?, String::from_utf8(stderr)?);
    assert_eq!(status.code(), Some(1));
    assert!(
        said.contains("step contact: the receiver answered 400 (VALIDATION_ERROR)"),
        "{said}"
    );
    assert!(
        shown.contains("< 400") && shown.contains("VALIDATION_ERROR"),
        "{shown}"
    );
    assert!(
        shown.contains("[secret hubspot-token]") && !shown.contains("pat-na1-abc"),
        "{shown}"
    );
    assert!(!shown.contains('\u{1b}'), "{shown}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sample_for_a_program_of_ones_own_is_signed() -> anyhow::Result<()> {
    let receiver = Receiver::start_at(0).await?;
    let endpoints = json!([receiver.endpoint("crm", &["contact.received"])]);
    let flags = vec![
        format!("--webhooks={endpoints}"),
        "--webhooks-allow-private".to_owned(),
    ];
    let shown = told(&["webhooks", "test", "crm"], &flags)?;
    let received = receiver.received();
    assert!(received[0].verified);
    assert_eq!(received[0].body["subject"], "0".repeat(32));
    assert!(
        shown.contains("< 204") && !shown.contains("/hooks"),
        "the address may be a secret: {shown}"
    );
    Ok(())
}
