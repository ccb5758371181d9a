//! Reader of a stream in batches (direct gets of many messages, NATS ADR-31).
//!
//! A batch may come from a lagging replica. So the leader decides whether more messages follow.

use std::{time::Duration, vec};

use async_nats::{
    Client, HeaderMap, Message, StatusCode, Subscriber,
    jetstream::{
        Context,
        message::{StreamMessage, StreamMessageError},
        stream::{LastRawMessageErrorKind, Stream},
    },
};
use futures_util::{
    StreamExt as _, TryStreamExt as _,
    stream::{self, BoxStream},
};
use serde_json::json;
use tokio::time::timeout;

const BATCH_MESSAGES: u32 = 500;
const BATCH_BYTES: u32 = 4 * 1024 * 1024;
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
const END_OF_BATCH: u16 = 204;
/// Header with the sequence of the previous message in a batch.
const LAST_SEQUENCE: &str = "Nats-Last-Sequence";
const NUM_PENDING: &str = "Nats-Num-Pending";
/// Headers that the broker appends to those of a stored message.
const ANSWER_HEADERS: [&str; 6] = [
    "Nats-Stream",
    "Nats-Subject",
    "Nats-Sequence",
    "Nats-Time-Stamp",
    LAST_SEQUENCE,
    NUM_PENDING,
];
const NOT_FOUND: u16 = 404;
const ALL_SUBJECTS: &str = ">";

/// A stream could not be read to its end.
#[derive(Debug, thiserror::Error)]
#[error("stream {stream} cannot be read: {reason}")]
pub struct ReadError {
    stream: String,
    reason: String,
}

/// Messages of a stream, oldest first.
pub type Messages<'a> = BoxStream<'a, Result<StreamMessage, ReadError>>;

/// Reader of a stream or bucket.
#[derive(Clone)]
pub struct StreamReader {
    client: Client,
    stream: Stream,
}

impl StreamReader {
    /// Reader of this stream, which must allow direct gets.
    pub fn new(context: &Context, stream: Stream) -> Self {
        Self {
            client: context.client(),
            stream,
        }
    }

    /// Stream of this reader.
    pub fn stream(&self) -> &Stream {
        &self.stream
    }

