//! Dead letter as listed, without personal data.

use async_nats::jetstream::message::StreamMessage;
use serde_json::{Value, json};
use site_broker::dead_letters::DeadLetterSummary;
use time::format_description::well_known::Rfc3339;

use crate::{broker, output::Column};

pub const COLUMNS: [Column; 7] = [
    ("NUMBER", "number"),
    ("GIVEN UP", "givenUp"),
    ("CHANNEL", "channel"),
    ("TYPE", "eventType"),
    ("EVENT", "eventId"),
    ("ATTEMPTS", "attempts"),
    ("REASON", "reason"),
];

/// Its number is its sequence in the stream.
pub fn listed(letter: &StreamMessage) -> Value {
    let stored = || letter.time.format(&Rfc3339).unwrap_or_default();
    let mut summary = DeadLetterSummary::of(&letter.subject, &letter.headers, &letter.payload);
    summary.given_up.get_or_insert_with(stored);
    let mut listed = json!(summary);
    listed["number"] = letter.sequence.into();
    listed
}

/// Dead letter with its event.
pub fn document(letter: &StreamMessage) -> Value {
    let mut document = listed(letter);
    document["event"] = broker::content(letter);
    document
}
