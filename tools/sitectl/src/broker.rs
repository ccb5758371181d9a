//! The broker as the operator's commands use it: streams, searched by subject.

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

/// How long a person who typed a command waits for a broker that is away.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);

/// Connects as the operator.
///
/// # Errors
///
/// If a setting cannot be used, or no server answered in time.
pub async fn connect(settings: &NatsSettings) -> anyhow::Result<Context> {
    client(settings).await.map(jetstream::new)
}

/// The same for what is asked of the broker outside its streams.
///
/// # Errors
///
/// If a setting cannot be used, or no server answered in time.
pub async fn client(settings: &NatsSettings) -> anyhow::Result<Client> {
    Ok(nats::connect_within(CONNECT_TIMEOUT, settings, "operator").await?)
}

/// The broker's own time. The client library does not hand on what its answers say of it.
pub async fn time(client: &Client) -> Option<OffsetDateTime> {
    let answer = client
        .request(format!("$JS.API.STREAM.INFO.{SITE_STREAM}"), "".into())
        .await
        .ok()?;
    let answer: Value = serde_json::from_slice(&answer.payload).ok()?;
    OffsetDateTime::parse(answer["ts"].as_str()?, &Rfc3339).ok()
}

/// Opens a stream.
///
/// # Errors
///
/// If it is not there, or the broker does not answer.
pub async fn stream(context: &Context, name: &str) -> anyhow::Result<Stream> {
    let opened = context.get_stream(name).await;
    opened.with_context(|| {
        format!("stream {name} cannot be opened (is NATS_URL right, and was `sitectl setup` run?)")
    })
}

/// Opens a stream to read it.
///
/// # Errors
///
/// If it is not there, or the broker does not answer.
pub async fn reader(context: &Context, name: &str) -> anyhow::Result<StreamReader> {
    Ok(StreamReader::new(context, stream(context, name).await?))
}

/// Opens the stream behind a bucket to read it: markers of removed records are among the others, and what is rewritten
/// meanwhile comes again.
///
/// # Errors
///
/// If it is not there, or the broker does not answer.
pub async fn bucket(context: &Context, name: &str) -> anyhow::Result<StreamReader> {
    reader(context, &format!("KV_{name}")).await
}

/// The messages under a filter that few match, such as those of one person; oldest first.
///
/// # Errors
///
/// If they cannot all be read.
pub async fn search(reader: &StreamReader, filter: &str) -> anyhow::Result<Vec<StreamMessage>> {
    let mut found: Vec<StreamMessage> = reader.under(filter).try_collect().await?;
    found.sort_by_key(|message| message.sequence);
    Ok(found)
}

/// The first message under a subject from this sequence on.
///
/// # Errors
///
/// If the broker does not answer.
pub async fn next(stream: &Stream, subject: &str, from: u64) -> anyhow::Result<Option<StreamMessage>> {
    found(stream.get_first_raw_message_by_subject(subject, from).await)
}

/// The message of this sequence, where there is one.
///
/// # Errors
///
/// If the broker does not answer.
pub async fn get(stream: &Stream, sequence: u64) -> anyhow::Result<Option<StreamMessage>> {
    // Sequences begin with 1; the broker refuses to look for 0.
    if sequence == 0 {
        return Ok(None);
    }
    found(stream.get_raw_message(sequence).await)
}

fn found(asked: Result<StreamMessage, RawMessageError>) -> anyhow::Result<Option<StreamMessage>> {
    match asked {
        Ok(message) => Ok(Some(message)),
        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
        Err(error) => Err(error).context("the broker could not be searched (setting NATS_URL)"),
    }
}

/// Secure deletion: the broker overwrites the message on its disk.
///
/// # Errors
///
/// If it is gone already, or the broker does not answer.
pub async fn secure_delete(stream: &Stream, sequence: u64) -> anyhow::Result<()> {
    let name = &stream.cached_info().config.name;
    let deleted = stream.delete_message(sequence).await;
    deleted.with_context(|| format!("message {sequence} of {name} could not be deleted"))?;
    Ok(())
}

/// What a message holds as JSON; text that is not JSON as a string.
pub fn content(message: &StreamMessage) -> Value {
    serde_json::from_slice(&message.payload)
        .unwrap_or_else(|_| String::from_utf8_lossy(&message.payload).into())
}

/// The id of the event that a message holds, where it holds one.
pub fn event_id(message: &StreamMessage) -> Option<Uuid> {
    content(message)["id"].as_str()?.parse().ok()
}

/// The time of an event, where it tells one.
pub fn time_of(event: &Value) -> Option<OffsetDateTime> {
    OffsetDateTime::parse(event["time"].as_str()?, &Rfc3339).ok()
}

/// Consumer lag: how many events have no outcome yet.
pub fn consumer_lag(consumer: &Info) -> u64 {
    consumer.num_pending + consumer.num_ack_pending as u64
}
