//! The broker's snapshots of streams and their consumers, by the protocol of `nats stream backup` and `nats stream restore`
//! (nats-server, `server/jetstream_api.go`).

use std::{io::Write, sync::atomic::Ordering, time::Duration};

use anyhow::{Context as _, ensure};
use async_nats::{
    Request,
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

/// Must be below the broker's default `max_payload`.
const CHUNK_BYTES: u64 = 128 * 1024;
/// Flow control: the broker sends at most this many bytes ahead of our acks.
const WINDOW_BYTES: usize = 4 * 1024 * 1024;
const CHUNK_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout of the broker's answer to the last chunk. The broker creates the stream before it answers.
const RESTORE_TIMEOUT: Duration = Duration::from_secs(15 * 60);
/// Subject of snapshots in the account of the streams; the account of backups imports it (users.conf).
const DELIVERY: &str = "backup";
const NO_CONTENT: u16 = 204;
const POLL_INTERVAL: Duration = Duration::from_millis(100);

pub fn file_name(stream: &str) -> String {
    format!("streams/{stream}.snapshot.age")
}

/// Raw stream info, because a newer broker may send unknown fields.
#[derive(Clone, Serialize, Deserialize)]
pub struct StreamInfo {
    config: Value,
    state: Value,
}

impl StreamInfo {
    pub fn messages(&self) -> u64 {
        self.number("messages")
    }

    pub fn set_replicas(&mut self, replicas: usize) {
        self.config["num_replicas"] = replicas.into();
    }

    fn number(&self, name: &str) -> u64 {
        self.state[name].as_u64().unwrap_or_default()
    }
}

/// Downloads a stream's snapshot into a local file, because the broker aborts if acks wait for the bucket.
///
/// # Errors
///
/// If the broker rejects the request, times out or disconnects, or the file cannot be written.
pub async fn download(context: &Context, stream: &str, file: &mut impl Write) -> anyhow::Result<StreamInfo> {
    let client = context.client();
    let connects = || client.statistics().connects.load(Ordering::Relaxed);
    let connects_before = connects();
    let inbox = format!("{DELIVERY}.{}", Uuid::new_v4().simple());
    let mut chunks = client.subscribe(inbox.clone()).await?;
    let body = json!({ "deliver_subject": inbox, "chunk_size": CHUNK_BYTES, "window_size": WINDOW_BYTES });
    let info: StreamInfo = request(context, &format!("STREAM.SNAPSHOT.{stream}"), &body).await?;
    loop {
        let chunk = timeout(CHUNK_TIMEOUT, chunks.next()).await;
        let chunk = chunk.ok().flatten().context("the broker timed out")?;
        // The last message is empty and has the status.
        if chunk.payload.is_empty() {
            let status = chunk.status.map_or(NO_CONTENT, |status| status.as_u16());
            let description = chunk.description.unwrap_or_default();
            ensure!(
                status == NO_CONTENT,
                "the broker aborted it: {status} {description}"
            );
            break;
        }
        file.write_all(&chunk.payload)?;
        if let Some(ack) = chunk.reply {
            client.publish(ack, "".into()).await?;
        }
    }
    // A reconnect may have lost a chunk.
    ensure!(
        connects() == connects_before,
        "the connection to the broker was lost in the meantime"
    );
    Ok(info)
}

/// Creates a stream from a snapshot. The broker acks each chunk before the next is sent.
///
/// # Errors
///
/// If the file cannot be read, or the broker rejects the snapshot or times out.
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
    loop {
        let mut chunk = Vec::new();
        (&mut snapshot).take(CHUNK_BYTES).read_to_end(&mut chunk).await?;
        let is_end = chunk.is_empty();
        let within = if is_end { RESTORE_TIMEOUT } else { CHUNK_TIMEOUT };
        let request = Request::new().payload(chunk.into()).timeout(Some(within));
        let sent = client.send_request(subject.to_owned(), request);
        let answer = sent.await.context("the broker timed out")?;
        if is_end || !answer.payload.is_empty() {
            into_result::<Value>(serde_json::from_slice(&answer.payload)?)?;
        }
        if is_end {
            return Ok(());
        }
    }
}

/// Waits until the stream has its messages and consumers. A cluster restores consumers after the stream; `setup` must
/// not create them before that.
///
/// # Errors
///
/// If the restore takes longer than [`REQUEST_TIMEOUT`].
pub async fn wait_until_restored(context: &Context, stream: &str, former: &StreamInfo) -> anyhow::Result<()> {
    let started = Instant::now();
    while !is_restored(context, stream, former).await.unwrap_or(false) {
        ensure!(
            started.elapsed() < REQUEST_TIMEOUT,
            "the restored stream is unavailable, or has other messages, sequences or consumers"
        );
        sleep(POLL_INTERVAL).await;
    }
    Ok(())
}

async fn is_restored(context: &Context, name: &str, former: &StreamInfo) -> anyhow::Result<bool> {
    let stream = context.get_stream(name).await?;
    let consumers: Vec<Info> = stream.consumers().try_collect().await?;
    let state = &stream.cached_info().state;
    // The broker removes expired messages at once, so fewer than before may be left.
    let has_expired =
        former.config["allow_msg_ttl"] == true || state.first_sequence > former.number("first_seq");
    Ok((has_expired || state.messages == former.messages())
        && state.last_sequence == former.number("last_seq")
        && consumers.len() as u64 == former.number("consumer_count"))
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
