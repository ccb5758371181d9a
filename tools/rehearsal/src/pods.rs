//! Starts, probes and ends pods as a kubelet does.

use std::{net::Ipv4Addr, sync::Arc, time::Duration};

use anyhow::Context as _;
use serde_json::Value;
use tokio::{
    sync::oneshot,
    task::JoinHandle,
    time::{Instant, sleep, timeout},
};
use tonic::transport::Endpoint;
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use crate::{
    cluster::Cluster,
    container::Container,
    manifests::{Pod, list, text},
};

const START: Duration = Duration::from_secs(120);
const TICK: Duration = Duration::from_millis(200);

#[derive(Clone, Copy)]
pub enum Ending {
    /// Ends the pod with a grace period.
    Delete,
    /// Kills the pod, as the loss of its node does.
    Lose,
}

pub struct RunningPod {
    name: String,
    cluster: Arc<Cluster>,
    ending: oneshot::Sender<Ending>,
    life: JoinHandle<anyhow::Result<()>>,
}

impl RunningPod {
    pub fn start(cluster: &Arc<Cluster>, pod: Pod) -> Self {
        let (ending, ended) = oneshot::channel();
        Self {
            name: pod.name.clone(),
            cluster: cluster.clone(),
            ending,
            life: tokio::spawn(live(cluster.clone(), pod, ended)),
        }
    }

    /// # Errors
    ///
    /// If the pod fails, or is late.
    pub async fn ready_for(&mut self, at_least: Duration) -> anyhow::Result<()> {
        let begun = Instant::now();
        while !self.life.is_finished() {
            let since = self.cluster.network().ready_since(&self.name);
            if since.is_some_and(|since| since.elapsed() >= at_least) {
                return Ok(());
            }
            anyhow::ensure!(
                begun.elapsed() < START + at_least,
                "{} is not ready in time",
                self.name
            );
            sleep(TICK).await;
        }
        (&mut self.life).await?
    }

    /// # Errors
    ///
    /// If the pod failed before, or exceeds its grace period.
    pub async fn end(self, how: Ending) -> anyhow::Result<()> {
        // The receiver of a failed pod is dropped.
        _ = self.ending.send(how);
        self.life.await?
    }
}

async fn live(cluster: Arc<Cluster>, pod: Pod, ended: oneshot::Receiver<Ending>) -> anyhow::Result<()> {
    let name = &pod.name;
    let address = cluster.network().join(&pod)?;
    let set_ready = |is_ready| cluster.network().set_ready(name, is_ready);
    let mut container = Container::start(&cluster.node, &cluster.manifests, &pod)?;
    let ending = tokio::select! {
        ending = ended => ending?,
        failed = keep_probing(&mut container, address, set_ready) => return failed.context(name.clone()),
    };
    set_ready(false)?;
    match ending {
        Ending::Delete => container.terminate().await?,
        Ending::Lose => drop(container),
    }
    cluster.network().leave(name)
}

async fn keep_probing(
    container: &mut Container,
    address: Ipv4Addr,
    set_ready: impl Fn(bool) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let spec = container.pod.container().clone();
    let [mut startup, mut readiness, mut liveness] =
        ["startupProbe", "readinessProbe", "livenessProbe"].map(|probe| Probe::new(&spec[probe]));
    let mut is_started = false;
    loop {
        anyhow::ensure!(!container.has_ended()?, "its process exited");
        if is_started {
            if let Some(result) = readiness.run(container, address).await {
                set_ready(result.is_ok())?;
            }
            liveness.run(container, address).await.transpose()?;
        } else {
            is_started = startup.run(container, address).await.transpose()?.is_some();
        }
        sleep(TICK).await;
    }
}

struct Probe<'a> {
    spec: &'a Value,
    due: Instant,
    failed: u64,
}

impl<'a> Probe<'a> {
    fn new(spec: &'a Value) -> Self {
        Self {
            spec,
            due: Instant::now(),
            failed: 0,
        }
    }

    fn number(&self, name: &str, default: u64) -> u64 {
        self.spec[name].as_u64().unwrap_or(default)
    }

    /// Result of a probe. `None` while it is not due, or below its failure threshold.
    async fn run(&mut self, container: &Container, address: Ipv4Addr) -> Option<anyhow::Result<()>> {
        if Instant::now() < self.due {
            return None;
        }
        self.due = Instant::now() + Duration::from_secs(self.number("periodSeconds", 10));
        let limit = Duration::from_secs(self.number("timeoutSeconds", 1));
        let result = timeout(limit, self.probe(container, address)).await;
        let result = result.context("the probe timed out").flatten();
        self.failed = if result.is_ok() { 0 } else { self.failed + 1 };
        let is_decided = result.is_ok() || self.failed >= self.number("failureThreshold", 3);
        is_decided.then(|| result.with_context(|| self.spec.to_string()))
    }

    async fn probe(&self, container: &Container, address: Ipv4Addr) -> anyhow::Result<()> {
        let port = |probe: &Value| container.pod.port(&probe["port"]).context("no port");
        let (http, grpc, exec) = (&self.spec["httpGet"], &self.spec["grpc"], &self.spec["exec"]);
        if !http.is_null() {
            let url = format!("http://{address}:{}{}", port(http)?, text(&http["path"]));
            reqwest::get(url).await?.error_for_status()?;
        } else if !grpc.is_null() {
            let channel = Endpoint::new(format!("http://{address}:{}", port(grpc)?))?
                .connect()
                .await?;
            let service = text(&grpc["service"]).to_owned();
            let answer = HealthClient::new(channel)
                .check(HealthCheckRequest { service })
                .await?;
            let status = answer.into_inner().status();
            anyhow::ensure!(status == ServingStatus::Serving, "it says {status:?}");
        } else {
            let command: Vec<&str> = list(&exec["command"]).map(text).collect();
            container.exec(&command).await?;
        }
        Ok(())
    }
}
