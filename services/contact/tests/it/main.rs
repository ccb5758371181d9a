//! The contact service over gRPC, with a real broker.

use std::time::Duration;

use clap::Parser;
use contact::{Service, Settings};
use site_proto::{
    attribution::v1::Attribution,
    contact::v1::{ContactForm, SubmitRequest, contact_service_client::ContactServiceClient},
};
use site_service::{drain::CancellationToken, health, status};
use tempfile::TempDir;
use testkit::{Broker, Nats, PERSON_KEY, Ports, User, eventually};
use time::OffsetDateTime;
use tokio::time::timeout;
use tokio_util::sync::DropGuard;
use tonic::{Code, transport::Channel};
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};
use uuid::{Builder, Uuid};
use visitor::{EmailAddress, PersonId, SyntheticKey};

mod core_dumps;

const SOON: Duration = Duration::from_secs(45);

struct Running {
    nats: Nats,
    contact: ContactServiceClient<Channel>,
    health: HealthClient<Channel>,
    _stop: DropGuard,
}

fn person_key() -> String {
    format!("--person-key={PERSON_KEY}")
}

async fn running() -> anyhow::Result<Running> {
    running_on(Nats::start().await?, &[&person_key()]).await
}

async fn running_on(nats: Nats, keys: &[&str]) -> anyhow::Result<Running> {
    let default_flags = ["contact", "--listen=127.0.0.1:0"].iter().chain(keys);
    let default_flags = default_flags.map(|&flag| flag.to_owned());
    let settings = Settings::try_parse_from(default_flags.chain(nats.flags(User::Contact)))?;
    let service = Service::build(settings).await?;
    let address = format!("http://127.0.0.1:{}", service.port());
    let stop = CancellationToken::new();
    tokio::spawn(service.run(stop.clone()));
    let channel = Channel::from_shared(address)?.connect().await?;
    Ok(Running {
        nats,
        contact: ContactServiceClient::new(channel.clone()),
        health: HealthClient::new(channel),
        _stop: stop.drop_guard(),
    })
}

fn form() -> ContactForm {
    ContactForm {
        name: "Zoë Müller".into(),
        email: "zoe@example.org".into(),
        message: "Two cameras,\none question.".into(),
        ..ContactForm::default()
    }
}

fn request(form: ContactForm) -> SubmitRequest {
    SubmitRequest {
        form: Some(form),
        idempotency_key: Uuid::new_v4().to_string(),
        ..SubmitRequest::default()
    }
}

fn message() -> SubmitRequest {
    request(form())
}

impl Running {
    async fn becomes(&mut self, status: ServingStatus) -> anyhow::Result<()> {
        let health = &mut self.health;
        eventually(&format!("health says {status:?}"), SOON, async || {
            let answer = health.check(HealthCheckRequest::default()).await.ok()?;
            (answer.get_ref().status() == status).then_some(())
        })
        .await
    }
}

#[tokio::test]
async fn a_message_is_stored_before_it_is_answered() -> anyhow::Result<()> {
    let mut running = running().await?;
    let answer = running.contact.submit(message()).await?.into_inner();
    let events = running.nats.events().await?;
    let [event] = &events[..] else {
        anyhow::bail!("one event, not {events:?}");
    };
    assert_eq!(event["id"], answer.event_id);
    assert_eq!(event["type"], "site.contact.received.v1");
    assert_eq!(event["data"]["name"], "Zoë Müller");
    assert_eq!(event["data"]["email"], "zoe@example.org");
    assert_eq!(event["data"]["message"], "Two cameras,\none question.");
    let person = event["subject"].as_str().unwrap_or_default();
    assert_eq!(person.len(), 32);
    assert!(!person.contains("zoe"));
    Ok(())
}

