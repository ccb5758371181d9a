//! HTTP/1.1 and HTTP/2 connections: accepted up to a limit, cut when they stand still, drained at the end.

mod activity;
mod connection;
mod limits;
pub mod open_files;
mod proxy_protocol;
mod stalled_answers;

use std::{net::SocketAddr, sync::Arc, time::Duration};

use anyhow::Context;
use axum::{Router, response::Response};
use http::Request;
use hyper::body::Incoming;
use ipnet::IpNet;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};
use tokio_util::task::TaskTracker;

use self::{
    connection::{AtOnce, Connections},
    proxy_protocol::client_of,
};
pub use self::{
    limits::{DEFAULT_MAX_CONNECTIONS, Deadlines, Limits},
    proxy_protocol::ProxyProtocolSettings,
};
use crate::{
    address_limit::{AddressLimit, AddressPermit},
    drain::Drain,
};

/// How long to wait when the system has no socket to give.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A listener that has its port but does not answer yet.
pub struct HttpServer {
    listener: TcpListener,
    connections: Arc<Semaphore>,
    entrance: Entrance,
    deadlines: Deadlines,
    at_once: AtOnce,
}

/// Finds whose a connection is, and whether there may be one more of its client's.
struct Entrance {
    /// How many each address may have open, where that is limited.
    per_address: Option<AddressLimit>,
    /// Those that tell of their clients by the PROXY protocol. Where there are some, nobody else is let in.
    proxies: Vec<IpNet>,
    header_deadline: Duration,
}

impl HttpServer {
    /// Takes the port. Port 0 takes any free one. `setting` is the one that the address comes from.
    ///
    /// # Errors
    ///
    /// If the address cannot be listened on.
    pub async fn bind(setting: &str, address: SocketAddr, limits: Limits) -> anyhow::Result<Self> {
        let listener = listen(setting, address).await?;
        open_files::allow(limits.connections);
        Ok(Self {
            listener,
            connections: Arc::new(Semaphore::new(limits.connections)),
            entrance: Entrance {
                per_address: limits.per_address.map(|limit| AddressLimit::new(limit.get())),
                proxies: Vec::new(),
                header_deadline: limits.deadlines.head,
            },
            deadlines: limits.deadlines,
            at_once: Box::new(|_| None),
        })
    }

    /// Answers a request by this, where it has an answer, before any route is looked for.
    #[must_use]
    pub fn answering_at_once(
        mut self,
        answer: impl Fn(&Request<Incoming>) -> Option<Response> + Send + Sync + 'static,
    ) -> Self {
        self.at_once = Box::new(answer);
        self
    }

    /// Takes the word of these proxies for whose their connections are, and connections of theirs only.
    #[must_use]
    pub fn behind(mut self, proxies: ProxyProtocolSettings) -> Self {
        self.entrance.proxies = proxies.networks;
        self
    }

    /// The port it listens on.
    pub fn port(&self) -> u16 {
        self.listener.local_addr().map_or(0, |address| address.port())
    }

    /// Answers until the drain begins, then finishes what is in flight. What one connection does wrong ends that connection
    /// alone. Each request finds the drain among its extensions ([`Drain::of`]).
    pub async fn run(self, router: Router, drain: Drain) {
        let serving = TaskTracker::new();
        let connections = Arc::new(Connections::new(
            self.at_once,
            router,
            drain.clone(),
            self.deadlines,
        ));
        let entrance = Arc::new(self.entrance);
        while let Some(accepted) = drain
            .stop()
            .run_until_cancelled(accept(&self.listener, &self.connections))
            .await
        {
            let (connections, entrance, drain) =
                (Arc::clone(&connections), Arc::clone(&entrance), drain.clone());
            serving.spawn(async move {
                let (mut stream, peer, _permit) = accepted;
                if let Some((client, _admitted)) = entrance.admit(&mut stream, peer, &drain).await {
                    connections.serve(stream, client).await;
                }
            });
        }
        drop(self.listener);
        serving.close();
        drain.within_grace(serving.wait()).await;
    }
}

/// Takes a port of the setting of this name.
///
/// # Errors
///
/// If the address cannot be listened on.
pub(crate) async fn listen(setting: &str, address: SocketAddr) -> anyhow::Result<TcpListener> {
    let listener = TcpListener::bind(address).await;
    listener.with_context(|| format!("The setting {setting} is wrong: {address} cannot be listened on"))
}

async fn accept(
    listener: &TcpListener,
    connections: &Arc<Semaphore>,
) -> (TcpStream, SocketAddr, OwnedSemaphorePermit) {
    loop {
        let permit = Arc::clone(connections).acquire_owned().await;
        match (listener.accept().await, permit) {
            (Ok((stream, peer)), Ok(permit)) => return (stream, peer, permit),
            (Err(error), _) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
            (_, Err(_)) => std::future::pending().await,
        }
    }
}

impl Entrance {
    /// The client of a connection, and what counts it until it is dropped, where they are counted; nothing where it is to be closed.
    async fn admit(
        &self,
        stream: &mut TcpStream,
        peer: SocketAddr,
        drain: &Drain,
    ) -> Option<(SocketAddr, Option<AddressPermit>)> {
        let client = if self.proxies.is_empty() {
            peer
        } else {
            let told = client_of(stream, peer, &self.proxies, self.header_deadline);
            let told = drain.stop().run_until_cancelled(told).await?;
            told.inspect_err(|error| tracing::debug!(%error, "a connection does not begin as a proxy's"))
                .ok()?
        };
        let Some(per_address) = &self.per_address else {
            return Some((client, None));
        };
        let permit = per_address.try_acquire(client.ip());
        if permit.is_none() {
            tracing::debug!("an address has its share of the connections");
        }
        Some((client, Some(permit?)))
    }
}
