//! HTTP server with a short idle timeout, and clients on a bare TCP connection.

use std::{
    iter::repeat_n,
    net::{Ipv4Addr, SocketAddr},
    time::{Duration, Instant},
};

use axum::{Router, body::Body, routing::get};
use bytes::Bytes;
use futures_util::stream;
use site_service::{
    drain::{CancellationToken, Drain},
    http::HttpServer,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::TcpStream,
    time::timeout,
};
use tokio_util::sync::DropGuard;

pub const SILENCE: Duration = Duration::from_millis(500);
pub const SOON: Duration = Duration::from_secs(20);
/// The answer at `/large` exceeds all buffers.
const LARGE_CHUNKS: usize = 128;
const CHUNK_BYTES: usize = 64 * 1024;

pub struct Server {
    pub address: SocketAddr,
    pub running: DropGuard,
}

impl Server {
    pub async fn start() -> anyhow::Result<Self> {
        let server = HttpServer::bind("LISTEN", (Ipv4Addr::LOCALHOST, 0).into()).await?;
        let server = server.ending_after(SILENCE);
        let address = (Ipv4Addr::LOCALHOST, server.port()).into();
        let router = Router::new()
            .route("/", get(|| async { "hello" }))
            .route("/large", get(large));
        let stop = CancellationToken::new();
        tokio::spawn(server.run(router, Drain::new(stop.clone(), SOON)));
        Ok(Self {
            address,
            running: stop.drop_guard(),
        })
    }

    pub async fn say(&self, words: &[u8]) -> anyhow::Result<TcpStream> {
        let mut stream = TcpStream::connect(self.address).await?;
        stream.write_all(words).await?;
        Ok(stream)
    }
}

async fn large() -> Body {
    let chunk = Bytes::from(vec![b'x'; CHUNK_BYTES]);
    let chunks = repeat_n(chunk, LARGE_CHUNKS);
    Body::from_stream(stream::iter(chunks.map(Ok::<_, std::io::Error>)))
}

pub async fn read_to_end(stream: &mut TcpStream) -> anyhow::Result<(Vec<u8>, Duration)> {
    let started = Instant::now();
    let mut read = Vec::new();
    // A reset also ends the connection.
    let _ended = timeout(SOON, stream.read_to_end(&mut read)).await?;
    Ok((read, started.elapsed()))
}
