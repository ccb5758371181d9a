//! Deployments, stateful sets and jobs: their pods are started, replaced, and run to their end.

use std::{sync::Arc, time::Duration};

use futures_util::future::try_join_all;
use serde_json::Value;

use crate::{
    cluster::Cluster,
    container::Container,
    environment::JOB_NAME,
    images::Image,
    manifests::{Pod, list, name_of, text},
    pods::{Ending, RunningPod},
};

/// How many pods a deployment has that an autoscaler scales.
const SCALED: u64 = 2;

/// The pods of a deployment or a stateful set.
pub struct Workload {
    pub name: String,
    object: Value,
    pods: Vec<RunningPod>,
    made: usize,
}

impl Workload {
    /// Starts its pods; none where there is no program for its image.
    pub fn start(cluster: &Arc<Cluster>, object: &Value) -> Option<Self> {
        if !has_program(cluster, &object["spec"]["template"]) {
            return None;
        }
        let mut workload = Self {
            name: name_of(object).to_owned(),
            object: object.clone(),
            pods: Vec::new(),
            made: 0,
        };
        let count = object["spec"]["replicas"].as_u64().unwrap_or(SCALED);
        workload.add_pods(cluster, usize::try_from(count).ok()?);
        Some(workload)
    }

    fn add_pods(&mut self, cluster: &Arc<Cluster>, count: usize) {
        for _ in 0..count {
            self.pods.push(self.pod(cluster, self.made));
            self.made += 1;
        }
    }

    fn pod(&self, cluster: &Arc<Cluster>, number: usize) -> RunningPod {
        let name = format!("{}-{number}", self.name);
        let namespace = text(&self.object["metadata"]["namespace"]);
        let pod = Pod::new(&self.object["spec"]["template"], &name, namespace);
        RunningPod::start(cluster, pod)
    }

    /// Waits until all its pods are ready.
    ///
    /// # Errors
    ///
    /// If one is not in time, or failed.
    pub async fn ready(&mut self) -> anyhow::Result<()> {
        self.ready_for(Duration::ZERO).await
    }

    async fn ready_for(&mut self, at_least: Duration) -> anyhow::Result<()> {
        for pod in &mut self.pods {
            pod.ready_for(at_least).await?;
        }
        Ok(())
    }

    /// Replaces each pod as `kubectl rollout restart` does: a stateful set's one after another under the same names; a deployment's all
    /// beside the former ones, which end once the new ones have been ready for as long as the manifest says.
    ///
    /// # Errors
    ///
    /// If a new one is not ready in time, or a former one does not end within its grace.
    pub async fn roll(&mut self, cluster: &Arc<Cluster>) -> anyhow::Result<()> {
        if self.object["kind"] == "StatefulSet" {
            for number in (0..self.pods.len()).rev() {
                self.pods.remove(number).end(Ending::Delete).await?;
                self.pods.insert(number, self.pod(cluster, number));
                self.ready().await?;
            }
            return Ok(());
        }
        let former = std::mem::take(&mut self.pods);
        self.add_pods(cluster, former.len());
        let min_ready = self.object["spec"]["minReadySeconds"].as_u64().unwrap_or(0);
        self.ready_for(Duration::from_secs(min_ready)).await?;
        let ending = former.into_iter().map(|pod| pod.end(Ending::Delete));
        try_join_all(ending).await.map(drop)
    }

    /// Loses the pod of this number with its node, and starts another for it.
    ///
    /// # Errors
    ///
    /// If it failed before.
    pub async fn lose(&mut self, cluster: &Arc<Cluster>, number: usize) -> anyhow::Result<()> {
        self.pods.remove(number).end(Ending::Lose).await?;
        self.pods.insert(number, self.pod(cluster, number));
        Ok(())
    }
}

/// Whether this machine has a program for what the containers start.
pub fn has_program(cluster: &Cluster, template: &Value) -> bool {
    list(&template["spec"]["containers"]).all(|container| {
        let image = Image::find(&cluster.node.root, text(&container["image"]));
        let command = container["command"][0].as_str();
        image.is_some_and(|image| command.is_none_or(|command| image.starts(command)))
    })
}

/// Runs a job's pod, which must succeed.
///
/// # Errors
///
/// If it fails.
pub async fn run_job(cluster: &Cluster, object: &Value, spec: &Value) -> anyhow::Result<()> {
    let name = name_of(object);
    let mut pod = Pod::new(&spec["template"], name, text(&object["metadata"]["namespace"]));
    pod.labels[JOB_NAME] = name.into();
    cluster.network().join(&pod)?;
    let mut container = Container::start(&cluster.node, &cluster.manifests, &pod)?;
    anyhow::ensure!(container.finished().await?, "the job {name} failed");
    cluster.network().leave(name)
}
