//! Webhooks as endpoints receive them, and endpoints that refuse them.

use std::time::Duration;

use anyhow::Context;
use axum::http::StatusCode;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use site_broker::ENDPOINTS_BUCKET;
use site_events::event::CONTENT_TYPE;
use testkit::{
    MailServer, Nats, Receiver, eventually, external_program,
    receiver::{Received, secret},
};
use time::format_description::well_known::Rfc3339;

use crate::running::{HURRY, NEVER, Running, SOON, Site, message, take, until};

const VISITOR: &str = "zoe@example.org";

pub struct Sending {
    pub nats: Nats,
    _mail_server: MailServer,
    flags: Vec<String>,
    _running: Running,
    pub site: Site,
}

impl Sending {
    async fn to(endpoints: &[Value]) -> anyhow::Result<Self> {
        Self::retrying_after(HURRY, endpoints).await
    }

    pub async fn retrying_after(pause: Duration, endpoints: &[Value]) -> anyhow::Result<Self> {
        let nats = Nats::start().await?;
        let mail_server = MailServer::start(take).await?;
        let webhooks = json!(endpoints).to_string();
        nats.provision(&["--webhooks", &webhooks]).await?;
        let flags = vec![
            format!("--webhooks={webhooks}"),
            "--webhooks-allow-private".to_owned(),
        ];
        Ok(Self {
            _running: Running::start_retrying_after(pause, &nats, mail_server.port, &flags).await?,
            site: Site::on(&nats).await?,
            nats,
            _mail_server: mail_server,
            flags,
        })
    }

    async fn dead_letters(&self, of: &str) -> anyhow::Result<Vec<String>> {
        let letters = self.nats.dead_letters().await?;
        let prefix = format!("dead.{of}.");
        let of_it = letters
            .iter()
            .filter(|letter| letter.subject.starts_with(&prefix));
        Ok(of_it
            .filter_map(|letter| letter.headers.get("Dead-Letter-Error"))
            .map(ToString::to_string)
            .collect())
    }
}

async fn first(receiver: &Receiver) -> anyhow::Result<Received> {
    eventually("a webhook", SOON, async || receiver.received().into_iter().next()).await
}

#[tokio::test]
async fn an_endpoint_gets_its_events_signed_as_they_are_stored() -> anyhow::Result<()> {
    let receiver = Receiver::start_at(0).await?;
    let sending = Sending::to(&[receiver.endpoint("crm", &["contact.received"])]).await?;
    sending.site.request_newsletter(VISITOR).await?;
    let event = sending.site.contact(VISITOR).await?;

    let webhook = first(&receiver).await?;
    assert!(webhook.verified, "{webhook:?}");
    assert_eq!(webhook.id, event.to_string());
    assert_eq!(webhook.headers["content-type"], CONTENT_TYPE);
    let stored = sending.nats.events().await?;
    assert!(stored.contains(&webhook.body), "{webhook:?}");
    assert_eq!(webhook.body["data"]["message"], message(VISITOR)?.message);
    assert_eq!(receiver.received().len(), 1, "it hears of nothing else");
    Ok(())
}

/// Verdict of the Python libraries of Standard Webhooks and CloudEvents.
async fn judged(webhook: &Received, secret: &str) -> anyhow::Result<Value> {
    let mut headers = serde_json::Map::new();
    for (name, value) in &webhook.headers {
        headers.insert(name.to_string(), value.to_str()?.into());
    }
    let asked = json!({ "secret": secret, "headers": headers, "body": STANDARD.encode(&webhook.raw_body) });
    let script = external_program::python("services/notifier/tests/foreign/verify_webhook.py");
    let answer = external_program::run(script, asked.to_string().as_bytes()).await?;
    Ok(serde_json::from_str(&answer)?)
}

#[tokio::test]
async fn standard_libraries_verify_webhooks_during_a_rotation() -> anyhow::Result<()> {
    let receiver = Receiver::start_at(0).await?;
    let (new, old) = (secret(), secret());
    let mut endpoint = receiver.endpoint("crm", &["contact.received"]);
    endpoint["secrets"] = json!([new, old]);
    let sending = Sending::to(&[endpoint]).await?;
    let event = sending.site.contact(VISITOR).await?;
    let webhook = first(&receiver).await?;
    for known in [&new, &old] {
        let judged = judged(&webhook, known).await?;
        assert_eq!(judged["verified"], true);
        assert_eq!(judged["event"]["id"], event.to_string());
        assert_eq!(judged["event"]["type"], "site.contact.received.v1");
        assert_eq!(judged["event"]["subject"], webhook.body["subject"]);
        assert_eq!(judged["data"], webhook.body["data"]);
    }
    assert_eq!(judged(&webhook, &secret()).await?["verified"], false);
    let mut changed = webhook.clone();
    let text = String::from_utf8(webhook.raw_body.to_vec())?;
    changed.raw_body = text.replace("Two cameras", "Ten cameras").into();
    assert_eq!(judged(&changed, &new).await?["verified"], false);
    Ok(())
}

