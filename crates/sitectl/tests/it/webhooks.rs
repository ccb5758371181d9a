//! `sitectl webhooks`.

use async_nats::jetstream;
use serde_json::json;
use site_broker::ENDPOINTS_BUCKET;
use testkit::{Nats, User};

use crate::tool::{refused, told, told_json};

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

    nats.provision_for(TWO).await?;
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
            "name": "chat", "on": true, "off": null, "failingSince": null, "waiting": 1, "deadLetters": 0,
        })
    );
    assert_eq!((&crm["on"], &crm["deadLetters"]), (&json!(false), &json!(2)));
    let lines = told(&["webhooks", "list"], &flags)?;
    assert!(lines.contains("crm  off: it answered 410 Gone"), "{lines}");

    let done = told(&["webhooks", "enable", "crm"], &flags)?;
    assert!(done.contains("Switched on: crm") && done.contains("2"), "{done}");
    let list = told_json(&["webhooks", "list"], &flags)?;
    assert_eq!(list["endpoints"][1]["on"], true);
    assert_eq!(list["endpoints"][1]["failingSince"], json!(null));

    let again = refused(&["webhooks", "enable", "crm"], &flags)?;
    assert!(again.contains("is on"), "{again}");
    let unknown = refused(&["webhooks", "enable", "cmr"], &flags)?;
    assert!(unknown.contains("no endpoint cmr"), "{unknown}");
    Ok(())
}
