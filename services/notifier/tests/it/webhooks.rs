//! What webhook endpoints receive, and endpoints that refuse.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::{Duration, Instant},
};

use async_nats::jetstream::message::PublishMessage;
use axum::{Router, http::StatusCode, routing::post};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use site_broker::ENDPOINTS_BUCKET;
use site_events::event::CONTENT_TYPE;
use testkit::{
    MailServer, Nats, Receiver, ScriptedReply, User, eventually, external_program,
    receiver::{Received, secret},
};
use time::format_description::well_known::Rfc3339;
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;
use uuid::Uuid;

use crate::running::{HURRY, NEVER, Running, SOON, Site, message};

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
        let mail_server = MailServer::start(|_, _| ScriptedReply::Take).await?;
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

#[tokio::test]
async fn a_receiver_that_says_when_to_come_back_is_not_asked_before() -> anyhow::Result<()> {
    const ASKED: Duration = Duration::from_secs(3);
    let receiver = Receiver::start_at(0).await?;
    receiver.answer_with_retry_after(StatusCode::SERVICE_UNAVAILABLE, "3");
    let sending = Sending::to(&[receiver.endpoint("crm", &["contact.received"])]).await?;
    sending.site.contact(VISITOR).await?;
    first(&receiver).await?;
    let refused = Instant::now();
    receiver.answer(StatusCode::NO_CONTENT);
    eventually("it is asked again", SOON, async || {
        receiver.received().into_iter().nth(1)
    })
    .await?;
    // The clock starts a moment after the request, so it measures less.
    assert!(refused.elapsed() > ASKED / 2, "{:?}", refused.elapsed());
    Ok(())
}

