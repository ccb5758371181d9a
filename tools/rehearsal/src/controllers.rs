//! What keeps pods as a manifest says: deployments and stateful sets, which start, roll, and bring back what was lost; and jobs.

use std::{sync::Arc, time::Duration};

use anyhow::{Context as _, bail};
use k8s_openapi::{
    api::{
        apps::v1::{Deployment, RollingUpdateDeployment, StatefulSet},
        batch::v1::{CronJob, Job},
        core::v1::PodTemplateSpec,
    },
    apimachinery::pkg::{apis::meta::v1::ObjectMeta, util::intstr::IntOrString},
};
use tokio::time::{sleep, timeout};

use crate::{
    images::short_name,
    kubelet::{Ended, PodHandle, Shared},
    manifests::{name_of, pod_of},
    pods::{RunningPod, logged},
};

/// The broker's workload, and its secret.
pub const BROKER: &str = "nats";

/// How long pods may take until they are ready.
const START: Duration = Duration::from_secs(120);
/// The pause before a job's next pod, and twice as long each further time.
const JOB_BACK_OFF: Duration = Duration::from_secs(10);

/// The label in which a job's pods carry its name.
const JOB_NAME: &str = "batch.kubernetes.io/job-name";

/// How pods are replaced.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Rollout {
    /// A stateful set's: one ends, and then another has its name and volume.
    UnderTheSameName,
    /// A deployment's: none ends before another is available in its place.
    BesideFormer(Surge),
}

/// How many more pods than its replicas a deployment has meanwhile (`maxSurge`, with none fewer).
#[derive(Clone, Copy, PartialEq, Eq)]
enum Surge {
    One,
    AsMany,
}

impl Surge {
    /// None where it is another number, or some may be missing.
    fn of(rolling: &RollingUpdateDeployment) -> Option<Self> {
        let surge = match rolling.max_surge.as_ref()? {
            IntOrString::Int(1) => Self::One,
            IntOrString::String(share) if share == "100%" => Self::AsMany,
            _ => return None,
        };
        (rolling.max_unavailable == Some(IntOrString::Int(0))).then_some(surge)
    }
}

/// The pods of a deployment or a stateful set.
pub struct Workload {
    pub name: String,
    namespace: String,
    template: PodTemplateSpec,
    min_ready: Duration,
    rollout: Rollout,
    pods: Vec<PodHandle>,
    made: usize,
}

impl Workload {
    /// Starts a deployment's pods; none where there is no program for its image.
    ///
    /// # Errors
    ///
    /// If it is rolled in a way that is not known here.
    pub fn of_deployment(shared: &Arc<Shared>, deployment: &Deployment) -> anyhow::Result<Option<Self>> {
        let spec = deployment.spec.as_ref().context("a deployment without a spec")?;
        let rolling = spec
            .strategy
            .as_ref()
            .and_then(|strategy| strategy.rolling_update.as_ref());
        let surge = rolling.map_or(Some(Surge::One), Surge::of);
        let surge = surge.with_context(|| {
            format!(
                "{} is rolled otherwise than by one more at a time, or by as many more",
                name_of(&deployment.metadata)
            )
        })?;
        let workload = Self::new(
            &deployment.metadata,
            &spec.template,
            spec.min_ready_seconds,
            Rollout::BesideFormer(surge),
        );
        workload.started(shared, shared.manifests.replicas(deployment))
    }

    /// The same of a stateful set, whose pods keep their names and volumes.
    ///
    /// # Errors
    ///
    /// If it has no spec.
    pub fn of_stateful_set(shared: &Arc<Shared>, set: &StatefulSet) -> anyhow::Result<Option<Self>> {
        let spec = set.spec.as_ref().context("a stateful set without a spec")?;
        let workload = Self::new(
            &set.metadata,
            &spec.template,
            spec.min_ready_seconds,
            Rollout::UnderTheSameName,
        );
        workload.started(shared, spec.replicas.unwrap_or(1))
    }

