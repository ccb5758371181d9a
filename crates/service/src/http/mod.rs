//! HTTP/1.1 and HTTP/2 connections: accepted up to a limit, cut when they are slow, drained at the end.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::Context;
use axum::{Router, extract::ConnectInfo};
use hyper::body::Incoming;
use hyper_util::{
    rt::{TokioExecutor, TokioIo, TokioTimer},
    server::{conn::auto, graceful::GracefulShutdown},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tower::{ServiceBuilder, ServiceExt};

use crate::drain::Drain;

/// How many connections may be open at the same time where no setting says otherwise.
pub const DEFAULT_MAX_CONNECTIONS: usize = 4096;
/// How long a client may take over its request line and headers.
const HEADER_READ_TIMEOUT: Duration = Duration::from_secs(10);
/// How often an HTTP/2 client is asked whether it is still there.
const KEEP_ALIVE_INTERVAL: Duration = Duration::from_secs(10);
/// The most one connection may make us buffer.
const BUFFER_BYTES: usize = 64 * 1024;
/// How long to wait when the system has no socket to give.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A listener that has its port but does not answer yet.
pub struct HttpServer {
    listener: TcpListener,
    connections: Arc<Semaphore>,
}

impl HttpServer {
    /// Takes the port. Port 0 takes any free one.
    ///
    /// # Errors
    ///
    /// If the address cannot be listened on.
    pub async fn bind(address: SocketAddr, max_connections: usize) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("The setting LISTEN is wrong: {address} cannot be listened on"))?;
        Ok(Self {
            listener,
            connections: Arc::new(Semaphore::new(max_connections)),
        })
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.listener.local_addr().map_or(0, |address| address.port())
    }

    /// Answers until the drain begins, then finishes what is in flight. What one connection does wrong ends that connection
    /// alone. Each request finds the drain among its extensions ([`Drain::of`]).
    pub async fn run(self, router: Router, drain: Drain) {
        let graceful = GracefulShutdown::new();
        let protocol = protocol();
        loop {
            let accepting = drain.stop().run_until_cancelled(self.accept());
            let Some((stream, peer, permit)) = accepting.await else {
                break;
            };
            let drain = drain.clone();
            let service = ServiceBuilder::new()
                .map_request(move |mut request: http::Request<Incoming>| {
                    request.extensions_mut().insert(ConnectInfo(peer));
                    request.extensions_mut().insert(drain.clone());
                    request
                })
                .service(router.clone().into_service::<Incoming>());
            let connection = protocol
                .serve_connection_with_upgrades(
                    TokioIo::new(stream),
                    TowerToHyperService::new(service.boxed_clone()),
                )
                .into_owned();
            let watched = graceful.watch(connection);
            tokio::spawn(async move {
                // A connection that its client broke is the client's matter.
                if let Err(error) = watched.await {
                    tracing::debug!(%error, "connection ended");
                }
                drop(permit);
            });
        }
        drop(self.listener);
        drain.within_grace(graceful.shutdown()).await;
    }

    async fn accept(&self) -> (TcpStream, SocketAddr, OwnedSemaphorePermit) {
        loop {
            let permit = Arc::clone(&self.connections).acquire_owned().await;
            let accepted = self.listener.accept().await;
            match (accepted, permit) {
                (Ok((stream, peer)), Ok(permit)) => {
                    // Answers are small and whole: waiting to fill a packet only delays them.
                    if let Err(error) = stream.set_nodelay(true) {
                        tracing::debug!(%error, "nodelay was refused");
                    }
                    return (stream, peer, permit);
                }
                (Err(error), _) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
                (_, Err(_)) => std::future::pending().await,
            }
        }
    }
}

fn protocol() -> auto::Builder<TokioExecutor> {
    let mut protocol = auto::Builder::new(TokioExecutor::new());
    protocol
        .http1()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_READ_TIMEOUT)
        .max_buf_size(BUFFER_BYTES);
    protocol
        .http2()
        .timer(TokioTimer::new())
        .keep_alive_interval(KEEP_ALIVE_INTERVAL)
        .initial_stream_window_size(u32::try_from(BUFFER_BYTES).unwrap_or(u32::MAX));
    protocol
}
