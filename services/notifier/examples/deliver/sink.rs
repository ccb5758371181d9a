//! The mail server of the benchmark.

use std::{
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};

use anyhow::Context;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufStream},
    net::{TcpListener, TcpStream},
    runtime,
    task::JoinSet,
    time::{Instant, sleep},
};

/// A mail server on a thread of its own that counts, and takes some time for each mail.
pub struct Sink {
    /// Where it listens.
    pub port: u16,
    counts: Arc<Counts>,
}

#[derive(Default)]
struct Counts {
    accepted: AtomicUsize,
    /// When the first and the latest mail were accepted.
    span: Mutex<Option<(Instant, Instant)>>,
    last: Mutex<Vec<u8>>,
}

impl Sink {
    /// Starts one that takes this long for each mail.
    pub fn start(takes: Duration) -> anyhow::Result<Self> {
        let listener = std::net::TcpListener::bind(("127.0.0.1", 0))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let counts = Arc::new(Counts::default());
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let shared = counts.clone();
        thread::spawn(move || runtime.block_on(serve(listener, takes, shared)));
        Ok(Self { port, counts })
    }

    /// Counts from none.
    pub fn begin_anew(&self) {
        self.counts.accepted.store(0, Ordering::Relaxed);
        *self.counts.span.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// How many mails it has.
    pub fn accepted(&self) -> usize {
        self.counts.accepted.load(Ordering::Relaxed)
    }

    /// The latest mail.
    pub fn last(&self) -> Vec<u8> {
        let last = self.counts.last.lock();
        last.unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Mails per second, from the first to the last.
    pub fn mails_per_second(&self) -> anyhow::Result<f64> {
        let span = *self.counts.span.lock().unwrap_or_else(PoisonError::into_inner);
        let (first, last) = span.context("no mail arrived")?;
        Ok((self.accepted() - 1) as f64 / (last - first).as_secs_f64())
    }
}

async fn serve(listener: std::net::TcpListener, takes: Duration, counts: Arc<Counts>) -> anyhow::Result<()> {
    let listener = TcpListener::from_std(listener)?;
    let mut clients = JoinSet::new();
    loop {
        let (socket, _) = listener.accept().await?;
        socket.set_nodelay(true)?;
        let counts = counts.clone();
        clients.spawn(async move { converse(socket, takes, &counts).await });
    }
}

async fn converse(socket: TcpStream, takes: Duration, counts: &Counts) -> anyhow::Result<()> {
    let mut client = BufStream::new(socket);
    let mut line = Vec::new();
    say_to(&mut client, "220 sink\r\n").await?;
    loop {
        line.clear();
        if client.read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        match &line[..4.min(line.len())] {
            b"DATA" => {
                say_to(&mut client, "354 Go ahead\r\n").await?;
                let mut content = Vec::new();
                while !content.ends_with(b"\r\n.\r\n") {
                    client.read_until(b'\n', &mut content).await?;
                }
                if !takes.is_zero() {
                    sleep(takes).await;
                }
                content.truncate(content.len() - b"\r\n.\r\n".len());
                counts.note(content);
                say_to(&mut client, "250 Taken\r\n").await?;
            }
            b"QUIT" => return say_to(&mut client, "221 Bye\r\n").await,
            _ => say_to(&mut client, "250 OK\r\n").await?,
        }
    }
}

async fn say_to(client: &mut BufStream<TcpStream>, words: &str) -> anyhow::Result<()> {
    client.write_all(words.as_bytes()).await?;
    Ok(client.flush().await?)
}

impl Counts {
    fn note(&self, content: Vec<u8>) {
        let now = Instant::now();
        let mut span = self.span.lock().unwrap_or_else(PoisonError::into_inner);
        *span = Some((span.map_or(now, |(first, _)| first), now));
        *self.last.lock().unwrap_or_else(PoisonError::into_inner) = content;
        self.accepted.fetch_add(1, Ordering::Relaxed);
    }
}
