//! What is still found by the former key alone: events and dead letters, whose subjects are what they are.

use async_nats::jetstream::{Context, message::StreamMessage};
use futures_util::TryStreamExt as _;
use serde::Serialize;
use site_events::{DEAD_LETTERS_STREAM, SITE_STREAM, subjects};
use visitor::{EmailAddress, PersonKey};

use crate::broker;

/// How much lies under ids of the former key.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Left {
    events: u64,
    dead_letters: u64,
}

impl Left {
    /// Counts it.
    ///
    /// # Errors
    ///
    /// If the broker does not answer.
    pub async fn count(context: &Context, former: &PersonKey) -> anyhow::Result<Self> {
        Ok(Self {
            events: count(context, SITE_STREAM, former).await?,
            dead_letters: count(context, DEAD_LETTERS_STREAM, former).await?,
        })
    }

    /// The counts, and what they mean.
    pub fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            format!("events under the former key: {}", self.events),
            format!("dead letters under the former key: {}", self.dead_letters),
        ];
        if self.events + self.dead_letters > 0 {
            notes.push(
                "They stay where they are until they expire: keep the former key as long, to export and erase them."
                    .to_owned(),
            );
        }
        notes
    }
}

async fn count(context: &Context, stream: &str, former: &PersonKey) -> anyhow::Result<u64> {
    let reader = broker::reader(context, stream).await?;
    let (mut count, mut messages) = (0, broker::all(&reader));
    while let Some(message) = messages.try_next().await? {
        count += u64::from(is_of(&message, former));
    }
    Ok(count)
}

fn is_of(message: &StreamMessage, key: &PersonKey) -> bool {
    let event = broker::content(message);
    let email = event["data"]["email"].as_str();
    let email = email.and_then(|email| EmailAddress::stored(email).ok());
    email.is_some_and(|email| key.person(&email).as_str() == subjects::person_of(&message.subject))
}
