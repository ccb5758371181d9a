//! The broker's own snapshots of its streams, their consumers included: what `nats stream backup` and `nats stream
//! restore` speak (nats-server, `server/jetstream_api.go`).

use std::{collections::VecDeque, io, pin::pin, sync::atomic::Ordering, time::Duration};

use anyhow::{Context as _, bail, ensure};
use async_nats::{
    Client, Message, Request, Subject, Subscriber,
    jetstream::{Context, consumer::Info, response::Response},
};
use futures_util::{FutureExt as _, StreamExt as _, TryStreamExt as _};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    time::{Instant, sleep, timeout},
};
use uuid::Uuid;

use super::{REQUEST_TIMEOUT, writer::NewFile};
use crate::progress;

/// Size of a chunk; less where the broker takes only smaller messages.
const CHUNK_BYTES: usize = 128 * 1024;
/// How much the broker sends before it waits for our acknowledgement.
const WINDOW_BYTES: usize = 4 * 1024 * 1024;
/// How long the broker waits for an acknowledgement at the most while a bucket takes its time: it breaks off after five seconds. What
/// is held meanwhile is a chunk for each.
const ACK_INTERVAL: Duration = Duration::from_secs(1);
/// How long a chunk may take.
const CHUNK_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the broker may take to make a stream of what it got.
const RESTORE_TIMEOUT: Duration = Duration::from_secs(15 * 60);
/// Where the broker sends snapshots: in the account of the streams, from where the account of backups imports it (users.conf).
const DELIVERY: &str = "backup";
/// The status of a snapshot that is complete.
const NO_CONTENT: u16 = 204;
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// A stream as the broker tells of it. What it says is kept word for word: a newer broker may say more than we know.
#[derive(Serialize, Deserialize)]
pub struct StreamInfo {
    config: Value,
    state: Value,
}

impl StreamInfo {
    /// How many messages the stream holds.
    pub fn messages(&self) -> u64 {
        self.number("messages")
    }

    /// Has as many copies made of the stream.
    pub fn set_replicas(&mut self, replicas: usize) {
        self.config["num_replicas"] = replicas.into();
    }

    fn number(&self, name: &str) -> u64 {
        self.state[name].as_u64().unwrap_or_default()
    }
}

/// Downloads a snapshot of a stream into the file. The broker sends no more than a window ahead of what is written.
///
/// # Errors
///
/// If the broker refuses it, falls silent or is lost meanwhile, or the place of the backup does not take it.
pub async fn download(context: &Context, stream: &str, file: &mut NewFile) -> anyhow::Result<StreamInfo> {
    let client = context.client();
    let connects = connects(&client);
    let inbox = format!("{DELIVERY}.{}", Uuid::new_v4().simple());
    let mut chunks = Chunks {
        received: client.subscribe(inbox.clone()).await?,
        client: client.clone(),
        number: 0,
        held: VecDeque::new(),
    };
    let body =
        json!({ "deliver_subject": inbox, "chunk_size": chunk_size(&client), "window_size": WINDOW_BYTES });
    let info: StreamInfo = request(context, &format!("STREAM.SNAPSHOT.{stream}"), &body).await?;
    let progress = progress::compressed(format!("stream {stream}"), info.number("bytes"))?;
    while let Some(chunk) = chunks.next().await? {
        chunks.hold_while(file.write(&chunk.payload)).await?;
        progress.inc(chunk.payload.len() as u64);
        chunks.acknowledge(chunk).await?;
    }
    // The last piece has no number: it could have been lost with the connection.
    ensure!(
        self::connects(&client) == connects,
        "the connection to the broker was lost meanwhile"
    );
    Ok(info)
}

/// The chunks of a snapshot, which the broker breaks off where it gets no acknowledgement for some seconds.
struct Chunks {
    received: Subscriber,
    client: Client,
    /// Of the last one.
    number: u64,
    /// Acknowledged before they are written, while a write takes long.
    held: VecDeque<Message>,
}

impl Chunks {
    /// The next one; none at a good end.
    async fn next(&mut self) -> anyhow::Result<Option<Message>> {
        let chunk = match self.held.pop_front() {
            Some(chunk) => chunk,
            None => {
                let chunk = timeout(CHUNK_TIMEOUT, self.received.next()).await;
                let chunk = chunk.ok().flatten().context("the broker fell silent")?;
                self.numbered(chunk)?
            }
        };
        if chunk.payload.is_empty() {
            ensure_complete(&chunk)?;
            return Ok(None);
        }
        Ok(Some(chunk))
    }

    fn numbered(&mut self, chunk: Message) -> anyhow::Result<Message> {
        if let Some(ack) = &chunk.reply {
            self.number += 1;
            ensure!(
                numbered(ack) == Some(self.number),
                "a piece of it was lost on the way"
            );
        }
        Ok(chunk)
    }

    async fn acknowledge(&self, chunk: Message) -> anyhow::Result<()> {
        if let Some(ack) = chunk.reply {
            self.client.publish(ack, "".into()).await?;
        }
        Ok(())
    }

    /// Acknowledges a chunk now and then while this takes, and keeps it for afterwards.
    async fn hold_while<T>(&mut self, writing: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
        let mut writing = pin!(writing);
        loop {
            if let Ok(written) = timeout(ACK_INTERVAL, &mut writing).await {
                return written;
            }
            if let Some(Some(chunk)) = self.received.next().now_or_never() {
                let mut chunk = self.numbered(chunk)?;
                if let Some(ack) = chunk.reply.take() {
                    self.client.publish(ack, "".into()).await?;
                }
                self.held.push_back(chunk);
            }
        }
    }
}

