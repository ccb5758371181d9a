//! Connections as no browser makes them.

use std::{
    io,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt, AsyncWriteExt, sink},
    net::{TcpSocket, TcpStream},
    time::{sleep, timeout},
};
use uuid::Uuid;

use super::attempts::Attempts;

/// Before a connection that was refused or closed is made again.
const PAUSE: Duration = Duration::from_millis(500);
/// Between two signs of life.
const SIGN_INTERVAL: Duration = Duration::from_secs(1);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(10);
/// What gets an upload in line for a place.
const UPLOAD_BEGINNING_BYTES: usize = 80 * 1024;
const UPLOAD_BYTES: usize = 9_000_000;
/// A second of an upload that the gateway's own setting (`UPLOAD_LEAST_RATE`, 8,000) takes for fast enough.
const ABOVE_LEAST_RATE_BYTES: usize = 9_000;
const RECEIVE_BUFFER_BYTES: u32 = 4_096;
const REQUESTS_WITHOUT_READING: usize = 200;

/// In what a connection is slow.
#[derive(Debug, Clone, Copy)]
pub enum Slowness {
    /// A header a second.
    Headers,
    /// A byte of a form a second.
    Body,
    /// Answers are asked for and not read.
    Reading,
    /// A byte a second of a résumé whose beginning came at once.
    Upload,
    /// The same by a little more than the least rate.
    UploadAtLeastRate,
}

impl Slowness {
    /// Those that need no form with a file.
    pub const OF_CONNECTIONS: [Self; 3] = [Self::Headers, Self::Body, Self::Reading];

    fn beginning(self) -> Vec<u8> {
        match self {
            Self::Headers => b"GET / HTTP/1.1\r\nHost: a\r\n".into(),
            Self::Body => b"POST /api/contact HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 900\r\n\r\n{".into(),
            Self::Reading => b"GET / HTTP/1.1\r\nHost: a\r\n\r\n".repeat(REQUESTS_WITHOUT_READING),
            Self::Upload | Self::UploadAtLeastRate => beginning_of_an_upload(),
        }
    }

    /// When it is made again in any case. An upload that lost its place is told so only once the rest of it was read.
    fn longest(self) -> Duration {
        match self {
            Self::Headers | Self::Body | Self::Reading => Duration::MAX,
            Self::Upload => Duration::from_secs(5),
            Self::UploadAtLeastRate => Duration::from_secs(15),
        }
    }

    fn sign(self) -> &'static [u8] {
        match self {
            Self::Headers => b"X-A: b\r\n",
            Self::Body => b" ",
            Self::Reading => b"",
            Self::Upload => b"a",
            Self::UploadAtLeastRate => &[b'a'; ABOVE_LEAST_RATE_BYTES],
        }
    }
}

fn beginning_of_an_upload() -> Vec<u8> {
    let head = format!(
        "POST /api/career-application HTTP/1.1\r\nHost: a\r\nContent-Type: multipart/form-data; boundary=x\r\n\
         Content-Length: {UPLOAD_BYTES}\r\n\r\n\
         --x\r\nContent-Disposition: form-data; name=\"resume\"; filename=\"cv.pdf\"\r\n\r\n%PDF-1.7\n"
    );
    [head.into_bytes(), vec![b'a'; UPLOAD_BEGINNING_BYTES]].concat()
}

/// Stays, and is made again whenever it was closed.
pub async fn idle(from: Ipv4Addr, site: SocketAddr, attempts: Attempts) {
    loop {
        attempts.add();
        if let Ok(mut stream) = connect(from, site).await {
            // Until it is closed.
            let _closed = tokio::io::copy(&mut stream, &mut sink()).await;
        }
        sleep(PAUSE).await;
    }
}

/// Says something now and then, and is made again whenever it was answered or closed.
pub async fn slow(from: Ipv4Addr, site: SocketAddr, slowness: Slowness, attempts: Attempts) {
    loop {
        attempts.add();
        // Answered, closed or reset: it is made again.
        let _over = timeout(slowness.longest(), stay(from, site, slowness)).await;
        sleep(PAUSE).await;
    }
}

async fn stay(from: Ipv4Addr, site: SocketAddr, slowness: Slowness) -> io::Result<()> {
    let mut stream = connect(from, site).await?;
    stream.write_all(&slowness.beginning()).await?;
    let mut answer = [0; 64];
    loop {
        sleep(SIGN_INTERVAL).await;
        stream.write_all(slowness.sign()).await?;
        let is_over = match slowness {
            // Nothing is read, so the end is seen by nothing else.
            Slowness::Reading => stream
                .ready(tokio::io::Interest::ERROR | tokio::io::Interest::WRITABLE)
                .await?
                .is_error(),
            // An answer, too, is the end of it.
            _ => stream.try_read(&mut answer).is_ok(),
        };
        if is_over {
            return Ok(());
        }
    }
}

/// Sends a form on a connection of its own, under a key as browsers do, and reads the answer to its end.
pub async fn post(from: Ipv4Addr, site: SocketAddr, form: &str, content: String) {
    let request = format!(
        "POST /api/{form} HTTP/1.1\r\nHost: {site}\r\nConnection: close\r\nIdempotency-Key: {}\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n{content}",
        Uuid::new_v4(),
        content.len()
    );
    let asking = async {
        let mut stream = connect(from, site).await?;
        stream.write_all(request.as_bytes()).await?;
        stream.read_to_end(&mut Vec::new()).await
    };
    // Answered, refused or neither: the next one is sent all the same.
    let _answered = timeout(ANSWER_TIMEOUT, asking).await;
}

async fn connect(from: Ipv4Addr, site: SocketAddr) -> io::Result<TcpStream> {
    let socket = TcpSocket::new_v4()?;
    socket.set_recv_buffer_size(RECEIVE_BUFFER_BYTES)?;
    socket.bind((from, 0).into())?;
    socket.connect(site).await
}