#[tokio::test]
async fn an_unavailable_endpoint_blocks_no_other() -> anyhow::Result<()> {
    let (away, there) = (Receiver::start_at(0).await?, Receiver::start_at(0).await?);
    away.answer(StatusCode::SERVICE_UNAVAILABLE);
    let sending = Sending::to(&[
        away.endpoint("away", &["contact.received"]),
        there.endpoint("there", &["contact.received"]),
    ])
    .await?;
    let event = sending.site.contact(VISITOR).await?;
    first(&there).await?;
    first(&away).await?;
    away.answer(StatusCode::OK);
    until("a second attempt", || away.received().len() >= 2).await?;
    let received = away.received();
    assert!(received.iter().all(|webhook| webhook.id == event.to_string()));
    assert_eq!(there.received().len(), 1);
    assert!(sending.dead_letters("webhook-away").await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn refusals_are_dead_lettered_and_redirects_not_followed() -> anyhow::Result<()> {
    let (refusing, moved) = (Receiver::start_at(0).await?, Receiver::start_at(0).await?);
    refusing.answer(StatusCode::UNPROCESSABLE_ENTITY);
    moved.answer(StatusCode::TEMPORARY_REDIRECT);
    let endpoints = [
        refusing.endpoint("refusing", &["contact.received"]),
        moved.endpoint("moved", &["contact.received"]),
    ];
    let sending = Sending::retrying_after(NEVER, &endpoints).await?;
    sending.site.contact(VISITOR).await?;
    let reasons = eventually("a dead letter", SOON, async || {
        let reasons = sending.dead_letters("webhook-refusing").await.ok()?;
        (!reasons.is_empty()).then_some(reasons)
    })
    .await?;
    assert_eq!(reasons, ["the receiver answered 422"]);
    assert_eq!(refusing.received().len(), 1);
    first(&moved).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    assert_eq!(
        moved.received().len(),
        1,
        "it was sent elsewhere and is tried again later"
    );
    assert!(sending.dead_letters("webhook-moved").await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn an_endpoint_refusing_credentials_is_held_until_resumed() -> anyhow::Result<()> {
    const MESSAGES: usize = 10;
    let receiver = Receiver::start_at(0).await?;
    receiver.answer(StatusCode::UNAUTHORIZED);
    let sending = Sending::to(&[receiver.endpoint("crm", &["contact.received"])]).await?;
    let site = &sending.site;
    for number in 0..MESSAGES {
        site.contact(&format!("visitor-{number}@example.org")).await?;
    }
    eventually("the endpoint is held", SOON, async || {
        site.is_paused("webhook-crm").await.ok()?.then_some(())
    })
    .await?;
    tokio::time::sleep(Duration::from_secs(5)).await;
    let asked = receiver.received().len();
    assert!(asked <= 4, "asked {asked} times");
    let endpoints = site.bucket(ENDPOINTS_BUCKET).await?;
    let state: Value = serde_json::from_slice(&endpoints.get("crm").await?.unwrap_or_default())?;
    assert_eq!(state["held"], "the receiver answered 401");
    assert!(state["off"].is_null(), "{state}");
    assert!(sending.nats.dead_letters().await?.is_empty());

    receiver.answer(StatusCode::NO_CONTENT);
    site.resume("webhook-crm").await?;
    eventually("all webhooks", 2 * SOON, async || {
        (receiver.accepted().len() == MESSAGES).then_some(())
    })
    .await?;
    assert!(sending.nats.dead_letters().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_starting_notifier_asks_a_held_endpoint() -> anyhow::Result<()> {
    let receiver = Receiver::start_at(0).await?;
    receiver.answer(StatusCode::FORBIDDEN);
    let sending = Sending::to(&[receiver.endpoint("crm", &["contact.received"])]).await?;
    sending.site.contact(VISITOR).await?;
    eventually("the endpoint is held", SOON, async || {
        sending.site.is_paused("webhook-crm").await.ok()?.then_some(())
    })
    .await?;
    receiver.answer(StatusCode::NO_CONTENT);
    let inbox = MailServer::start(take).await?;
    let _next = Running::start(&sending.nats, inbox.port, &sending.flags).await?;
    eventually("the webhook", SOON, async || receiver.accepted().pop()).await?;
    Ok(())
}

#[tokio::test]
async fn a_gone_endpoint_is_disabled_and_its_events_dead_lettered() -> anyhow::Result<()> {
    let receiver = Receiver::start_at(0).await?;
    receiver.answer(StatusCode::GONE);
    let sending = Sending::to(&[receiver.endpoint("crm", &["contact.received"])]).await?;
    sending.site.contact(VISITOR).await?;
    first(&receiver).await?;
    let endpoints = sending.site.bucket(ENDPOINTS_BUCKET).await?;
    let state = eventually("the endpoint is off", SOON, async || {
        let state: Value = serde_json::from_slice(&endpoints.get("crm").await.ok()??).ok()?;
        (!state["off"].is_null()).then_some(state)
    })
    .await?;
    assert_eq!(state["off"], "it answered 410 Gone");

    sending.site.contact("other@example.org").await?;
    let reasons = eventually("both dead letters", SOON, async || {
        let reasons = sending.dead_letters("webhook-crm").await.ok()?;
        (reasons.len() == 2).then_some(reasons)
    })
    .await?;
    assert_eq!(reasons[1], "the endpoint is switched off: it answered 410 Gone");
    assert_eq!(receiver.received().len(), 1);

    // A notifier that starts tells the operator about new dead letters.
    let inbox = MailServer::start(take).await?;
    let _another = Running::start(&sending.nats, inbox.port, &sending.flags).await?;
    let mail = inbox.mail("admin@oculant.example", "2 events", SOON).await?;
    let text = mail["text"].as_str().unwrap_or_default();
    let said =
        "Switched off: crm\n  Nothing is sent to this endpoint of webhooks any more: it answered 410 Gone.";
    assert!(text.contains(said), "{text}");
    Ok(())
}

#[tokio::test]
async fn an_endpoint_that_failed_for_five_days_is_switched_off() -> anyhow::Result<()> {
    let receiver = Receiver::start_at(0).await?;
    receiver.answer(StatusCode::INTERNAL_SERVER_ERROR);
    let names = ["broken", "hopeful"];
    let sending = Sending::to(&names.map(|name| receiver.endpoint(name, &["contact.received"]))).await?;
    let five_days = time::Duration::days(5);
    for (endpoint, failing) in names
        .into_iter()
        .zip([five_days, five_days - time::Duration::HOUR])
    {
        let since = (time::OffsetDateTime::now_utc() - failing).format(&Rfc3339)?;
        let state = json!({ "failing_since": since }).to_string();
        sending.site.note(ENDPOINTS_BUCKET, endpoint, &state).await?;
    }
    sending.site.contact(VISITOR).await?;
    until("both failed", || receiver.received().len() >= 2).await?;
    sending.site.contact("other@example.org").await?;
    eventually("a dead letter that says so", SOON, async || {
        let reasons = sending.dead_letters("webhook-broken").await.ok()?;
        let said = "the endpoint is switched off: it failed for five days";
        reasons.iter().any(|reason| reason == said).then_some(())
    })
    .await?;
    assert!(sending.dead_letters("webhook-hopeful").await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_replayed_event_is_sent_once() -> anyhow::Result<()> {
    let receiver = Receiver::start_at(0).await?;
    let sending = Sending::to(&[receiver.endpoint("crm", &["contact.received"])]).await?;
    let event = sending.site.contact(VISITOR).await?;
    first(&receiver).await?;
    let deliveries = sending.site.bucket(site_broker::DELIVERIES_BUCKET).await?;
    eventually("the delivery is noted", SOON, async || {
        deliveries.get(format!("{event}.webhook-crm")).await.ok()?
    })
    .await?;
    sending.site.publish_again(&sending.nats, event).await?;
    let after = sending.site.contact("other@example.org").await?;
    until("the event after it", || {
        let received = receiver.received();
        received.iter().any(|webhook| webhook.id == after.to_string())
    })
    .await?;
    assert_eq!(receiver.received().len(), 2);
    Ok(())
}

#[tokio::test]
async fn a_start_without_the_endpoints_consumer_fails() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let receiver = Receiver::start_at(0).await?;
    let webhooks = json!([receiver.endpoint("crm", &["contact.received"])]);
    let mut flags = vec![format!("--webhooks={webhooks}")];
    for said in ["WEBHOOKS_ALLOW_PRIVATE", "run `sitectl setup`"] {
        let refused = Running::start(&nats, 9, &flags).await.err();
        let refused = refused.context("it started")?;
        assert!(format!("{refused:#}").contains(said), "{refused:#}");
        flags.push("--webhooks-allow-private".to_owned());
    }
    Ok(())
}