/// The empty message at the end says how it went.
fn ensure_complete(end: &Message) -> anyhow::Result<()> {
    match end.status {
        None => Ok(()),
        Some(status) if status.as_u16() == NO_CONTENT => Ok(()),
        Some(status) => bail!(
            "the broker broke it off: {status} {}",
            end.description.as_deref().unwrap_or_default()
        ),
    }
}

/// A chunk's number, the last part of the subject that acknowledges it.
fn numbered(ack: &Subject) -> Option<u64> {
    ack.rsplit('.').next()?.parse().ok()
}

fn connects(client: &Client) -> u64 {
    client.statistics().connects.load(Ordering::Relaxed)
}

/// Makes a stream of a snapshot. The next chunk goes out when the broker has taken the one before.
///
/// # Errors
///
/// If the file cannot be read, or the broker refuses it or falls silent.
pub async fn restore(
    context: &Context,
    stream: &str,
    info: &StreamInfo,
    mut snapshot: impl AsyncRead + Unpin,
) -> anyhow::Result<()> {
    let upload: Upload = request(context, &format!("STREAM.RESTORE.{stream}"), info).await?;
    let client = context.client();
    let mut chunk = vec![0; chunk_size(&client)];
    loop {
        let length = fill(&mut snapshot, &mut chunk).await?;
        let is_end = length == 0;
        let request = Request::new()
            .payload(chunk[..length].to_vec().into())
            .timeout(Some(if is_end { RESTORE_TIMEOUT } else { CHUNK_TIMEOUT }));
        let sent = client.send_request(upload.deliver_subject.clone(), request);
        let answer = sent.await.context("the broker fell silent")?;
        if is_end {
            parse_response::<Value>(&answer.payload)?;
            return Ok(());
        }
        if !answer.payload.is_empty() {
            parse_response::<Value>(&answer.payload)?;
        }
    }
}

/// Reads as much as there is room for; less only at the end.
async fn fill(content: &mut (impl AsyncRead + Unpin), chunk: &mut [u8]) -> io::Result<usize> {
    let mut length = 0;
    while length < chunk.len() {
        match content.read(&mut chunk[length..]).await? {
            0 => break,
            more => length += more,
        }
    }
    Ok(length)
}

/// Where a snapshot is sent to.
#[derive(Deserialize)]
struct Upload {
    deliver_subject: String,
}

/// Waits until the stream is there as it was, with all its consumers. The servers of a cluster agree on these only after
/// the stream itself: a set-up that comes before would make them anew.
///
/// # Errors
///
/// If it is not so within [`REQUEST_TIMEOUT`].
pub async fn wait_until_restored(context: &Context, stream: &str, info: &StreamInfo) -> anyhow::Result<()> {
    let started = Instant::now();
    loop {
        let found = fingerprint(context, stream).await;
        if found
            .as_ref()
            .is_ok_and(|found| found.is_restored_from(&StreamFingerprint::by(info)))
        {
            return Ok(());
        }
        if started.elapsed() > REQUEST_TIMEOUT {
            found?;
            bail!("the broker has it with other messages, numbers or consumers than it had");
        }
        sleep(POLL_INTERVAL).await;
    }
}

/// Fingerprint of a stream: what must be the same after a restore.
struct StreamFingerprint {
    messages: u64,
    first_sequence: u64,
    last_sequence: u64,
    consumers: u64,
    /// Whether single messages go when their time is over.
    forgets: bool,
}

impl StreamFingerprint {
    fn by(info: &StreamInfo) -> Self {
        Self {
            forgets: info.config["allow_msg_ttl"] == true,
            messages: info.messages(),
            first_sequence: info.number("first_seq"),
            last_sequence: info.number("last_seq"),
            consumers: info.number("consumer_count"),
        }
    }

    /// What was too old when it was restored is gone at once.
    fn is_restored_from(&self, former: &Self) -> bool {
        let has_forgotten = former.forgets || self.first_sequence > former.first_sequence;
        let is_complete = self.messages == former.messages || has_forgotten;
        let ends = |fingerprint: &Self| (fingerprint.last_sequence, fingerprint.consumers);
        is_complete && ends(self) == ends(former)
    }
}

async fn fingerprint(context: &Context, stream: &str) -> anyhow::Result<StreamFingerprint> {
    let stream = context.get_stream(stream).await?;
    let consumers: Vec<Info> = stream.consumers().try_collect().await?;
    let state = &stream.cached_info().state;
    Ok(StreamFingerprint {
        messages: state.messages,
        first_sequence: state.first_sequence,
        last_sequence: state.last_sequence,
        consumers: consumers.len() as u64,
        forgets: stream.cached_info().config.allow_message_ttl,
    })
}

fn chunk_size(client: &Client) -> usize {
    CHUNK_BYTES.min(client.server_info().max_payload)
}

async fn request<T: DeserializeOwned>(
    context: &Context,
    subject: &str,
    body: &impl Serialize,
) -> anyhow::Result<T> {
    let answer: Response<T> = context.request(subject.to_owned(), body).await?;
    into_result(answer)
}

fn parse_response<T: DeserializeOwned>(answer: &[u8]) -> anyhow::Result<T> {
    into_result(serde_json::from_slice(answer)?)
}

fn into_result<T>(answer: Response<T>) -> anyhow::Result<T> {
    match answer {
        Response::Ok(answer) => Ok(answer),
        Response::Err { error } => Err(error.into()),
    }
}
