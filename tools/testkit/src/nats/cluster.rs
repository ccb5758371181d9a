//! The broker of three servers, and what can happen to one of them.

use std::{path::Path, time::Duration};

use anyhow::Context;
use async_nats::{
    Client,
    jetstream::{self, stream},
};
use futures_util::TryStreamExt;
use tempfile::TempDir;
use tokio::time::timeout;

use super::{
    Nats, User,
    configuration::Configuration,
    routes::{CLUSTER_SIZE, Routes},
    server::Server,
};
use crate::{Fsync, TcpProxy, eventually, ports::free_ports};

/// How long a cluster may take to form or a server to catch up. A server that was cut off may have to wait for the next
/// snapshot of its leader, which comes every two minutes.
const CURRENT_TIMEOUT: Duration = Duration::from_secs(240);
/// Longer than a cluster needs for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

impl Nats {
    /// Starts a cluster of three on free ports, without streams, on a disk that is removed with it.
    pub async fn start_cluster() -> anyhow::Result<Self> {
        let folder = TempDir::new()?;
        let mut nats = Self::start_cluster_at(free_ports()?, folder.path()).await?;
        nats._temporary = Some(folder);
        Ok(nats)
    }

    /// Starts a cluster of three at these ports, without streams, with its files and logs in this folder. As in production,
    /// two servers write a message to disk before it is acknowledged.
    pub async fn start_cluster_at(ports: [u16; CLUSTER_SIZE], folder: &Path) -> anyhow::Result<Self> {
        let routes = Routes::open().await?;
        let monitors: [u16; CLUSTER_SIZE] = free_ports()?;
        let mut servers = Vec::new();
        for (number, (port, monitor)) in ports.into_iter().zip(monitors).enumerate() {
            let configuration = Configuration {
                port,
                monitor,
                fsync: Fsync::Always,
                certificate: None,
                cluster: Some((number, &routes)),
            };
            servers.push(Server::new(&format!("nats-{number}"), folder, &configuration)?);
        }
        let mut nats = Self::new(servers, Some(routes));
        nats.resume_from_disk().await?;
        Ok(nats)
    }

    /// Number of servers. They are counted from 0.
    pub fn servers(&self) -> usize {
        self.servers.len()
    }

    /// Stops a server with SIGTERM; its disk stays.
    pub async fn stop_server(&mut self, number: usize) -> anyhow::Result<()> {
        self.servers[number].stop().await
    }

    /// Kills a server, as a crash would.
    pub async fn kill_server(&mut self, number: usize) -> anyhow::Result<()> {
        self.servers[number].kill().await
    }

    /// Starts a server again, and waits until it takes connections. [`Self::wait_until_current`] waits for the rest.
    pub async fn start_server(&mut self, number: usize) -> anyhow::Result<()> {
        self.servers[number].start(&self.passwords)?;
        self.servers[number].listens().await
    }

    /// Freezes a server: connections stay open, nothing is answered.
    pub async fn freeze_server(&self, number: usize) -> anyhow::Result<()> {
        self.servers[number].freeze().await
    }

    /// Lets a server continue after [`Self::freeze_server`].
    pub fn thaw_server(&self, number: usize) -> anyhow::Result<()> {
        self.servers[number].thaw()
    }

    /// Empties the disk of a stopped server.
    pub fn wipe_server(&self, number: usize) -> anyhow::Result<()> {
        self.servers[number].wipe()
    }

    /// Cuts a server off from the others; clients still reach it.
    pub fn cut_off(&self, number: usize) -> anyhow::Result<()> {
        self.routes()?.of(number).for_each(TcpProxy::cut);
        Ok(())
    }

    /// Lets a server reach the others again after [`Self::cut_off`].
    pub fn reconnect(&self, number: usize) -> anyhow::Result<()> {
        self.routes()?.of(number).for_each(TcpProxy::restore);
        Ok(())
    }

    /// A connection of this user to this server and no other.
    pub async fn client_of(&self, number: usize, user: User) -> anyhow::Result<Client> {
        let options = self.login(user).ignore_discovered_servers();
        Ok(options.connect(self.servers[number].url()).await?)
    }

    /// Number of the server that leads a stream, once there is one.
    pub async fn leader_of(&self, stream: &str) -> anyhow::Result<usize> {
        let what = format!("a leader of {stream}");
        eventually(&what, CURRENT_TIMEOUT, async || {
            let context = jetstream::new(self.client(User::Operator).await.ok()?);
            let info = context.get_stream(stream).await.ok()?.cached_info().clone();
            self.number_of(&info.cluster?.leader?)
        })
        .await
    }

    /// The number of the server of this name.
    pub fn number_of(&self, name: &str) -> Option<usize> {
        self.servers.iter().position(|server| server.name == name)
    }

    /// Waits until every server has every message and consumer that the others have.
    pub async fn wait_until_current(&self) -> anyhow::Result<()> {
        self.wait_until_healthy("/healthz").await?;
        eventually("every replica is current", CURRENT_TIMEOUT, async || {
            self.is_current().await.ok()?.then_some(())
        })
        .await
    }

    /// Waits until the cluster answers whichever server is asked.
    pub(super) async fn wait_until_joined(&self) -> anyhow::Result<()> {
        self.wait_until_healthy("/healthz?js-server-only=true").await?;
        // A healthy server may not know yet that another one listens for this request.
        for number in 0..self.servers() {
            let context = jetstream::new(self.client_of(number, User::Operator).await?);
            let asked = async || timeout(ANSWER_TIMEOUT, context.query_account()).await.ok()?.ok();
            eventually("an answer of the cluster", CURRENT_TIMEOUT, asked).await?;
        }
        Ok(())
    }

    async fn wait_until_healthy(&self, path: &str) -> anyhow::Result<()> {
        for number in 0..self.servers() {
            self.wait_until_one_is_healthy(number, path).await?;
        }
        Ok(())
    }

    /// Waits until this path of a server's monitoring API is answered with a success.
    pub async fn wait_until_one_is_healthy(&self, number: usize, path: &str) -> anyhow::Result<()> {
        let url = format!("http://127.0.0.1:{}{path}", self.servers[number].monitor);
        eventually("the server is healthy", CURRENT_TIMEOUT, async || {
            let answer = reqwest::get(&url).await.ok()?;
            answer.status().is_success().then_some(())
        })
        .await
    }

    async fn is_current(&self) -> anyhow::Result<bool> {
        let context = jetstream::new(self.client(User::Operator).await?);
        let streams: Vec<stream::Info> = context.streams().try_collect().await?;
        Ok(streams.iter().all(|info| {
            info.cluster.as_ref().is_some_and(|cluster| {
                let replicas = cluster.replicas.iter();
                let current = replicas.filter(|peer| peer.current && !peer.offline).count();
                cluster.leader.is_some() && current + 1 == info.config.num_replicas
            })
        }))
    }

    fn routes(&self) -> anyhow::Result<&Routes> {
        self.routes.as_ref().context("this broker is no cluster")
    }
}
