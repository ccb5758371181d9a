//! Dead letter as it is listed: by its number, without anybody's data.

use async_nats::jetstream::message::StreamMessage;
use serde::Serialize;
use serde_json::{Value, json};
use site_broker::dead_letters::DeadLetterSummary;
use time::format_description::well_known::Rfc3339;

use crate::broker;

/// What a list of dead letters tells.
pub const HEADINGS: [&str; 7] = [
    "NUMBER", "GIVEN UP", "CHANNEL", "TYPE", "EVENT", "ATTEMPTS", "REASON",
];

/// Dead letter by its sequence in the stream, which people read as its number.
#[derive(Serialize)]
pub struct ListedDeadLetter {
    number: u64,
    #[serde(flatten)]
    summary: DeadLetterSummary,
}

impl ListedDeadLetter {
    pub fn of(letter: &StreamMessage) -> Self {
        let stored = || letter.time.format(&Rfc3339).unwrap_or_default();
        let mut summary = DeadLetterSummary::of(&letter.subject, &letter.headers, &letter.payload);
        summary.given_up.get_or_insert_with(stored);
        Self {
            number: letter.sequence,
            summary,
        }
    }

    /// What stands under each of [`HEADINGS`].
    pub fn cells(&self) -> [String; 7] {
        const UNREADABLE: &str = "unreadable";
        let summary = &self.summary;
        [
            self.number.to_string(),
            summary.given_up.clone().unwrap_or_default(),
            summary.channel.clone(),
            summary.event_type.unwrap_or(UNREADABLE).to_owned(),
            summary
                .event_id
                .map_or_else(|| UNREADABLE.to_owned(), |id| id.to_string()),
            summary.attempts.to_string(),
            summary.reason.to_string(),
        ]
    }
}

/// A dead letter with its event, as `show` and `person export` give it.
pub fn document(letter: &StreamMessage) -> Value {
    let mut document = json!(ListedDeadLetter::of(letter));
    document["event"] = broker::content(letter);
    document
}
