//! gRPC health checks: a service is SERVING (ready) only while all dependencies are reachable.

use std::{
    future::Future,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use async_nats::{
    Client, jetstream,
    jetstream::stream::{ClusterInfo, PeerInfo},
};
use tokio::time::{Instant, sleep, timeout};
use tonic_health::{ServingStatus, server::HealthReporter};

use crate::{drain::CancellationToken, nats};

/// Service name for liveness probes. Liveness ignores dependencies, as a restart does not fix them.
pub const LIVE: &str = "live";

const PROBE_INTERVAL: Duration = Duration::from_secs(1);
const PROBE_TIMEOUT: Duration = Duration::from_secs(2);
/// Failed probes in a row before the client moves to another server of the cluster.
const PROBES_PER_SERVER: u32 = 2;
/// Replicas report to the leader every second. A leader without reports for this long cannot store messages.
const SILENT_AFTER: Duration = Duration::from_secs(2);

/// Dependency of a service.
pub struct Dependency {
    name: &'static str,
    probe: Box<dyn Fn() -> Probe + Send + Sync>,
}

type Probe = Pin<Box<dyn Future<Output = Result<(), String>> + Send>>;

impl Dependency {
    /// Dependency with a probe, whose error says what is wrong.
    pub fn new<F, P>(name: &'static str, probe: P) -> Self
    where
        F: Future<Output = Result<(), String>> + Send + 'static,
        P: Fn() -> F + Send + Sync + 'static,
    {
        Self {
            name,
            probe: Box::new(move || Box::pin(within_time(probe()))),
        }
    }

    /// JetStream stream, which needs a leader with a majority. If the server cannot confirm a leader, the
    /// client moves to another server of the cluster.
    pub fn stream(client: Client, stream: &str) -> Self {
        let (stream, failed) = (Arc::<str>::from(stream), Arc::<AtomicU32>::default());
        let probe = move || -> Probe {
            let (client, stream, failed) = (client.clone(), Arc::clone(&stream), Arc::clone(&failed));
            Box::pin(async move {
                let found = within_time(stores(&client, &stream)).await;
                keep_or_leave(&client, &failed, found.is_ok()).await;
                found
            })
        };
        Self {
            name: "nats",
            probe: Box::new(probe),
        }
    }

    /// KV bucket, like [`Self::stream`].
    pub fn bucket(client: Client, bucket: &str) -> Self {
        Self::stream(client, &format!("KV_{bucket}"))
    }
}

async fn within_time(probe: impl Future<Output = Result<(), String>>) -> Result<(), String> {
    let no_answer = |_| Err(format!("no answer within {} s", PROBE_TIMEOUT.as_secs()));
    timeout(PROBE_TIMEOUT, probe).await.unwrap_or_else(no_answer)
}

async fn stores(client: &Client, stream: &str) -> Result<(), String> {
    if !nats::is_connected(client) {
        return Err("not connected".to_owned());
    }
    let found = jetstream::new(client.clone()).get_stream(stream).await;
    let found = found.map_err(|error| format!("stream {stream}: {error}"))?;
    match &found.cached_info().cluster {
        Some(cluster) if is_leader_alone(cluster) => Err(format!(
            "stream {stream}: its leader has no majority of its replicas"
        )),
        _ => Ok(()),
    }
}

/// Moves the client to another server if probes fail. Pings do not detect a partitioned server.
async fn keep_or_leave(client: &Client, failed: &AtomicU32, is_well: bool) {
    let server = client.server_info();
    let may_leave = !is_well && server.cluster.is_some() && nats::is_connected(client);
    let in_a_row = if may_leave {
        1 + failed.load(Ordering::Relaxed)
    } else {
        0
    };
    failed.store(in_a_row % PROBES_PER_SERVER, Ordering::Relaxed);
    if in_a_row < PROBES_PER_SERVER {
        return;
    }
    tracing::warn!(server = server.server_name, "trying another server of NATS");
    if let Err(error) = client.force_reconnect().await {
        tracing::warn!(%error, "the connection to NATS cannot be moved");
    }
}

fn is_leader_alone(cluster: &ClusterInfo) -> bool {
    let is_heard = |replica: &&PeerInfo| !replica.offline && replica.active < SILENT_AFTER;
    let heard = 1 + cluster.replicas.iter().filter(is_heard).count();
    2 * heard <= 1 + cluster.replicas.len()
}

/// Health of a server's services. The empty name (for probes and the gateway) has the same health as
/// each service.
pub struct HealthStatus {
    reporter: HealthReporter,
    names: &'static [&'static str],
}

impl HealthStatus {
    /// Live but not serving yet.
    pub async fn new(reporter: HealthReporter, names: &'static [&'static str]) -> Self {
        reporter.set_service_status(LIVE, ServingStatus::Serving).await;
        let status = Self { reporter, names };
        status.set(ServingStatus::NotServing).await;
        status
    }

    async fn set(&self, status: ServingStatus) {
        for name in [""].iter().chain(self.names) {
            self.reporter.set_service_status(*name, status).await;
        }
    }
}

/// Probes every dependency once a second and reports the result, until `stop`.
pub async fn watch(health: HealthStatus, dependencies: Vec<Dependency>, stop: CancellationToken) {
    let mut missing = Some(String::new());
    loop {
        let started = Instant::now();
        let found = first_missing(&dependencies).await;
        if found != missing {
            match &found {
                None => tracing::info!("ready"),
                Some(reason) => tracing::warn!(%reason, "not ready"),
            }
            let status = if found.is_none() {
                ServingStatus::Serving
            } else {
                ServingStatus::NotServing
            };
            health.set(status).await;
            missing = found;
        }
        let pause = sleep(PROBE_INTERVAL.saturating_sub(started.elapsed()));
        if stop.run_until_cancelled(pause).await.is_none() {
            health.set(ServingStatus::NotServing).await;
            return;
        }
    }
}

async fn first_missing(dependencies: &[Dependency]) -> Option<String> {
    for dependency in dependencies {
        if let Err(reason) = (dependency.probe)().await {
            return Some(format!("{}: {reason}", dependency.name));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_leader_is_alone_without_a_majority() {
        let heard = PeerInfo::default();
        let offline = PeerInfo {
            offline: true,
            ..PeerInfo::default()
        };
        let silent = PeerInfo {
            active: SILENT_AFTER,
            ..PeerInfo::default()
        };
        let is_alone = |replicas: &[&PeerInfo]| {
            is_leader_alone(&ClusterInfo {
                replicas: replicas.iter().copied().cloned().collect(),
                ..ClusterInfo::default()
            })
        };
        assert!(!is_alone(&[]), "one broker is its own majority");
        assert!(!is_alone(&[&heard, &heard]));
        assert!(!is_alone(&[&heard, &silent]), "two of three");
        assert!(is_alone(&[&silent, &offline]));
        assert!(
            is_alone(&[&heard, &silent, &offline]),
            "two of four are no majority"
        );
    }
}
