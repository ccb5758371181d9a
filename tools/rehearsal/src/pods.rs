//! Starts, probes and ends pods as a kubelet does.

use std::{net::Ipv4Addr, sync::Arc, time::Duration};

use anyhow::Context as _;
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::task::AbortOnDropHandle;
use tonic::transport::Endpoint;
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use crate::{
    cluster::Cluster,
    container::Container,
    manifests::{Pod, text},
};

const START: Duration = Duration::from_secs(120);
const TICK: Duration = Duration::from_millis(200);

pub struct RunningPod {
    name: String,
    cluster: Arc<Cluster>,
    container: Container,
    probing: AbortOnDropHandle<anyhow::Result<()>>,
}

impl RunningPod {
    pub fn start(cluster: &Arc<Cluster>, pod: Pod) -> anyhow::Result<Self> {
        let address = cluster.network().join(&pod)?;
        Ok(Self {
            name: pod.name.clone(),
            cluster: cluster.clone(),
            container: Container::start(cluster, &pod)?,
            probing: AbortOnDropHandle::new(tokio::spawn(keep_probing(cluster.clone(), pod, address))),
        })
    }

    /// # Errors
    ///
    /// If the process exited, its liveness probe failed, or the pod is late.
    pub async fn ready(&mut self) -> anyhow::Result<()> {
        let begun = Instant::now();
        loop {
            self.alive().await?;
            if self.cluster.network().is_ready(&self.name) {
                return Ok(());
            }
            anyhow::ensure!(begun.elapsed() < START, "{} is not ready in time", self.name);
            sleep(TICK).await;
        }
    }

    async fn alive(&mut self) -> anyhow::Result<()> {
        anyhow::ensure!(
            !self.container.has_ended()?,
            "the process of {} exited",
            self.name
        );
        if self.probing.is_finished() {
            return (&mut self.probing).await?.context(self.name.clone());
        }
        Ok(())
    }

    /// Ends the pod within its grace period.
    ///
    /// # Errors
    ///
    /// If the pod failed before, or exceeds its grace period.
    pub async fn delete(mut self) -> anyhow::Result<()> {
        self.alive().await?;
        self.probing.abort();
        // A probe in progress could make the pod ready again.
        _ = (&mut self.probing).await;
        self.cluster.network().set_ready(&self.name, false)?;
        self.container.terminate().await?;
        self.cluster.network().leave(&self.name)
    }

    /// Kills the pod, as the loss of its node does.
    pub fn lose(self) -> anyhow::Result<()> {
        drop(self.container);
        self.cluster.network().leave(&self.name)
    }
}

/// Runs readiness and liveness probes until liveness fails.
async fn keep_probing(cluster: Arc<Cluster>, pod: Pod, address: Ipv4Addr) -> anyhow::Result<()> {
    let spec = pod.container();
    let probe = |name: &str| Probe {
        spec: &spec[name],
        pod: &pod,
        address,
    };
    let set_ready = |result: anyhow::Result<()>| cluster.network().set_ready(&pod.name, result.is_ok());
    let [readiness, liveness] = ["readinessProbe", "livenessProbe"].map(probe);
    tokio::try_join!(readiness.repeat(set_ready), liveness.repeat(|result| result)).map(drop)
}

struct Probe<'a> {
    spec: &'a Value,
    pod: &'a Pod,
    address: Ipv4Addr,
}

impl Probe<'_> {
    fn number(&self, name: &str, default: u64) -> u64 {
        self.spec[name].as_u64().unwrap_or(default)
    }

    /// Reports each success to `pass_on`, and failures once `failureThreshold` of them came in a row.
    async fn repeat(&self, pass_on: impl Fn(anyhow::Result<()>) -> anyhow::Result<()>) -> anyhow::Result<()> {
        let limit = Duration::from_secs(self.number("timeoutSeconds", 1));
        let mut failed = 0;
        loop {
            sleep(Duration::from_secs(self.number("periodSeconds", 10))).await;
            let result = timeout(limit, self.ask()).await;
            let result = result.context("the probe timed out").flatten();
            failed = if result.is_ok() { 0 } else { failed + 1 };
            if result.is_ok() || failed >= self.number("failureThreshold", 3) {
                pass_on(result.with_context(|| self.spec.to_string()))?;
            }
        }
    }

    async fn ask(&self) -> anyhow::Result<()> {
        let (http, grpc) = (&self.spec["httpGet"], &self.spec["grpc"]);
        let probe = if http.is_null() { grpc } else { http };
        let port = self.pod.port(&probe["port"]).context("no port")?;
        let server = format!("http://{}:{port}", self.address);
        if !http.is_null() {
            let answer = reqwest::get(server + text(&http["path"])).await?;
            answer.error_for_status()?;
            return Ok(());
        }
        let channel = Endpoint::new(server)?.connect().await?;
        let service = text(&grpc["service"]).to_owned();
        let answer = HealthClient::new(channel)
            .check(HealthCheckRequest { service })
            .await?;
        let status = answer.into_inner().status();
        anyhow::ensure!(status == ServingStatus::Serving, "it says {status:?}");
        Ok(())
    }
}
