//! A kubelet for one pod: starts its container, probes it, starts it again when it ends, tells the network whether it is ready, and
//! ends it when it is deleted.

use std::{
    collections::BTreeSet,
    net::Ipv4Addr,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use k8s_openapi::api::{
    batch::v1::Job,
    core::v1::{Pod, Probe},
};
use tokio::{
    sync::watch,
    task::JoinHandle,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use crate::{
    flows::Flow,
    manifests::{Manifests, name_of},
    network::Network,
    pods::{Node, RunningPod},
    probes::{failures, period, probe},
};

/// How often it looks after its pod.
const TICK: Duration = Duration::from_millis(200);
/// The pause before a container that ended is started for the second time, and twice as long each further time.
const BACK_OFF: Duration = Duration::from_secs(10);

/// What all pods share.
pub struct Shared {
    pub node: Node,
    pub manifests: Manifests,
    /// The job that brings a backup back.
    pub restore: Job,
    /// What is written down about who may call whom.
    pub flows: BTreeSet<Flow>,
    pub network: Mutex<Network>,
}

impl Shared {
    /// The network, for one change.
    pub fn network(&self) -> std::sync::MutexGuard<'_, Network> {
        self.network.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// How a pod ended that was deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself, within its grace.
    InTime,
    /// It had to be killed after its grace.
    Killed,
    /// With its node.
    Lost,
}

/// A pod that a kubelet looks after.
pub struct PodHandle {
    name: String,
    state: watch::Receiver<PodState>,
    delete: CancellationToken,
    lose: CancellationToken,
    kubelet: JoinHandle<anyhow::Result<Ended>>,
}

/// How a pod fares.
#[derive(Debug, Clone, Copy, Default)]
pub struct PodState {
    /// Since when it is ready, if it is.
    pub ready_since: Option<Instant>,
    /// How often its container was started again.
    pub restarts: u32,
}

impl PodHandle {
    /// Starts a pod.
    pub fn start(shared: &Arc<Shared>, pod: Pod) -> Self {
        let (state, seen) = watch::channel(PodState::default());
        let (delete, lose) = (CancellationToken::new(), CancellationToken::new());
        let kubelet = Kubelet {
            shared: shared.clone(),
            pod: pod.clone(),
            state,
            delete: delete.clone(),
            lose: lose.clone(),
        };
        Self {
            name: name_of(&pod.metadata).to_owned(),
            state: seen,
            delete,
            lose,
            kubelet: tokio::spawn(kubelet.look_after()),
        }
    }

    /// Its name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// How it fares.
    pub fn state(&self) -> PodState {
        *self.state.borrow()
    }

    /// Waits until it has been ready for so long.
    ///
    /// # Errors
    ///
    /// If its kubelet gave up.
    pub async fn ready_for(&mut self, at_least: Duration) -> anyhow::Result<()> {
        loop {
            if self.kubelet.is_finished() {
                let ended = (&mut self.kubelet).await??;
                anyhow::bail!("{} ended: {ended:?}", self.name);
            }
            let since = self.state().ready_since;
            if since.is_some_and(|since| since.elapsed() >= at_least) {
                return Ok(());
            }
            sleep(TICK).await;
        }
    }

    /// Deletes it, and waits until it is gone.
    ///
    /// # Errors
    ///
    /// If its kubelet gave up before, or it does not end.
    pub async fn delete(self) -> anyhow::Result<Ended> {
        self.delete.cancel();
        self.kubelet.await?
    }

    /// Loses it with its node.
    ///
    /// # Errors
    ///
    /// If its kubelet gave up before.
    pub async fn lose(self) -> anyhow::Result<Ended> {
        self.lose.cancel();
        self.kubelet.await?
    }
}

struct Kubelet {
    shared: Arc<Shared>,
    pod: Pod,
    state: watch::Sender<PodState>,
    delete: CancellationToken,
    lose: CancellationToken,
}

/// A probe, and when it is due.
struct Watched<'a> {
    probe: &'a Probe,
    due: Instant,
    failed: u32,
}

impl<'a> Watched<'a> {
    fn new(probe: Option<&'a Probe>) -> Option<Self> {
        let probe = probe?;
        let delay = Duration::from_secs(probe.initial_delay_seconds.unwrap_or(0).unsigned_abs().into());
        Some(Self {
            probe,
            due: Instant::now() + delay,
            failed: 0,
        })
    }

    /// Whether it holds; nothing while it is not due, or may still fail.
    async fn holds(&mut self, pod: &RunningPod, address: Ipv4Addr) -> Option<Result<(), anyhow::Error>> {
        if Instant::now() < self.due {
            return None;
        }
        self.due = Instant::now() + period(self.probe);
        match probe(self.probe, pod, address).await {
            Ok(()) => {
                self.failed = 0;
                Some(Ok(()))
            }
            Err(error) => {
                self.failed += 1;
                (self.failed >= failures(self.probe)).then_some(Err(error))
            }
        }
    }
}

impl Kubelet {
    async fn look_after(self) -> anyhow::Result<Ended> {
        let name = name_of(&self.pod.metadata);
        let address = self.shared.network().join(&self.pod)?;
        let mut pause = Duration::ZERO;
        let ended = loop {
            let pod = RunningPod::start(&self.shared.node, &self.shared.manifests, &self.pod).await?;
            if let Some(ended) = self.until_it_ends(pod, address).await? {
                break ended;
            }
            self.set_ready(false)?;
            self.state.send_modify(|state| state.restarts += 1);
            tokio::select! {
                () = sleep(pause) => {}
                () = self.delete.cancelled() => break Ended::InTime,
                () = self.lose.cancelled() => break Ended::Lost,
            }
            pause = (pause * 2).max(BACK_OFF);
        };
        self.shared.network().leave(name)?;
        Ok(ended)
    }

    /// Looks after one start of the container; nothing where it ended by itself.
    async fn until_it_ends(&self, mut pod: RunningPod, address: Ipv4Addr) -> anyhow::Result<Option<Ended>> {
        let container = pod.container().clone();
        let mut startup = Watched::new(container.startup_probe.as_ref());
        let (mut readiness, mut liveness) = (None, None);
        loop {
            if self.lose.is_cancelled() {
                self.set_ready(false)?;
                pod.kill().await?;
                return Ok(Some(Ended::Lost));
            }
            if self.delete.is_cancelled() {
                self.set_ready(false)?;
                let is_in_time = pod.terminate().await?;
                return Ok(Some(if is_in_time { Ended::InTime } else { Ended::Killed }));
            }
            if pod.ended()?.is_some() {
                return Ok(None);
            }
            if let Some(watched) = &mut startup {
                match watched.holds(&pod, address).await {
                    Some(Ok(())) => startup = None,
                    Some(Err(error)) => anyhow::bail!("{} does not start: {error:#}", pod.name()),
                    None => {}
                }
            } else {
                let readiness =
                    readiness.get_or_insert_with(|| Watched::new(container.readiness_probe.as_ref()));
                match readiness {
                    Some(watched) => match watched.holds(&pod, address).await {
                        Some(Ok(())) => self.set_ready(true)?,
                        Some(Err(_)) => self.set_ready(false)?,
                        None => {}
                    },
                    None => self.set_ready(true)?,
                }
                let liveness =
                    liveness.get_or_insert_with(|| Watched::new(container.liveness_probe.as_ref()));
                if let Some(watched) = liveness
                    && let Some(Err(error)) = watched.holds(&pod, address).await
                {
                    anyhow::bail!("{} is taken for dead: {error:#}", pod.name());
                }
            }
            sleep(TICK).await;
        }
    }

    fn set_ready(&self, is_ready: bool) -> anyhow::Result<()> {
        self.state.send_if_modified(|state| {
            let changed = state.ready_since.is_some() != is_ready;
            if changed {
                state.ready_since = is_ready.then(Instant::now);
            }
            changed
        });
        self.shared
            .network()
            .set_ready(name_of(&self.pod.metadata), is_ready)
    }
}