#[tokio::test]
async fn while_a_secret_rotates_both_sign() -> anyhow::Result<()> {
    let receiver = Receiver::start_at(0).await?;
    let mut endpoint = receiver.endpoint("crm", &["contact.received"]);
    endpoint["secrets"] = json!([secret(), receiver.secret]);
    let sending = Sending::to(&[endpoint]).await?;
    sending.site.contact(VISITOR).await?;
    let webhook = first(&receiver).await?;
    assert_eq!(
        webhook.headers["webhook-signature"].to_str()?.split(' ').count(),
        2
    );
    assert!(webhook.verified, "the receiver knows only the second one");
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
async fn the_python_libraries_of_both_specifications_take_what_is_sent() -> anyhow::Result<()> {
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
async fn one_secret_is_verified_by_the_python_library_too() -> anyhow::Result<()> {
    let receiver = Receiver::start_at(0).await?;
    let sending = Sending::to(&[receiver.endpoint("crm", &["newsletter.requested"])]).await?;
    sending.site.request_newsletter(VISITOR).await?;
    let webhook = first(&receiver).await?;
    assert_eq!(judged(&webhook, &receiver.secret).await?["verified"], true);
    Ok(())
}

#[tokio::test]
async fn a_chat_tool_gets_a_message_for_people() -> anyhow::Result<()> {
    let receiver = Receiver::start_at(0).await?;
    let chat =
        json!({ "name": "chat", "url": receiver.url(), "events": ["contact.received"], "format": "slack" });
    let sending = Sending::to(&[chat]).await?;
    sending.site.contact(VISITOR).await?;
    let webhook = first(&receiver).await?;
    assert_eq!(webhook.headers["content-type"], "application/json");
    let text = webhook.body["text"].as_str().unwrap_or_default();
    assert!(
        text.starts_with("*New contact message* from Zoë Müller"),
        "{text}"
    );
    assert!(text.contains("\n>Two cameras,\n>one question."), "{text}");
    Ok(())
}

#[tokio::test]
async fn one_that_is_away_gets_it_later_and_holds_up_no_other() -> anyhow::Result<()> {
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
    let tries = eventually("a second attempt", SOON, async || {
        let received = away.received();
        (received.len() >= 2).then_some(received)
    })
    .await?;
    assert!(tries.iter().all(|webhook| webhook.id == event.to_string()));
    assert_eq!(there.received().len(), 1);
    assert!(sending.dead_letters("webhook-away").await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_refusal_is_a_dead_letter_and_a_redirect_is_not_followed() -> anyhow::Result<()> {
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
async fn one_that_refuses_our_credentials_is_held_and_gets_all_once_it_is_resumed() -> anyhow::Result<()> {
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
async fn a_notifier_that_starts_asks_an_endpoint_that_is_held() -> anyhow::Result<()> {
    let receiver = Receiver::start_at(0).await?;
    receiver.answer(StatusCode::FORBIDDEN);
    let sending = Sending::to(&[receiver.endpoint("crm", &["contact.received"])]).await?;
    sending.site.contact(VISITOR).await?;
    eventually("the endpoint is held", SOON, async || {
        sending.site.is_paused("webhook-crm").await.ok()?.then_some(())
    })
    .await?;
    receiver.answer(StatusCode::NO_CONTENT);
    let inbox = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let _next = Running::start(&sending.nats, inbox.port, &sending.flags).await?;
    eventually("the webhook", SOON, async || receiver.accepted().pop()).await?;
    Ok(())
}

#[tokio::test]
async fn one_that_is_gone_is_switched_off_and_its_events_wait_among_the_dead_letters() -> anyhow::Result<()> {
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
    let inbox = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let _another = Running::start(&sending.nats, inbox.port, &sending.flags).await?;
    let mail = inbox.mail("admin@oculant.example", "2 events", SOON).await?;
    let text = mail["text"].as_str().unwrap_or_default();
    let said =
        "Switched off: crm\n  Nothing is sent to this endpoint of webhooks any more: it answered 410 Gone.";
    assert!(text.contains(said), "{text}");
    Ok(())
}

#[tokio::test]
async fn one_that_failed_for_five_days_is_switched_off_and_one_that_recovers_begins_anew()
-> anyhow::Result<()> {
    let (broken, mended) = (Receiver::start_at(0).await?, Receiver::start_at(0).await?);
    broken.answer(StatusCode::INTERNAL_SERVER_ERROR);
    let sending = Sending::to(&[
        broken.endpoint("broken", &["contact.received"]),
        broken.endpoint("hopeful", &["contact.received"]),
        mended.endpoint("mended", &["contact.received"]),
    ])
    .await?;
    let endpoints = sending.site.bucket(ENDPOINTS_BUCKET).await?;
    for (endpoint, failing) in [
        ("broken", time::Duration::days(5)),
        ("hopeful", time::Duration::days(5) - time::Duration::MINUTE),
        ("mended", time::Duration::days(6)),
    ] {
        let since = (time::OffsetDateTime::now_utc() - failing).format(&Rfc3339)?;
        let state = json!({ "failing_since": since }).to_string();
        endpoints.put(endpoint, state.into()).await?;
    }
    sending.site.contact(VISITOR).await?;
    let state = async |endpoint: &str| -> Option<Value> {
        serde_json::from_slice(&endpoints.get(endpoint).await.ok()??).ok()
    };

    eventually("the broken one is off", SOON, async || {
        (state("broken").await?["off"] == "it failed for five days").then_some(())
    })
    .await?;
    eventually("the mended one is well", SOON, async || {
        state("mended").await?["failing_since"].is_null().then_some(())
    })
    .await?;
    eventually("both failed", SOON, async || {
        (broken.received().len() >= 2).then_some(())
    })
    .await?;
    assert_eq!(
        state("hopeful").await.map(|state| state["off"].is_null()),
        Some(true)
    );

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
async fn of_an_endpoint_whose_record_was_removed_nothing_is_known_and_what_it_does_next_is_noted()
-> anyhow::Result<()> {
    let receiver = Receiver::start_at(0).await?;
    let names = ["deleted", "purged"];
    let sending = Sending::to(&names.map(|name| receiver.endpoint(name, &["contact.received"]))).await?;
    let endpoints = sending.site.bucket(ENDPOINTS_BUCKET).await?;
    let off = json!({ "off": "it answered 410 Gone" }).to_string();
    for name in names {
        endpoints.put(name, off.clone().into()).await?;
    }
    endpoints.delete("deleted").await?;
    // As an older installation may have it, whose buckets accepted purges.
    let purged = PublishMessage::build().header("KV-Operation", "PURGE");
    let context = async_nats::jetstream::new(sending.nats.client(User::Operator).await?);
    let purged = context.send_publish(format!("{}purged", endpoints.prefix), purged);
    purged.await?.await?;

    sending.site.contact(VISITOR).await?;
    eventually("both are sent to", SOON, async || {
        (receiver.received().len() == 2).then_some(())
    })
    .await?;
    receiver.answer(StatusCode::GONE);
    sending.site.contact("other@example.org").await?;
    for name in names {
        let state = eventually("it is noted that the endpoint is gone", SOON, async || {
            serde_json::from_slice::<Value>(&endpoints.get(name).await.ok()??).ok()
        })
        .await?;
        assert_eq!(state["off"], "it answered 410 Gone", "{name}");
    }
    Ok(())
}

/// Answers once it has all requests that the notifiers send at once: 410 to one, 500 to the others.
#[derive(Clone)]
struct AllAtOnce {
    waiting: Arc<tokio::sync::Barrier>,
    came: Arc<AtomicUsize>,
}

impl AllAtOnce {
    /// As many as the cluster may scale to.
    const NOTIFIERS: usize = 4;
    /// Each sends four at once.
    const WEBHOOKS: usize = 4 * Self::NOTIFIERS;

    fn new() -> Self {
        Self {
            waiting: Arc::new(tokio::sync::Barrier::new(Self::WEBHOOKS)),
            came: Arc::default(),
        }
    }

    async fn answer(self) -> StatusCode {
        let number = self.came.fetch_add(1, Ordering::Relaxed);
        if number < Self::WEBHOOKS {
            self.waiting.wait().await;
        }
        if number == Self::WEBHOOKS / 2 {
            StatusCode::GONE
        } else {
            StatusCode::INTERNAL_SERVER_ERROR
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_many_notifiers_learn_of_an_endpoint_at_once_is_all_noted() -> anyhow::Result<()> {
    let names = ["one", "two", "three"];
    let mut router = Router::new();
    for name in names {
        let endpoint = AllAtOnce::new();
        router = router.route(&format!("/{name}"), post(move || endpoint.clone().answer()));
    }
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let port = listener.local_addr()?.port();
    let _receiver = AbortOnDropHandle::new(tokio::spawn(async { axum::serve(listener, router).await }));
    let sending = Sending::to(&names.map(|name| {
        json!({
            "name": name,
            "url": format!("http://127.0.0.1:{port}/{name}"),
            "secrets": [secret()],
            "events": ["contact.received"],
        })
    }))
    .await?;
    let inbox = MailServer::start(|_, _| ScriptedReply::Take).await?;
    let mut others = Vec::new();
    for _ in 1..AllAtOnce::NOTIFIERS {
        others.push(Running::start(&sending.nats, inbox.port, &sending.flags).await?);
    }
    for number in 0..AllAtOnce::WEBHOOKS {
        sending
            .site
            .contact(&format!("visitor-{number}@example.org"))
            .await?;
    }
    for name in names {
        // Events answered 500 become dead letters, too, and are not sent again.
        eventually(&format!("endpoint {name} is off"), SOON, async || {
            let letters = sending.dead_letters(&format!("webhook-{name}")).await.ok()?;
            (letters.len() == AllAtOnce::WEBHOOKS).then_some(())
        })
        .await?;
    }
    Ok(())
}

#[tokio::test]
async fn a_replayed_event_is_sent_once() -> anyhow::Result<()> {
    let receiver = Receiver::start_at(0).await?;
    let sending = Sending::to(&[receiver.endpoint("crm", &["contact.received"])]).await?;
    let event = sending.site.contact(VISITOR).await?;
    first(&receiver).await?;
    let delivered = |id: Uuid| format!("{id}.webhook-crm");
    let deliveries = sending.site.bucket(site_broker::DELIVERIES_BUCKET).await?;
    eventually("the delivery is noted", SOON, async || {
        deliveries.get(delivered(event)).await.ok()?
    })
    .await?;
    sending.site.publish_again(&sending.nats, event).await?;
    let after = sending.site.contact("other@example.org").await?;
    eventually("the event after it", SOON, async || {
        receiver
            .received()
            .iter()
            .any(|webhook| webhook.id == after.to_string())
            .then_some(())
    })
    .await?;
    assert_eq!(receiver.received().len(), 2);
    Ok(())
}

#[tokio::test]
async fn an_endpoint_that_was_not_set_up_ends_the_start() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    let receiver = Receiver::start_at(0).await?;
    let webhooks = json!([receiver.endpoint("crm", &["contact.received"])]);
    let more = [format!("--webhooks={webhooks}")];
    let refused = Running::start(&nats, 9, &more).await.err();
    let refused = format!("{:#}", refused.unwrap_or_else(|| anyhow::anyhow!("it started")));
    assert!(refused.contains("WEBHOOKS_ALLOW_PRIVATE"), "{refused}");

    let more = [
        format!("--webhooks={webhooks}"),
        "--webhooks-allow-private".to_owned(),
    ];
    let refused = Running::start(&nats, 9, &more).await.err();
    let refused = format!("{:#}", refused.unwrap_or_else(|| anyhow::anyhow!("it started")));
    assert!(refused.contains("run `sitectl setup`"), "{refused}");
    Ok(())
}
