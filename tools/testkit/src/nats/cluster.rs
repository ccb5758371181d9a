//! The broker of three, configured as production's: what can befall one of its servers.

use std::{path::Path, time::Duration};

use anyhow::Context;
use async_nats::{
    Client,
    jetstream::{
        self,
        stream::{self, PeerInfo},
    },
};
use futures_util::TryStreamExt;
use tempfile::TempDir;
use tokio::time::{Instant, timeout};

use super::{
    Nats, User,
    configuration::{self, Listens},
    routes::{CLUSTER_SIZE, Routes},
    server::Server,
};
use crate::{eventually, ports::free_ports};

/// How long a cluster may take to find itself, or a server to catch up, on a machine that does other things, too. One that
/// was cut off may have to wait for its leader's next snapshot, which it takes every two minutes.
const CURRENT_TIMEOUT: Duration = Duration::from_secs(240);
/// Longer than a cluster needs for an answer.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

impl Nats {
    /// Starts a cluster of three on free ports, without streams, on disks that go away with it.
    pub async fn start_cluster() -> anyhow::Result<Self> {
        let folder = TempDir::new()?;
        let mut nats = Self::start_cluster_at(free_ports()?, folder.path()).await?;
        nats._temporary = Some(folder);
        Ok(nats)
    }

    /// Starts a cluster of three at these ports, without streams, with their files and logs in this folder: by production's
    /// configuration, every write on the disks of two before it is acknowledged.
    pub async fn start_cluster_at(ports: [u16; CLUSTER_SIZE], folder: &Path) -> anyhow::Result<Self> {
        let routes = Routes::open().await?;
        let monitors: [u16; CLUSTER_SIZE] = free_ports()?;
        let mut servers = Vec::new();
        for (number, (clients, monitor)) in ports.into_iter().zip(monitors).enumerate() {
            let name = format!("nats-{number}");
            let mut server = Server::new(&name, clients, monitor, &folder.join(&name));
            server.env = routes.env_of(number);
            configuration::write_clustered(&server.folder, number, Listens { clients, monitor }, &routes)?;
            servers.push(server);
        }
        let mut nats = Self::new(servers, Some(routes));
        nats.resume_from_disk().await?;
        Ok(nats)
    }

    /// How many servers there are; they are numbered from 0.
    pub fn servers(&self) -> usize {
        self.servers.len()
    }

    /// Stops a server with SIGTERM; its disk stays.
    pub async fn stop_server(&mut self, number: usize) -> anyhow::Result<()> {
        self.server_mut(number)?.stop().await
    }

    /// Ends a server at once, as a crash would.
    pub async fn kill_server(&mut self, number: usize) -> anyhow::Result<()> {
        self.server_mut(number)?.kill().await
    }

    /// Starts a server again, and waits until it takes connections: [`Self::wait_until_current`] waits for the rest.
    pub async fn start_server(&mut self, number: usize) -> anyhow::Result<()> {
        let server = self.servers.get_mut(number).context("no such server")?;
        server.start(&self.passwords)?;
        server.answers().await
    }

    /// Freezes a server: connections stand, nothing is answered.
    pub async fn freeze_server(&self, number: usize) -> anyhow::Result<()> {
        self.server(number)?.freeze().await
    }

    /// Lets a server go on after [`Self::freeze_server`].
    pub fn thaw_server(&self, number: usize) -> anyhow::Result<()> {
        self.server(number)?.thaw()
    }

    /// Empties the disk of a server that is stopped: when it starts, it has to get everything from the others.
    pub fn wipe_server(&self, number: usize) -> anyhow::Result<()> {
        self.server(number)?.wipe()
    }

    /// Cuts a server off from the others; clients still reach it.
    pub fn cut_off(&self, number: usize) -> anyhow::Result<()> {
        self.routes()?.cut(number);
        Ok(())
    }

    /// Lets a server reach the others again after [`Self::cut_off`].
    pub fn reconnect(&self, number: usize) -> anyhow::Result<()> {
        self.routes()?.restore(number);
        Ok(())
    }

    /// A connection of this user's to this server and no other.
    pub async fn client_of(&self, number: usize, user: User) -> anyhow::Result<Client> {
        let options = self.login(user).ignore_discovered_servers();
        Ok(options.connect(self.server(number)?.url()).await?)
    }

