//! Dead letters: undeliverable events, stored unchanged with the reason.

use async_nats::{
    HeaderMap,
    jetstream::{Context, Message},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use site_events::{
    DEAD_LETTERS_STREAM, EventType,
    headers::{DEAD_LETTER_ATTEMPTS, DEAD_LETTER_ERROR, DEAD_LETTER_TIME},
    subjects,
};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::Uuid;

const UNKNOWN: &str = "unknown";

/// Publishes an event, idempotently, to the stream `DEAD_LETTERS`.
///
/// # Errors
///
/// If the broker did not store the event. The event must then be redelivered.
pub async fn publish(
    context: &Context,
    consumer: &str,
    message: &Message,
    reason: &str,
    attempt: u32,
) -> Result<(), async_nats::Error> {
    let mut headers = message.headers.clone().unwrap_or_default();
    headers.insert(DEAD_LETTER_ERROR, one_line(reason));
    headers.insert(DEAD_LETTER_ATTEMPTS, attempt.to_string());
    headers.insert(DEAD_LETTER_TIME, OffsetDateTime::now_utc().format(&Rfc3339)?);
    headers.insert(async_nats::header::NATS_MESSAGE_ID, id(consumer, message));
    headers.insert(async_nats::header::NATS_EXPECTED_STREAM, DEAD_LETTERS_STREAM);
    let subject = subjects::dead_letter(consumer, subjects::person_of(&message.subject));
    let ack = context
        .publish_with_headers(subject, headers, message.payload.clone())
        .await?;
    ack.await?;
    Ok(())
}

/// Message id of a dead letter. A replayed event's dead letter has a new id, as the broker drops duplicates.
fn id(consumer: &str, message: &Message) -> String {
    #[derive(Deserialize)]
    struct Identified {
        id: String,
    }
    let event = serde_json::from_slice::<Identified>(&message.payload).map(|event| event.id);
    let sequence = || {
        message
            .info()
            .map_or_else(|_| UNKNOWN.to_owned(), |info| info.stream_sequence.to_string())
    };
    let id = format!("{}.{consumer}", event.unwrap_or_else(|_| sequence()));
    if subjects::is_replay(&message.subject) {
        format!("{id}.{}", sequence())
    } else {
        id
    }
}

fn one_line(reason: &str) -> String {
    reason.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Summary of a dead letter, without personal data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DeadLetterSummary {
    /// Time of dead-lettering (RFC 3339).
    pub given_up: Option<String>,
    /// The consumer that failed.
    pub channel: String,
    /// The event's type; `None` for an unknown type, whose text might be personal data.
    pub event_type: Option<&'static str>,
    /// The event's id.
    pub event_id: Option<Uuid>,
    /// Number of deliveries, deferrals included, or `unknown`.
    pub attempts: String,
    /// Why the last attempt failed, or `unknown`.
    pub reason: String,
}

impl DeadLetterSummary {
    /// Reads a message of the stream `DEAD_LETTERS`.
    pub fn of(subject: &str, headers: &HeaderMap, payload: &[u8]) -> Self {
        let header = |name| headers.get(name).map(|value| printable(value.as_str()));
        let event: Value = serde_json::from_slice(payload).unwrap_or_default();
        Self {
            given_up: header(DEAD_LETTER_TIME),
            channel: subjects::channel_of(subject).to_owned(),
            event_type: event["type"]
                .as_str()
                .and_then(EventType::named)
                .map(EventType::name),
            event_id: event["id"].as_str().and_then(|id| id.parse().ok()),
            attempts: header(DEAD_LETTER_ATTEMPTS)
                .filter(|attempts| attempts.parse::<u32>().is_ok())
                .unwrap_or_else(|| UNKNOWN.to_owned()),
            reason: header(DEAD_LETTER_ERROR).unwrap_or_else(|| UNKNOWN.to_owned()),
        }
    }
}

/// Replaces control characters, so that a receiver's text cannot control a terminal.
fn printable(raw: &str) -> String {
    raw.replace(char::is_control, " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dead_letter_summary_has_no_personal_data() {
        let mut headers = HeaderMap::new();
        headers.insert(DEAD_LETTER_ERROR, "550 5.1.1 \u{1b}[31mNo such user");
        headers.insert(DEAD_LETTER_ATTEMPTS, "90");
        headers.insert(DEAD_LETTER_TIME, "2026-11-20T12:00:00Z");
        let id = Uuid::from_u128(7);
        let event = format!(
            r#"{{ "id": "{id}", "type": "site.contact.received.v1", "data": {{ "name": "Asha" }} }}"#
        );
        let summary = DeadLetterSummary::of(
            "dead.contact-received-sales.0123456789abcdef0123456789abcdef",
            &headers,
            event.as_bytes(),
        );
        assert_eq!(
            summary,
            DeadLetterSummary {
                given_up: Some("2026-11-20T12:00:00Z".to_owned()),
                channel: "contact-received-sales".to_owned(),
                event_type: Some("site.contact.received.v1"),
                event_id: Some(id),
                attempts: "90".to_owned(),
                reason: "550 5.1.1  [31mNo such user".to_owned(),
            }
        );
    }

    #[test]
    fn an_unreadable_dead_letter_is_summarized_by_its_channel_alone() {
        let summary = DeadLetterSummary::of(
            "dead.contact-received-sales.anybody",
            &HeaderMap::new(),
            br#"{ "type": "Asha Rao", "id": "Asha" }"#,
        );
        assert_eq!(summary.attempts, "unknown");
        assert_eq!(
            (summary.event_type, summary.event_id, summary.given_up),
            (None, None, None)
        );
        assert_eq!(summary.reason, "unknown");
    }

    #[test]
    fn a_reason_of_several_lines_is_one() {
        assert_eq!(one_line("550 no\r\n  such\tuser\n"), "550 no such user");
    }
}