    fn new(
        metadata: &ObjectMeta,
        template: &PodTemplateSpec,
        min_ready: Option<i32>,
        rollout: Rollout,
    ) -> Self {
        Self {
            name: name_of(metadata).to_owned(),
            namespace: metadata.namespace.clone().unwrap_or_default(),
            template: template.clone(),
            min_ready: Duration::from_secs(min_ready.unwrap_or(0).unsigned_abs().into()),
            rollout,
            pods: Vec::new(),
            made: 0,
        }
    }

    fn started(mut self, shared: &Arc<Shared>, replicas: i32) -> anyhow::Result<Option<Self>> {
        if !has_program(shared, &self.template) {
            return Ok(None);
        }
        for _ in 0..replicas {
            let pod = self.next_pod(shared);
            self.pods.push(pod);
        }
        Ok(Some(self))
    }

    fn next_pod(&mut self, shared: &Arc<Shared>) -> PodHandle {
        let number = self.made;
        self.made += 1;
        self.pod(shared, number)
    }

    fn pod(&self, shared: &Arc<Shared>, number: usize) -> PodHandle {
        let name = format!("{}-{number}", self.name);
        PodHandle::start(shared, pod_of(&self.template, &name, &self.namespace))
    }

    /// Its pods.
    pub fn pods(&self) -> &[PodHandle] {
        &self.pods
    }

    /// Waits until all its pods are ready.
    ///
    /// # Errors
    ///
    /// If one is not in time, or its kubelet gave up.
    pub async fn ready(&mut self) -> anyhow::Result<()> {
        for pod in &mut self.pods {
            let name = pod.name().to_owned();
            timeout(START, pod.ready_for(Duration::ZERO))
                .await
                .with_context(|| format!("{name} is not ready in time"))??;
        }
        Ok(())
    }

    /// Replaces each pod as `kubectl rollout restart` does; says how each of the former ended.
    ///
    /// # Errors
    ///
    /// If a new one is not ready in time, or a former one does not end.
    pub async fn roll(&mut self, shared: &Arc<Shared>) -> anyhow::Result<Vec<(String, Ended)>> {
        match self.rollout {
            Rollout::UnderTheSameName => self.roll_under_the_same_names(shared).await,
            Rollout::BesideFormer(surge) => self.roll_beside_former(shared, surge).await,
        }
    }

    async fn roll_under_the_same_names(
        &mut self,
        shared: &Arc<Shared>,
    ) -> anyhow::Result<Vec<(String, Ended)>> {
        let mut ended = Vec::new();
        for number in (0..self.pods.len()).rev() {
            let former = self.pods.remove(number);
            ended.push((former.name().to_owned(), former.delete().await?));
            self.pods.insert(number, self.pod(shared, number));
            self.wait_for(number).await?;
        }
        Ok(ended)
    }

    async fn roll_beside_former(
        &mut self,
        shared: &Arc<Shared>,
        surge: Surge,
    ) -> anyhow::Result<Vec<(String, Ended)>> {
        let mut left = self.pods.len();
        let mut ending = Vec::new();
        while left > 0 {
            let more = match surge {
                Surge::One => 1,
                Surge::AsMany => left,
            };
            for _ in 0..more {
                let next = self.next_pod(shared);
                self.pods.push(next);
            }
            for number in self.pods.len() - more..self.pods.len() {
                self.wait_for(number).await?;
            }
            ending.extend(self.pods.drain(..more).map(|former| {
                tokio::spawn(async move {
                    let name = former.name().to_owned();
                    former.delete().await.map(|ended| (name, ended))
                })
            }));
            left -= more;
        }
        let mut ended = Vec::new();
        for former in ending {
            ended.push(former.await??);
        }
        Ok(ended)
    }