/// After another message, a visitor repeats an earlier message whose answer was lost.
#[tokio::test]
async fn a_late_duplicate_is_accepted_only_under_a_bound_key() -> anyhow::Result<()> {
    let mut running = running().await?;
    let bound = Builder::from_custom_bytes(*Uuid::new_v4().as_bytes()).into_uuid();
    for (key, expected) in [(bound, Ok(())), (Uuid::new_v4(), Err(Code::AlreadyExists))] {
        let first = SubmitRequest {
            idempotency_key: key.to_string(),
            ..message()
        };
        running.contact.submit(first.clone()).await?;
        running.contact.submit(message()).await?;
        let stored = running.nats.events().await?.len();
        let again = running.contact.submit(first).await;
        assert_eq!(again.map(drop).map_err(|status| status.code()), expected, "{key}");
        assert_eq!(running.nats.events().await?.len(), stored);
    }
    Ok(())
}

#[tokio::test]
async fn a_key_stores_one_message_and_refuses_others() -> anyhow::Result<()> {
    let mut running = running().await?;
    let first = message();
    let answer = running.contact.submit(first.clone()).await?.into_inner();
    let other = SubmitRequest {
        form: Some(ContactForm {
            message: "Two cameras.".into(),
            ..form()
        }),
        ..first.clone()
    };
    let refused = running.contact.submit(other).await.expect_err("another message");
    assert_eq!(refused.code(), Code::AlreadyExists);
    // A repeated message counts as the same if only its attribution differs.
    let attribution = Attribution {
        page: "/contact".into(),
        ..Attribution::default()
    };
    let again = SubmitRequest {
        form: Some(ContactForm {
            attribution: Some(attribution),
            ..form()
        }),
        ..first
    };
    let repeated = running.contact.submit(again).await?.into_inner();
    assert_eq!(repeated.event_id, answer.event_id);
    assert_eq!(running.nats.events().await?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn another_persons_key_does_not_block_a_message() -> anyhow::Result<()> {
    let mut running = running().await?;
    let content = format!("content:{}", Uuid::new_v4());
    let bound = Builder::from_custom_bytes(*Uuid::new_v4().as_bytes()).into_uuid();
    let keys = [Uuid::new_v4().to_string(), bound.to_string(), content];
    for (round, key) in keys.into_iter().enumerate() {
        let under = |email: &str, message: &str, key: &str| SubmitRequest {
            form: Some(ContactForm {
                email: format!("{email}-{round}@example.org"),
                message: message.into(),
                ..form()
            }),
            idempotency_key: key.into(),
            ..SubmitRequest::default()
        };
        running.contact.submit(under("mallory", "Mine.", &key)).await?;
        let own = Uuid::new_v4().to_string();
        running.contact.submit(under("zoe", "Before.", &own)).await?;
        let stored = running.nats.events().await?.len();
        let submitting = running.contact.submit(under("zoe", "Two.", &key));
        timeout(Duration::from_secs(1), submitting).await??;
        let events = running.nats.events().await?;
        assert_eq!(events.len(), stored + 1, "{key}");
        assert_eq!(events[stored]["data"]["message"], "Two.");
    }
    Ok(())
}

#[tokio::test]
async fn every_invalid_field_is_explained_and_nothing_stored() -> anyhow::Result<()> {
    let mut running = running().await?;
    let wrong = request(ContactForm {
        name: String::new(),
        email: "zoe@".into(),
        message: "x".repeat(10_001),
        ..ContactForm::default()
    });
    let refused = running.contact.submit(wrong).await;
    let refused = refused.expect_err("three wrong fields");
    assert_eq!(refused.code(), Code::InvalidArgument);
    let violations = status::violations(&refused);
    let named: Vec<&String> = violations.keys().collect();
    assert_eq!(named, ["email", "message", "name"]);
    let are_sentences = violations.values().all(|sentence| sentence.ends_with('.'));
    assert!(are_sentences, "{violations:?}");
    assert!(running.nats.events().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn without_nats_a_form_gets_503_until_nats_is_back() -> anyhow::Result<()> {
    let mut running = running().await?;
    running.becomes(ServingStatus::Serving).await?;

    running.nats.stop().await?;
    let refused = running.contact.submit(message()).await.expect_err("no broker");
    assert_eq!(refused.code(), Code::Unavailable);
    assert_eq!(status::retry_after(&refused), status::RETRY_AFTER);
    running.becomes(ServingStatus::NotServing).await?;
    let live = HealthCheckRequest {
        service: health::LIVE.to_owned(),
    };
    let answer = running.health.check(live).await?;
    let live = answer.get_ref().status();
    assert_eq!(live, ServingStatus::Serving, "a restart would not help");

    running.nats.resume_from_disk().await?;
    running.becomes(ServingStatus::Serving).await?;
    let events = running.nats.events().await?;
    assert!(events.is_empty(), "the refused message was stored after all");
    running.contact.submit(message()).await?;
    assert_eq!(running.nats.events().await?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn a_submission_to_a_hanging_broker_times_out() -> anyhow::Result<()> {
    let mut running = running().await?;
    running.nats.servers[0].freeze().await?;
    let refused = timeout(SOON, running.contact.submit(message()))
        .await?
        .expect_err("no ack");
    assert_eq!(refused.code(), Code::Unavailable);
    running.nats.servers[0].thaw()
}

#[tokio::test]
async fn a_different_person_key_fails_the_start() -> anyhow::Result<()> {
    let another = "--person-key=another key for tests, of thirty-two bytes";
    let refused = running_on(Nats::start().await?, &[another]).await.err();
    assert_eq!(
        refused.map(|error| error.to_string()).as_deref(),
        Some("The setting PERSON_KEY is wrong: this installation was set up with another key.")
    );
    Ok(())
}

#[tokio::test]
async fn a_service_is_not_ready_before_setup() -> anyhow::Result<()> {
    let disk = TempDir::new()?;
    let nats = Nats::start_as(Broker::One, None, Ports::free()?.nats, disk.path()).await?;
    let mut running = running_on(nats, &[&person_key()]).await?;
    running.becomes(ServingStatus::NotServing).await?;
    running.nats.provision(&[]).await?;
    running.becomes(ServingStatus::Serving).await
}

#[tokio::test]
async fn a_service_publishes_only_its_own_event() -> anyhow::Result<()> {
    let running = running().await?;
    let client = running.nats.client(User::Contact).await?;
    client
        .publish("site.careers.applied.someone", "forged".into())
        .await?;
    client.flush().await?;
    assert!(running.nats.events().await?.is_empty());
    Ok(())
}

#[tokio::test]
async fn a_form_is_synthetic_only_with_a_valid_mark() -> anyhow::Result<()> {
    const KEY: &str = "a synthetic key of thirty-two bytes or more";
    let synthetic_key = format!("--synthetic-key={KEY}");
    let expires = OffsetDateTime::now_utc() + time::Duration::minutes(5);
    let good = SyntheticKey::new(KEY)?.mark(&EmailAddress::parse(&form().email)?, expires);
    let with_key = running_on(Nats::start().await?, &[&person_key(), &synthetic_key]).await?;
    for (mut running, has_key) in [(with_key, true), (running().await?, false)] {
        for (mark, is_synthetic) in [(good.as_str(), has_key), ("x.y", false), ("", false)] {
            let form = SubmitRequest {
                synthetic_mark: mark.to_owned(),
                ..message()
            };
            let answer = running.contact.submit(form.clone()).await?.into_inner();
            assert_eq!(answer.synthetic, is_synthetic, "{mark}");
            let stored = running.nats.events().await?.pop().unwrap_or_default();
            assert_eq!(stored["id"], answer.event_id);
            let is_nobodys = stored["subject"] == PersonId::synthetic().as_str();
            assert_eq!(is_nobodys, is_synthetic, "{mark}");
            let again = running.contact.submit(form).await?.into_inner();
            assert_eq!(again, answer);
        }
        assert_eq!(running.nats.events().await?.len(), 3);
    }
    Ok(())
}
