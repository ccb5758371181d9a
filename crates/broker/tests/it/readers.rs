//! A reader of events may read, and do nothing else.

use std::time::Duration;

use anyhow::Context as _;
use async_nats::{
    StatusCode,
    jetstream::{self, consumer::pull},
};
use futures_util::{StreamExt, future::try_join_all};
use serde_json::{Value, json};
use site_broker::Publisher;
use site_events::{
    EventData, EventType, SITE_STREAM,
    event::{
        Audience, BounceKind, CareersApplied, ContactReceived, NewsletterBounced, NewsletterConfirmed,
        NewsletterIssueRequested, NewsletterRequested, NewsletterUnsubscribed, PersonErased,
    },
};
use site_service::RequestId;
use testkit::{Nats, User, external_program};
use time::OffsetDateTime;
use tokio::time::timeout;
use uuid::Uuid;
use visitor::{EmailAddress, PersonId, PersonKey};

const SOON: Duration = Duration::from_secs(45);
/// Longer than an answer takes.
const NO_ANSWER: Duration = Duration::from_secs(3);

/// Creates the reader's consumer as docs/events.md says.
pub async fn create_the_consumer(nats: &Nats) -> anyhow::Result<()> {
    let context = jetstream::new(nats.client(User::Operator).await?);
    let config = pull::Config {
        durable_name: Some("reader".to_owned()),
        filter_subject: "site.>".to_owned(),
        ..Default::default()
    };
    context.create_consumer_on_stream(config, SITE_STREAM).await?;
    Ok(())
}

#[expect(clippy::too_many_lines, reason = "one arm for each type of event")]
async fn publish(nats: &Nats, event_type: EventType) -> anyhow::Result<Uuid> {
    let email = EmailAddress::parse("zoe@example.org")?;
    match event_type {
        EventType::ContactReceived => {
            let name = "Zoë Müller".to_owned();
            let message = "Two cameras,\none question.".to_owned();
            publish_data(
                nats,
                ContactReceived {
                    name,
                    email,
                    message,
                    attribution: None,
                },
            )
            .await
        }
        EventType::NewsletterRequested => {
            let expires = OffsetDateTime::now_utc();
            publish_data(
                nats,
                NewsletterRequested {
                    email,
                    expires,
                    attribution: None,
                },
            )
            .await
        }
        EventType::NewsletterConfirmed => publish_data(nats, NewsletterConfirmed { email }).await,
        EventType::NewsletterUnsubscribed => publish_data(nats, NewsletterUnsubscribed { email }).await,
        EventType::NewsletterBounced => {
            let bounced = NewsletterBounced {
                email,
                channel: "newsletter-confirmed-welcome".to_owned(),
                reason: "550 5.1.1 [address] No such user".to_owned(),
                kind: BounceKind::Hard,
            };
            publish_data(nats, bounced).await
        }
        EventType::NewsletterIssueRequested => {
            let issue = NewsletterIssueRequested {
                name: "smart-home".to_owned(),
                subject: "The smart home".to_owned(),
                preview: "Cameras at home.".to_owned(),
                html: "<p>Hello</p>".to_owned(),
                text: "Hello".to_owned(),
                web: None,
                audience: Audience::Subscribers,
            };
            publish_data(nats, issue).await
        }
        EventType::CareersApplied => {
            let application = CareersApplied {
                name: "Zoë Müller".to_owned(),
                email,
                phone: None,
                position: "Backend Intern".to_owned(),
                experience: None,
                cover_letter: "I would like to.".to_owned(),
                resume: None,
                attribution: None,
            };
            publish_data(nats, application).await
        }
        EventType::PersonErased => publish_data(nats, PersonErased {}).await,
    }
}

pub const REQUEST: &str = "01a20025-9c5f-742b-90b1-ce5b530933f2";

pub fn person() -> anyhow::Result<PersonId> {
    let key = PersonKey::new("a person key of thirty-two bytes or more")?;
    Ok(key.person(&EmailAddress::parse("zoe@example.org")?))
}

pub async fn publish_data<D: EventData>(nats: &Nats, data: D) -> anyhow::Result<Uuid> {
    let publisher = Publisher::new(nats.client(User::Operator).await?);
    let person = person()?;
    let request = RequestId::accept(Some(REQUEST));
    let id = D::TYPE.id_for(Uuid::new_v4());
    publisher.publish(&request, id, &person, data).await?;
    Ok(id)
}

async fn what_the_example_reads(nats: &Nats) -> anyhow::Result<Vec<String>> {
    let mut example = external_program::python("docs/examples/read_events.py");
    example
        .arg("--once")
        .env("NATS_URL", nats.url())
        .env("NATS_PASSWORD", nats.password_of(User::Reader));
    let printed = external_program::run(example, b"").await?;
    Ok(printed.lines().map(str::to_owned).collect())
}