    async fn wait_for(&mut self, number: usize) -> anyhow::Result<()> {
        let min_ready = self.min_ready;
        let pod = &mut self.pods[number];
        let name = pod.name().to_owned();
        timeout(START + min_ready, pod.ready_for(min_ready))
            .await
            .with_context(|| format!("{name} is not ready in time"))?
    }

    /// Loses the pod of this number with its node, and starts another for it.
    ///
    /// # Errors
    ///
    /// If its kubelet gave up before.
    pub async fn lose(&mut self, shared: &Arc<Shared>, number: usize) -> anyhow::Result<()> {
        let former = self.pods.remove(number);
        former.lose().await?;
        let next = match self.rollout {
            Rollout::UnderTheSameName => self.pod(shared, number),
            Rollout::BesideFormer(_) => self.next_pod(shared),
        };
        self.pods.insert(number, next);
        Ok(())
    }

    /// Ends all its pods.
    ///
    /// # Errors
    ///
    /// If a kubelet gave up before.
    pub async fn delete(self) -> anyhow::Result<()> {
        for pod in self.pods {
            pod.lose().await?;
        }
        Ok(())
    }
}

/// Whether this machine has a program for what the containers start.
fn has_program(shared: &Shared, template: &PodTemplateSpec) -> bool {
    let mut containers = template.spec.iter().flat_map(|spec| &spec.containers);
    containers.all(|container| {
        let image = shared
            .node
            .images
            .find(container.image.as_deref().unwrap_or_default());
        let command = container.command.iter().flatten().next();
        image.is_some_and(|image| command.is_none_or(|command| image.starts(command)))
    })
}

/// The images of a template's containers.
pub fn images(template: &PodTemplateSpec) -> impl Iterator<Item = String> {
    let containers = template.spec.iter().flat_map(|spec| &spec.containers);
    containers.map(|container| short_name(container.image.as_deref().unwrap_or_default()).to_owned())
}

/// The job that a cron job makes, where this machine has a program for it.
pub fn job_of(shared: &Shared, cron_job: &CronJob, number: usize) -> Option<Job> {
    let template = &cron_job.spec.as_ref()?.job_template;
    let spec = template.spec.as_ref()?;
    let metadata = ObjectMeta {
        name: Some(format!("{}-{number}", name_of(&cron_job.metadata))),
        namespace: cron_job.metadata.namespace.clone(),
        ..ObjectMeta::default()
    };
    has_program(shared, &spec.template).then(|| Job {
        metadata,
        spec: Some(spec.clone()),
        status: None,
    })
}

/// Runs a job until one of its pods succeeds; says how many it took.
///
/// # Errors
///
/// If as many fail as its `backoffLimit` allows, and one more.
pub async fn run_job(shared: &Arc<Shared>, job: &Job) -> anyhow::Result<i32> {
    let name = name_of(&job.metadata);
    let spec = job.spec.as_ref().context("a job without a spec")?;
    let namespace = job.metadata.namespace.as_deref().unwrap_or_default();
    let mut pause = JOB_BACK_OFF;
    let limit = spec.backoff_limit.unwrap_or(6);
    let mut said = String::new();
    for attempt in 0..=limit {
        let mut pod = pod_of(&spec.template, &format!("{name}-{attempt}"), namespace);
        let labels = pod.metadata.labels.get_or_insert_default();
        labels.insert(JOB_NAME.to_owned(), name.to_owned());
        shared.network().join(&pod)?;
        let mut running = RunningPod::start(&shared.node, &shared.manifests, &pod).await?;
        let status = running.finished().await?;
        shared.network().leave(name_of(&pod.metadata))?;
        if status.success() {
            return Ok(attempt + 1);
        }
        said = logged(&shared.node, name_of(&pod.metadata))?;
        if attempt < limit {
            sleep(pause).await;
            pause *= 2;
        }
    }
    let last = said.lines().next_back().unwrap_or_default();
    bail!("the job {name} failed {} times, and said last: {last}", limit + 1)
}
