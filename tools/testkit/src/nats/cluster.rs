//! Cluster of three servers, and its network faults.

use std::time::Duration;

use anyhow::Context;
use async_nats::{
    Client,
    jetstream::{self, stream},
};
use futures_util::TryStreamExt;
use tokio::time::timeout;

use super::{Nats, User, routes::Routes};
use crate::{TcpProxy, eventually};

/// A server that was cut off may need its leader's next snapshot, which comes every two minutes.
const CURRENT_TIMEOUT: Duration = Duration::from_secs(240);
const ANSWER_TIMEOUT: Duration = Duration::from_secs(1);

impl Nats {
    /// Cuts a server off from the others. Clients still reach it.
    pub fn cut_off(&self, number: usize) -> anyhow::Result<()> {
        self.routes()?.of(number).for_each(TcpProxy::cut);
        Ok(())
    }

    /// Reverts [`Self::cut_off`].
    pub fn reconnect(&self, number: usize) -> anyhow::Result<()> {
        self.routes()?.of(number).for_each(TcpProxy::restore);
        Ok(())
    }

    fn routes(&self) -> anyhow::Result<&Routes> {
        self.routes.as_ref().context("this broker is no cluster")
    }

    /// Client connected to this server only.
    pub async fn client_of(&self, number: usize, user: User) -> anyhow::Result<Client> {
        let options = self.login(user)?.ignore_discovered_servers();
        Ok(options.connect(self.servers[number].url()).await?)
    }

    /// Leader of a stream, once there is one.
    pub async fn leader_of(&self, stream: &str) -> anyhow::Result<usize> {
        let what = format!("a leader of {stream}");
        eventually(&what, CURRENT_TIMEOUT, async || {
            let stream = self.jetstream().await.ok()?.get_stream(stream).await.ok()?;
            let leader = stream.cached_info().cluster.as_ref()?.leader.as_ref()?;
            self.servers.iter().position(|server| server.name == *leader)
        })
        .await
    }

    /// Waits until all replicas are current.
    pub async fn wait_until_current(&self) -> anyhow::Result<()> {
        for number in 0..self.servers.len() {
            self.wait_until_healthy(number, "/healthz").await?;
        }
        eventually("every replica is current", CURRENT_TIMEOUT, async || {
            self.is_current().await.ok()?.then_some(())
        })
        .await
    }

    pub(super) async fn wait_until_joined(&self) -> anyhow::Result<()> {
        for number in 0..self.servers.len() {
            self.wait_until_healthy(number, "/healthz?js-server-only=true")
                .await?;
        }
        // A healthy server may not yet know the peer that answers JetStream requests.
        for number in 0..self.servers.len() {
            let context = jetstream::new(self.client_of(number, User::Operator).await?);
            let asked = async || timeout(ANSWER_TIMEOUT, context.query_account()).await.ok()?.ok();
            eventually("an answer of the cluster", CURRENT_TIMEOUT, asked).await?;
        }
        Ok(())
    }

    /// Waits until this path of the monitoring API succeeds.
    async fn wait_until_healthy(&self, number: usize, path: &str) -> anyhow::Result<()> {
        eventually("the server is healthy", CURRENT_TIMEOUT, async || {
            self.servers[number].monitored(path).await.ok().map(drop)
        })
        .await
    }

    async fn is_current(&self) -> anyhow::Result<bool> {
        let streams: Vec<stream::Info> = self.jetstream().await?.streams().try_collect().await?;
        Ok(streams.iter().all(|info| {
            info.cluster.as_ref().is_some_and(|cluster| {
                let replicas = cluster.replicas.iter();
                let current = replicas.filter(|peer| peer.current && !peer.offline).count();
                cluster.leader.is_some() && current + 1 == info.config.num_replicas
            })
        }))
    }
}