#[tokio::test]
async fn the_example_prints_every_event_once_and_goes_on_where_it_ended() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    create_the_consumer(&nats).await?;
    for event_type in EventType::ALL {
        publish(&nats, event_type).await?;
    }
    let printed = what_the_example_reads(&nats).await?;
    let stored = nats.events().await?;
    assert_eq!(stored.len(), EventType::ALL.len());
    assert_eq!(printed.len(), stored.len(), "{printed:?}");
    for (line, event) in printed.iter().zip(&stored) {
        let mut words = line.splitn(4, ' ');
        assert_eq!(words.next(), event["type"].as_str());
        assert_eq!(words.next(), event["id"].as_str());
        let second = |time: &str| time.chars().take("2026-11-20T12:00:00".len()).collect::<String>();
        assert_eq!(words.next().map(second), event["time"].as_str().map(second));
        let data: Value = serde_json::from_str(words.next().context("no data")?)?;
        assert_eq!(data, event["data"]);
    }

    publish(&nats, EventType::NewsletterConfirmed).await?;
    let printed = what_the_example_reads(&nats).await?;
    let [line] = &printed[..] else {
        anyhow::bail!("one new event, not {printed:?}");
    };
    assert!(line.starts_with("site.newsletter.confirmed.v1 "), "{line}");
    Ok(())
}

/// Whether the broker answers. It ignores denied requests, so their timeout is short.
pub async fn is_answered(
    nats: &Nats,
    user: User,
    (subject, body): (&str, &Value),
    is_allowed: bool,
) -> anyhow::Result<bool> {
    let client = nats.client(user).await?;
    // `request` would miss an event that comes under its own subject.
    let inbox = client.new_inbox();
    let mut answers = client.subscribe(inbox.clone()).await?;
    let body = body.to_string().into();
    client.publish_with_reply(subject.to_owned(), inbox, body).await?;
    let patience = if is_allowed { SOON } else { NO_ANSWER };
    let answer = timeout(patience, answers.next()).await.ok().flatten();
    Ok(answer.is_some_and(|answer| answer.status != Some(StatusCode::NO_RESPONDERS)))
}

#[tokio::test]
async fn a_reader_may_read_and_nothing_else() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    create_the_consumer(&nats).await?;
    publish(&nats, EventType::ContactReceived).await?;
    let next = json!({ "batch": 1, "no_wait": true });
    for (subject, body) in [
        ("$JS.API.STREAM.INFO.SITE", json!({})),
        ("$JS.API.STREAM.MSG.GET.SITE", json!({ "seq": 1 })),
        ("$JS.API.CONSUMER.INFO.SITE.reader", json!({})),
        ("$JS.API.CONSUMER.MSG.NEXT.SITE.reader", next.clone()),
    ] {
        assert!(
            is_answered(&nats, User::Reader, (subject, &body), true).await?,
            "{subject}"
        );
    }
    let redirected = json!({
        "stream_name": SITE_STREAM,
        "config": { "durable_name": "contact-received-sales", "deliver_subject": "dead.x.y" },
    });
    let forbidden = [
        ("$JS.API.STREAM.DELETE.SITE", json!({})),
        ("$JS.API.STREAM.PURGE.SITE", json!({})),
        ("$JS.API.STREAM.MSG.DELETE.SITE", json!({ "seq": 1 })),
        ("$JS.API.CONSUMER.MSG.NEXT.SITE.contact-received-sales", next),
        ("$JS.API.CONSUMER.DELETE.SITE.reader", json!({})),
        ("$JS.API.CONSUMER.CREATE.SITE.reader", redirected.clone()),
        (
            "$JS.API.CONSUMER.DURABLE.CREATE.SITE.contact-received-sales",
            redirected,
        ),
        ("$JS.API.STREAM.MSG.GET.DEAD_LETTERS", json!({ "seq": 1 })),
        ("$JS.API.STREAM.INFO.KV_subscribers", json!({})),
        ("$KV.subscribers.x", json!({})),
        ("site.contact.received.x", json!({})),
        ("replay.contact-received-sales.x", json!({})),
        ("dead.contact-received-sales.x", json!({})),
    ];
    let asked = forbidden
        .iter()
        .map(|(subject, body)| is_answered(&nats, User::Reader, (subject, body), false));
    let answered = try_join_all(asked).await?;
    for ((subject, _), answered) in forbidden.iter().zip(answered) {
        assert!(!answered, "{subject}");
    }
    assert_eq!(nats.events().await?.len(), 1);
    assert!(nats.dead_letters().await?.is_empty());
    Ok(())
}
