//! An HTTP server whose connections may stand still for a moment only.

use std::{
    iter::repeat_n,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use axum::{Router, body::Body, extract::ConnectInfo, routing::get};
use bytes::Bytes;
use futures_util::stream;
use site_service::{
    drain::{CancellationToken, Drain},
    http::{Deadlines, HttpServer, Limits, ProxyProtocolSettings},
};
use tokio_util::sync::DropGuard;

pub const DEADLINES: Deadlines = Deadlines {
    head: Duration::from_millis(500),
    idle: Duration::from_millis(1000),
    write: Duration::from_millis(1000),
    closing: Duration::from_millis(500),
};
/// Longer than anything may take here on a busy machine.
pub const SOON: Duration = Duration::from_secs(20);
/// The size of the answer at `/large`: more than all buffers hold.
pub const LARGE_BYTES: usize = CHUNK_BYTES * 128;
const CHUNK_BYTES: usize = 64 * 1024;

pub struct Server {
    pub address: SocketAddr,
    _running: DropGuard,
}

impl Server {
    pub async fn start(limits: Limits) -> anyhow::Result<Self> {
        Self::start_behind(ProxyProtocolSettings::default(), limits).await
    }

    /// One that takes the word of these for whose their connections are.
    pub async fn start_behind(proxies: ProxyProtocolSettings, limits: Limits) -> anyhow::Result<Self> {
        let server = HttpServer::bind("LISTEN", (Ipv4Addr::LOCALHOST, 0).into(), limits).await?;
        let server = server.behind(proxies);
        let address = (Ipv4Addr::LOCALHOST, server.port()).into();
        let router = Router::new()
            .route("/", get(|| async { "hello" }))
            .route("/client", get(client))
            .route("/large", get(large));
        let stop = CancellationToken::new();
        tokio::spawn(server.run(router, Drain::new(stop.clone(), SOON)));
        Ok(Self {
            address,
            _running: stop.drop_guard(),
        })
    }

    /// One whose connections may stand still for [`DEADLINES`].
    pub async fn impatient() -> anyhow::Result<Self> {
        Self::start(Limits {
            deadlines: DEADLINES,
            ..Limits::default()
        })
        .await
    }
}

async fn client(ConnectInfo(client): ConnectInfo<SocketAddr>) -> String {
    client.to_string()
}

async fn large() -> Body {
    let chunk = Bytes::from(vec![b'x'; CHUNK_BYTES]);
    let chunks = repeat_n(chunk, LARGE_BYTES / CHUNK_BYTES);
    Body::from_stream(stream::iter(chunks.map(Ok::<_, std::io::Error>)))
}
