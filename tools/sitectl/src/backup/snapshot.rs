//! The broker's own snapshots of its streams, their consumers included: what `nats stream backup` and `nats stream
//! restore` speak (nats-server, `server/jetstream_api.go`).

use std::{io::Write, sync::atomic::Ordering, time::Duration};

use anyhow::{Context as _, bail, ensure};
use async_nats::{
    Client, Request,
    jetstream::{Context, consumer::Info, response::Response},
};
use futures_util::{StreamExt as _, TryStreamExt as _};
use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncRead, AsyncReadExt as _},
    time::{Instant, sleep, timeout},
};
use uuid::Uuid;

use super::REQUEST_TIMEOUT;

/// Size of a chunk; less where the broker takes only smaller messages.
const CHUNK_BYTES: usize = 128 * 1024;
/// How much the broker sends before it waits for our acknowledgement.
const WINDOW_BYTES: usize = 4 * 1024 * 1024;
/// How long a chunk may take.
const CHUNK_TIMEOUT: Duration = Duration::from_secs(10);
/// How long the broker may take to make a stream of what it got.
const RESTORE_TIMEOUT: Duration = Duration::from_secs(15 * 60);
/// Where the broker sends snapshots: in the account of the streams, from where the account of backups imports it (users.conf).
const DELIVERY: &str = "backup";
/// The status of a snapshot that is complete.
const NO_CONTENT: u16 = 204;
const POLL_INTERVAL: Duration = Duration::from_millis(100);

/// Name of a snapshot's file within its backup.
pub fn file_name(stream: &str) -> String {
    format!("streams/{stream}.snapshot.age")
}

/// A stream as the broker describes it, word for word: a newer broker may say more than we know.
#[derive(Clone, Serialize, Deserialize)]
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

/// Downloads a snapshot of a stream into the file. The broker sends no more than a window ahead of what is written, and breaks off
/// where a write takes seconds: a local disk keeps up, the bucket may not.
///
/// # Errors
///
/// If the broker refuses it, falls silent or is lost meanwhile, or the disk does not take it.
pub async fn download(context: &Context, stream: &str, file: &mut impl Write) -> anyhow::Result<StreamInfo> {
    let client = context.client();
    let connects = || client.statistics().connects.load(Ordering::Relaxed);
    let connects_before = connects();
    let inbox = format!("{DELIVERY}.{}", Uuid::new_v4().simple());
    let mut chunks = client.subscribe(inbox.clone()).await?;
    let body =
        json!({ "deliver_subject": inbox, "chunk_size": chunk_size(&client), "window_size": WINDOW_BYTES });
    let info: StreamInfo = request(context, &format!("STREAM.SNAPSHOT.{stream}"), &body).await?;
    loop {
        let chunk = timeout(CHUNK_TIMEOUT, chunks.next()).await;
        let chunk = chunk.ok().flatten().context("the broker fell silent")?;
        // The empty message at the end says how it went.
        if chunk.payload.is_empty() {
            let status = chunk.status.map_or(NO_CONTENT, |status| status.as_u16());
            let description = chunk.description.unwrap_or_default();
            ensure!(
                status == NO_CONTENT,
                "the broker broke it off: {status} {description}"
            );
            break;
        }
        file.write_all(&chunk.payload)?;
        if let Some(ack) = chunk.reply {
            client.publish(ack, "".into()).await?;
        }
    }
    // Nothing else loses a piece on the way.
    ensure!(
        connects() == connects_before,
        "the connection to the broker was lost meanwhile"
    );
    Ok(info)
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
    let upload: Value = request(context, &format!("STREAM.RESTORE.{stream}"), info).await?;
    let subject = upload["deliver_subject"].as_str();
    let subject = subject.context("the broker does not say where to send it")?;
    let client = context.client();
    let most = chunk_size(&client) as u64;
    loop {
        let mut chunk = Vec::new();
        (&mut snapshot).take(most).read_to_end(&mut chunk).await?;
        let is_end = chunk.is_empty();
        let within = if is_end { RESTORE_TIMEOUT } else { CHUNK_TIMEOUT };
        let request = Request::new().payload(chunk.into()).timeout(Some(within));
        let sent = client.send_request(subject.to_owned(), request);
        let answer = sent.await.context("the broker fell silent")?;
        if is_end || !answer.payload.is_empty() {
            into_result::<Value>(serde_json::from_slice(&answer.payload)?)?;
        }
        if is_end {
            return Ok(());
        }
    }
}

/// Waits until the stream is there as it was, with all its consumers. The servers of a cluster agree on these only after
/// the stream itself: a set-up that comes before would make them anew.
///
/// # Errors
///
/// If it is not so within [`REQUEST_TIMEOUT`].
pub async fn wait_until_restored(context: &Context, stream: &str, former: &StreamInfo) -> anyhow::Result<()> {
    let started = Instant::now();
    loop {
        let restored = is_restored(context, stream, former).await;
        if matches!(restored, Ok(true)) {
            return Ok(());
        }
        if started.elapsed() > REQUEST_TIMEOUT {
            restored?;
            bail!("the broker has it with other messages, numbers or consumers than it had");
        }
        sleep(POLL_INTERVAL).await;
    }
}

async fn is_restored(context: &Context, name: &str, former: &StreamInfo) -> anyhow::Result<bool> {
    let stream = context.get_stream(name).await?;
    let consumers: Vec<Info> = stream.consumers().try_collect().await?;
    let state = &stream.cached_info().state;
    // What was too old when it was restored is gone at once.
    let has_forgotten =
        former.config["allow_msg_ttl"] == true || state.first_sequence > former.number("first_seq");
    Ok((has_forgotten || state.messages == former.messages())
        && state.last_sequence == former.number("last_seq")
        && consumers.len() as u64 == former.number("consumer_count"))
}

fn chunk_size(client: &Client) -> usize {
    CHUNK_BYTES.min(client.server_info().max_payload)
}

async fn request<T: DeserializeOwned>(
    context: &Context,
    subject: &str,
    body: &impl Serialize,
) -> anyhow::Result<T> {
    into_result(context.request(subject.to_owned(), body).await?)
}

fn into_result<T>(answer: Response<T>) -> anyhow::Result<T> {
    match answer {
        Response::Ok(answer) => Ok(answer),
        Response::Err { error } => Err(error.into()),
    }
}
