//! HTTP/1.1 and HTTP/2 connections: accepted up to a limit, cut when they stand still, drained at the end.

mod activity;
mod addresses;
mod connection;
mod limits;
pub mod open_files;
mod stalled_answers;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::Context;
use axum::Router;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_util::task::TaskTracker;

pub use self::limits::{DEFAULT_MAX_CONNECTIONS, Deadlines, Limits};
use self::{
    addresses::{Addresses, Admitted},
    connection::Connections,
};
use crate::drain::Drain;

/// How long to wait when the system has no socket to give.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A listener that has its port but does not answer yet.
pub struct HttpServer {
    listener: TcpListener,
    connections: Arc<Semaphore>,
    addresses: Addresses,
    deadlines: Deadlines,
}

/// A connection that counts, until this is dropped.
struct Counted {
    peer: SocketAddr,
    _permit: OwnedSemaphorePermit,
    _admitted: Admitted,
}

impl HttpServer {
    /// Takes the port. Port 0 takes any free one. `setting` is the one that the address comes from.
    ///
    /// # Errors
    ///
    /// If the address cannot be listened on.
    pub async fn bind(setting: &str, address: SocketAddr, limits: Limits) -> anyhow::Result<Self> {
        let listener = TcpListener::bind(address).await;
        let listener = listener
            .with_context(|| format!("The setting {setting} is wrong: {address} cannot be listened on"))?;
        open_files::allow(limits.connections);
        Ok(Self {
            listener,
            connections: Arc::new(Semaphore::new(limits.connections)),
            addresses: Addresses::new(limits.per_address),
            deadlines: limits.deadlines,
        })
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.listener.local_addr().map_or(0, |address| address.port())
    }

    /// Answers until the drain begins, then finishes what is in flight. What one connection does wrong ends that connection
    /// alone. Each request finds the drain among its extensions ([`Drain::of`]).
    pub async fn run(self, router: Router, drain: Drain) {
        let serving = TaskTracker::new();
        let connections = Arc::new(Connections::new(router, drain.clone(), self.deadlines));
        while let Some(accepted) = drain.stop().run_until_cancelled(self.accept()).await {
            let connections = Arc::clone(&connections);
            serving.spawn(async move {
                let (stream, counted) = accepted;
                connections.serve(stream, counted.peer).await;
            });
        }
        drop(self.listener);
        serving.close();
        drain.within_grace(serving.wait()).await;
    }

    async fn accept(&self) -> (TcpStream, Counted) {
        loop {
            let permit = Arc::clone(&self.connections).acquire_owned().await;
            match (self.listener.accept().await, permit) {
                (Ok((stream, peer)), Ok(permit)) => {
                    if let Some(admitted) = self.addresses.admit(peer.ip()) {
                        let counted = Counted {
                            peer,
                            _permit: permit,
                            _admitted: admitted,
                        };
                        return (stream, counted);
                    }
                    tracing::debug!("an address has its share of the connections");
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