    /// All messages, including those stored during the read. A batch is read ahead, so a message may already
    /// be changed or removed.
    ///
    /// Callers filter the messages themselves. If many subjects matched a filter, the broker would count all
    /// remaining messages for each batch.
    pub fn all(&self) -> Messages<'_> {
        self.since(1)
    }

    /// Like [`Self::all`], from this sequence on.
    pub fn since(&self, sequence: u64) -> Messages<'_> {
        self.messages(ALL_SUBJECTS.to_owned(), sequence.max(1))
    }

    /// Messages under the few subjects that match a filter, such as the subjects of one person.
    ///
    /// Lists the subjects first. The broker finds a subject by an index, but scans blocks for a wildcard.
    pub fn under<'a>(&'a self, filter: &'a str) -> Messages<'a> {
        let subjects = stream::once(self.stream.info_with_subjects(filter)).try_flatten();
        let found = subjects
            .map_err(|error| self.error(error))
            .map_ok(|(subject, _count)| self.messages(subject, 1))
            .try_flatten();
        found.boxed()
    }

    fn messages(&self, subject: String, from: u64) -> Messages<'_> {
        let batches = Batches {
            reader: self,
            subject,
            from,
            // The number of pending messages is unknown; 1 requests the first batch.
            batch: Batch {
                pending: 1,
                ..Batch::default()
            },
        };
        let read = stream::try_unfold(batches, async |mut batches| {
            let message = batches.next().await?;
            Ok(message.map(|message| (message, batches)))
        });
        read.boxed()
    }

    /// Number of messages that match a filter.
    ///
    /// # Errors
    ///
    /// If the broker does not answer.
    pub async fn count(&self, filter: &str) -> Result<u64, ReadError> {
        let batch = self.batch(filter, 1, 1).await?;
        Ok(batch.messages.len() as u64 + batch.pending)
    }

    async fn batch(&self, subject: &str, from: u64, most: u32) -> Result<Batch, ReadError> {
        let inbox = self.client.new_inbox();
        let subscribed = self.client.subscribe(inbox.clone()).await;
        let answers = subscribed.map_err(|error| self.error(error))?;
        let request =
            json!({ "seq": from, "next_by_subj": subject, "batch": most, "max_bytes": BATCH_BYTES });
        let asked = format!("$JS.API.DIRECT.GET.{}", self.stream.cached_info().config.name);
        let sent = self
            .client
            .publish_with_reply(asked, inbox, request.to_string().into());
        sent.await.map_err(|error| self.error(error))?;
        self.receive(answers).await
    }

    async fn receive(&self, mut answers: Subscriber) -> Result<Batch, ReadError> {
        let mut messages: Vec<StreamMessage> = Vec::new();
        loop {
            let answer = timeout(ANSWER_TIMEOUT, answers.next()).await;
            let answer = answer.ok().flatten();
            let answer = answer.ok_or_else(|| self.error("the broker does not answer"))?;
            // A reconnection may have lost messages.
            let last = messages.last().map_or(0, |message| message.sequence);
            match answer.status.as_ref().map(StatusCode::as_u16) {
                None if last == 0 || number(&answer, LAST_SEQUENCE) == Some(last) => {
                    messages.push(message_of(answer).map_err(|error| self.error(error))?);
                }
                Some(END_OF_BATCH) if number(&answer, LAST_SEQUENCE) == Some(last) => {
                    return Ok(Batch {
                        messages: messages.into_iter(),
                        pending: number(&answer, NUM_PENDING).unwrap_or_default(),
                    });
                }
                Some(NOT_FOUND) => return Ok(Batch::default()),
                None | Some(END_OF_BATCH) => return Err(self.error("a message was lost on the way")),
                Some(status) => {
                    let words = answer.description.unwrap_or_default();
                    return Err(self.error(format!("{status} {words}")));
                }
            }
        }
    }

    async fn first_of_leader(&self, subject: &str, from: u64) -> Result<Option<StreamMessage>, ReadError> {
        match self.stream.get_first_raw_message_by_subject(subject, from).await {
            Ok(message) => Ok(Some(message)),
            Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(None),
            Err(error) => Err(self.error(error)),
        }
    }

    fn error(&self, reason: impl ToString) -> ReadError {
        ReadError {
            stream: self.stream.cached_info().config.name.clone(),
            reason: reason.to_string(),
        }
    }
}

/// Removes the broker's headers, which must not be published again.
fn message_of(answer: Message) -> Result<StreamMessage, StreamMessageError> {
    let mut message = StreamMessage::try_from(answer)?;
    let mut stored = HeaderMap::new();
    for (name, values) in message.headers.iter() {
        let of_answer = usize::from(ANSWER_HEADERS.contains(&name.as_ref()));
        for value in values.iter().take(values.len().saturating_sub(of_answer)) {
            stored.append(name.clone(), value.clone());
        }
    }
    message.headers = stored;
    Ok(message)
}

fn number(answer: &Message, header: &str) -> Option<u64> {
    // The broker appends its own header, so the last value is the broker's.
    let value = answer.headers.as_ref()?.get_last(header)?;
    value.as_str().parse().ok()
}

#[derive(Default)]
struct Batch {
    messages: vec::IntoIter<StreamMessage>,
    /// Number of further messages that the answering replica knows.
    pending: u64,
}

struct Batches<'a> {
    reader: &'a StreamReader,
    subject: String,
    from: u64,
    batch: Batch,
}

impl Batches<'_> {
    async fn next(&mut self) -> Result<Option<StreamMessage>, ReadError> {
        let message = match self.batch.messages.next() {
            Some(message) => Some(message),
            None => self.fetch().await?,
        };
        if let Some(message) = &message {
            self.from = message.sequence + 1;
        }
        Ok(message)
    }

    async fn fetch(&mut self) -> Result<Option<StreamMessage>, ReadError> {
        if self.batch.pending > 0 {
            self.batch = self
                .reader
                .batch(&self.subject, self.from, BATCH_MESSAGES)
                .await?;
            if let Some(message) = self.batch.messages.next() {
                return Ok(Some(message));
            }
        }
        let first = self.reader.first_of_leader(&self.subject, self.from).await?;
        // More messages may follow this one; 1 requests a batch.
        self.batch.pending = u64::from(first.is_some());
        Ok(first)
    }
}