    /// The server that leads a stream, once there is one.
    pub async fn leader_of(&self, stream: &str) -> anyhow::Result<usize> {
        eventually(&format!("a leader of {stream}"), CURRENT_TIMEOUT, async || {
            let info = self.stream_info(stream).await.ok()?;
            self.number_of(&info.cluster?.leader?)
        })
        .await
    }

    /// The moment from which on another server leads a stream than this one, as those others say.
    pub async fn another_leads(&self, stream: &str, former: usize) -> anyhow::Result<Instant> {
        let other = (former + 1) % self.servers();
        let context = jetstream::new(self.client_of(other, User::Operator).await?);
        eventually("another leader", CURRENT_TIMEOUT, async || {
            let asked = timeout(ANSWER_TIMEOUT, context.get_stream(stream));
            let leader = asked.await.ok()?.ok()?.cached_info().cluster.clone()?.leader?;
            (self.number_of(&leader)? != former).then(Instant::now)
        })
        .await
    }

    /// Waits until every server has all that the others have: every stream, its consumers and the cluster's own records.
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
        // A server that is healthy may still not know that another one listens for what it is asked.
        for number in 0..self.servers() {
            let context = jetstream::new(self.client_of(number, User::Operator).await?);
            let asked = async || timeout(ANSWER_TIMEOUT, context.query_account()).await.ok()?.ok();
            eventually("an answer of the cluster", CURRENT_TIMEOUT, asked).await?;
        }
        Ok(())
    }

    /// Waits until each server of a cluster answers this path of its monitor with a success.
    async fn wait_until_healthy(&self, path: &str) -> anyhow::Result<()> {
        for number in 0..self.servers() {
            self.wait_until_one_is_healthy(number, path).await?;
        }
        Ok(())
    }

    /// Waits until this server answers this path of its monitor with a success, as a probe does.
    pub async fn wait_until_one_is_healthy(&self, number: usize, path: &str) -> anyhow::Result<()> {
        let what = format!("a success of server {number} for {path}");
        eventually(&what, CURRENT_TIMEOUT, async || {
            self.is_healthy(number, path).await.ok()?.then_some(())
        })
        .await
    }

    /// Whether this server answers this path of its monitor with a success.
    pub async fn is_healthy(&self, number: usize, path: &str) -> anyhow::Result<bool> {
        let port = self.server(number)?.monitor;
        let answer = reqwest::get(format!("http://127.0.0.1:{port}{path}")).await?;
        Ok(answer.status().is_success())
    }

    async fn is_current(&self) -> anyhow::Result<bool> {
        let context = jetstream::new(self.client(User::Operator).await?);
        let streams: Vec<stream::Info> = context.streams().try_collect().await?;
        Ok(streams.iter().all(|info| {
            let cluster = info.cluster.as_ref();
            cluster.is_some_and(|cluster| {
                let replicas = &cluster.replicas;
                let current = replicas.iter().filter(|peer| peer.current && !peer.offline);
                cluster.leader.is_some() && current.count() + 1 == info.config.num_replicas
            })
        }))
    }

    async fn stream_info(&self, stream: &str) -> anyhow::Result<stream::Info> {
        let context = jetstream::new(self.client(User::Operator).await?);
        Ok(context.get_stream(stream).await?.cached_info().clone())
    }

    /// Whether this server has all that a stream's leader has, as its leader knows.
    pub async fn has_all_of(&self, stream: &str, number: usize) -> anyhow::Result<bool> {
        let cluster = self
            .stream_info(stream)
            .await?
            .cluster
            .context("a stream of a cluster")?;
        let name = &self.server(number)?.name;
        let is_current = |peer: &PeerInfo| peer.name == *name && peer.current && peer.lag.unwrap_or(0) == 0;
        Ok(cluster.leader.as_ref() == Some(name) || cluster.replicas.iter().any(is_current))
    }

    /// The number of the server of this name.
    pub fn number_of(&self, name: &str) -> Option<usize> {
        self.servers.iter().position(|server| server.name == name)
    }

    pub(super) fn routes(&self) -> anyhow::Result<&Routes> {
        self.routes.as_ref().context("this broker is no cluster")
    }

    fn server(&self, number: usize) -> anyhow::Result<&Server> {
        self.servers.get(number).context("no such server")
    }

    fn server_mut(&mut self, number: usize) -> anyhow::Result<&mut Server> {
        self.servers.get_mut(number).context("no such server")
    }
}
