//! The operator's access to the broker: streams, searched by subject.

use std::time::Duration;

use anyhow::Context as _;
use async_nats::{
    Client,
    jetstream::{
        self, Context,
        consumer::Info,
        message::StreamMessage,
        stream::{LastRawMessageErrorKind, RawMessageError, Stream},
    },
};
use futures_util::TryStreamExt as _;
use serde_json::Value;
use site_broker::StreamReader;
use site_events::SITE_STREAM;
use site_service::nats::{self, NatsSettings};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::Uuid;

/// Short, because a person waits.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// JetStream context of a connection as the operator.
///
/// # Errors
///
/// As [`client`].
pub async fn connect(settings: &NatsSettings) -> anyhow::Result<Context> {
    client(settings).await.map(jetstream::new)
}

/// Connects as the operator.
///
/// # Errors
///
/// If a setting is invalid, or no server answers in time.
pub async fn client(settings: &NatsSettings) -> anyhow::Result<Client> {
    Ok(nats::connect_within(CONNECT_TIMEOUT, settings, "operator").await?)
}

/// Time of the broker's clock, by a raw request: the client library drops the time of a reply.
pub async fn time(client: &Client) -> Option<OffsetDateTime> {
    let answer = client
        .request(format!("$JS.API.STREAM.INFO.{SITE_STREAM}"), "".into())
        .await
        .ok()?;
    let answer: Value = serde_json::from_slice(&answer.payload).ok()?;
    OffsetDateTime::parse(answer["ts"].as_str()?, &Rfc3339).ok()
}

/// # Errors
///
/// If the stream does not exist, or the broker is unavailable.
pub async fn stream(context: &Context, name: &str) -> anyhow::Result<Stream> {
    let opened = context.get_stream(name).await;
    opened.with_context(|| {
        format!("stream {name} cannot be opened (is NATS_URL right, and was `sitectl setup` run?)")
    })
}

/// # Errors
///
/// If the stream does not exist, or the broker is unavailable.
pub async fn reader(context: &Context, name: &str) -> anyhow::Result<StreamReader> {
    Ok(StreamReader::new(context, stream(context, name).await?))
}

/// Opens a bucket's stream. The reader also yields markers of removed records, and repeats records that change
/// meanwhile.
///
/// # Errors
///
/// If the bucket does not exist, or the broker is unavailable.
pub async fn bucket(context: &Context, name: &str) -> anyhow::Result<StreamReader> {
    reader(context, &format!("KV_{name}")).await
}

/// Messages of a filter with few matches, such as one person's; oldest first.
///
/// # Errors
///
/// If a message cannot be read.
pub async fn search(reader: &StreamReader, filter: &str) -> anyhow::Result<Vec<StreamMessage>> {
    let mut found: Vec<StreamMessage> = reader.under(filter).try_collect().await?;
    found.sort_by_key(|message| message.sequence);
    Ok(found)
}

/// First message of a subject at or after this sequence.
///
/// # Errors
///
/// If the broker is unavailable.
pub async fn next(stream: &Stream, subject: &str, from: u64) -> anyhow::Result<Option<StreamMessage>> {
    found(stream.get_first_raw_message_by_subject(subject, from).await)
}

/// Message by sequence.
///
/// # Errors
///
/// If the broker is unavailable.
pub async fn get(stream: &Stream, sequence: u64) -> anyhow::Result<Option<StreamMessage>> {
    // The broker rejects 0 as invalid.
    if sequence == 0 {
        return Ok(None);
    }
    found(stream.get_raw_message(sequence).await)
}

fn found(result: Result<StreamMessage, RawMessageError>) -> anyhow::Result<Option<StreamMessage>> {
    match result {
        Ok(message) => Ok(Some(message)),
        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
        Err(error) => Err(error).context("the broker could not be searched (setting NATS_URL)"),
    }
}

/// Deletes a message. The broker overwrites it on its disk.
///
/// # Errors
///
/// If the message no longer exists, or the broker is unavailable.
pub async fn secure_delete(stream: &Stream, sequence: u64) -> anyhow::Result<()> {
    let name = &stream.cached_info().config.name;
    let deleted = stream.delete_message(sequence).await;
    deleted.with_context(|| format!("message {sequence} of {name} could not be deleted"))?;
    Ok(())
}

/// Payload as JSON, or as a string if it is no JSON.
pub fn content(message: &StreamMessage) -> Value {
    serde_json::from_slice(&message.payload)
        .unwrap_or_else(|_| String::from_utf8_lossy(&message.payload).into())
}

/// Id of the message's event.
pub fn event_id(message: &StreamMessage) -> Option<Uuid> {
    content(message)["id"].as_str()?.parse().ok()
}

/// Time of an event.
pub fn time_of(event: &Value) -> Option<OffsetDateTime> {
    OffsetDateTime::parse(event["time"].as_str()?, &Rfc3339).ok()
}

/// Consumer lag: events without an outcome.
pub fn consumer_lag(consumer: &Info) -> u64 {
    consumer.num_pending + consumer.num_ack_pending as u64
}
