//! Everything that is stored after a step.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context, ensure};
use async_nats::Client;
use futures_util::{StreamExt, try_join};
use serde_json::{Value, json};
use site_broker::{DELIVERIES_BUCKET, SUBSCRIBERS_BUCKET, UPLOADS_BUCKET};
use site_events::{DEAD_LETTERS_STREAM, EventType, SITE_STREAM, subjects};
use testkit::S3;

#[derive(Debug, Clone)]
pub struct Stored {
    pub subject: String,
    pub event: Value,
}

impl Stored {
    pub fn id(&self) -> &str {
        self.event["id"].as_str().unwrap_or_default()
    }

    pub fn person(&self) -> &str {
        subjects::person_of(&self.subject)
    }

    pub fn is(&self, event_type: EventType) -> bool {
        self.subject.starts_with(event_type.subject_prefix())
    }

    pub fn resume(&self) -> Option<&str> {
        self.event["data"]["resume"]["key"].as_str()
    }
}

#[derive(Default)]
pub struct Snapshot {
    /// Events, replays included.
    pub events: Vec<Stored>,
    pub dead_letters: Vec<Stored>,
    /// Records by person id.
    pub subscribers: BTreeMap<String, Value>,
    /// Keys, as `<person>.<application>`.
    pub uploads: BTreeSet<String>,
    pub objects: BTreeMap<String, Vec<u8>>,
}

impl Snapshot {
    pub async fn read(client: &Client, s3: &S3) -> anyhow::Result<Self> {
        let buckets = [SUBSCRIBERS_BUCKET, UPLOADS_BUCKET];
        let [subscribers, uploads] = buckets.map(|bucket| format!("KV_{bucket}"));
        let (events, dead_letters, subscribers, uploads) = try_join!(
            all(client, SITE_STREAM),
            all(client, DEAD_LETTERS_STREAM),
            all(client, &subscribers),
            all(client, &uploads),
        )?;
        let stored = |(subject, event)| Stored { subject, event };
        let keys =
            |entries: Vec<(String, Value)>| entries.into_iter().map(|(subject, _)| key(&subject)).collect();
        let records = subscribers
            .into_iter()
            .map(|(subject, record)| (key(&subject), record));
        Ok(Self {
            events: events.into_iter().map(stored).collect(),
            dead_letters: dead_letters.into_iter().map(stored).collect(),
            subscribers: records.collect(),
            uploads: keys(uploads),
            objects: s3.objects()?.into_iter().collect(),
        })
    }

    /// Events without replays.
    pub fn originals(&self) -> impl DoubleEndedIterator<Item = &Stored> {
        self.events
            .iter()
            .filter(|stored| !subjects::is_replay(&stored.subject))
    }

    pub fn event(&self, id: &str) -> Option<&Stored> {
        self.originals().find(|stored| stored.id() == id)
    }

    pub fn last(&self, event_type: EventType, person: &str) -> Option<&Stored> {
        let mut of_person = self.originals().filter(|stored| stored.is(event_type));
        of_person.rfind(|stored| stored.person() == person)
    }

    pub fn state(&self, person: &str) -> Option<&str> {
        self.subscribers.get(person)?["state"].as_str()
    }
}

pub async fn deliveries(client: &Client) -> anyhow::Result<BTreeSet<String>> {
    let entries = all(client, &format!("KV_{DELIVERIES_BUCKET}")).await?;
    Ok(entries.into_iter().map(|(subject, _)| key(&subject)).collect())
}

/// The subject is `$KV.<bucket>.<key>`.
fn key(subject: &str) -> String {
    subject.splitn(3, '.').nth(2).unwrap_or_default().to_owned()
}

/// All messages without deletion markers, in one request (NATS ADR-31).
async fn all(client: &Client, stream: &str) -> anyhow::Result<Vec<(String, Value)>> {
    let inbox = client.new_inbox();
    let mut answers = client.subscribe(inbox.clone()).await?;
    let request = json!({ "seq": 1, "batch": 10_000, "next_by_subj": ">" }).to_string();
    let subject = format!("$JS.API.DIRECT.GET.{stream}");
    client.publish_with_reply(subject, inbox, request.into()).await?;
    let mut messages = Vec::new();
    loop {
        let answer = answers.next().await.context("the broker is unavailable")?;
        let headers = answer.headers.unwrap_or_default();
        match answer.status.map(|status| status.as_u16()) {
            None => {}
            Some(204 | 404) => return Ok(messages),
            Some(status) => anyhow::bail!("{stream} cannot be read: {status}"),
        }
        let subject = headers
            .get("Nats-Subject")
            .context("a message without a subject")?;
        let is_marker = headers.get("KV-Operation").is_some() || headers.get("Nats-Marker-Reason").is_some();
        if !is_marker {
            let text = String::from_utf8(answer.payload.to_vec())?;
            ensure!(!text.is_empty(), "{stream} holds an empty message");
            let content = serde_json::from_str(&text).unwrap_or(Value::String(text));
            messages.push((subject.to_string(), content));
        }
    }
}
