//! What could not be delivered, kept unchanged beside the reason.

use async_nats::jetstream::{Context, Message};
use serde::Deserialize;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use crate::{DEAD_LETTERS, subjects};

/// Why the last attempt failed.
pub const ERROR: &str = "Dead-Letter-Error";
/// How often delivery was tried.
pub const ATTEMPTS: &str = "Dead-Letter-Attempts";
/// When it was given up (RFC 3339).
pub const TIME: &str = "Dead-Letter-Time";

/// Stores the event in `DEAD_LETTERS`, once however often it is called.
pub async fn bury(
    context: &Context,
    consumer: &str,
    message: &Message,
    reason: &str,
    attempt: i64,
) -> Result<(), async_nats::Error> {
    let mut headers = message.headers.clone().unwrap_or_default();
    headers.insert(ERROR, one_line(reason));
    headers.insert(ATTEMPTS, attempt.to_string());
    headers.insert(TIME, OffsetDateTime::now_utc().format(&Rfc3339)?);
    headers.insert(async_nats::header::NATS_MESSAGE_ID, id(consumer, message));
    headers.insert(async_nats::header::NATS_EXPECTED_STREAM, DEAD_LETTERS);
    let subject = subjects::dead_letter(consumer, subjects::person_of(&message.subject));
    let ack = context
        .publish_with_headers(subject, headers, message.payload.clone())
        .await?;
    ack.await?;
    Ok(())
}

/// One per event and channel; a replay that fails again is another dead letter, which the
/// broker must not take for a repetition of the first.
fn id(consumer: &str, message: &Message) -> String {
    #[derive(Deserialize)]
    struct Identified {
        id: String,
    }
    let event = serde_json::from_slice::<Identified>(&message.payload).map(|event| event.id);
    let sequence = || {
        message
            .info()
            .map_or_else(|_| "unknown".to_owned(), |info| info.stream_sequence.to_string())
    };
    let id = format!("{}.{consumer}", event.unwrap_or_else(|_| sequence()));
    if subjects::is_replay(&message.subject) {
        format!("{id}.{}", sequence())
    } else {
        id
    }
}

/// Header values end at a line break (and so would the reason).
fn one_line(reason: &str) -> String {
    reason.split_whitespace().collect::<Vec<_>>().join(" ")
}
