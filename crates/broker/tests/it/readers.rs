//! The example program of docs/events.md.

use anyhow::Context as _;
use serde_json::{Value, json};
use site_events::EventType;
use testkit::{Nats, User, external_program};
use uuid::Uuid;

use crate::support::{create_the_consumer, operator, person, publish};

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
async fn the_example_prints_every_event_once_and_resumes() -> anyhow::Result<()> {
    let nats = Nats::start().await?;
    create_the_consumer(&nats).await?;
    let operator = operator(&nats).await?;
    for event_type in EventType::ALL {
        let event = json!({
            "specversion": "1.0", "id": Uuid::new_v4(), "source": "/services/contact",
            "type": event_type.name(), "subject": person()?, "time": "2026-11-20T12:00:00Z",
            "datacontenttype": "application/json",
            "data": { "message": "Two cameras,\none question." },
        });
        let stored = operator.publish(event_type.subject(&person()?), event.to_string().into());
        stored.await?.await?;
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

    publish(&nats).await?;
    let printed = what_the_example_reads(&nats).await?;
    let [line] = &printed[..] else {
        anyhow::bail!("one new event, not {printed:?}");
    };
    assert!(line.starts_with("site.contact.received.v1 "), "{line}");
    Ok(())
}
