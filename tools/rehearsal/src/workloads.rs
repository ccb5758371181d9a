//! Runs deployments, stateful sets and jobs.

use std::{sync::Arc, time::Duration};

use futures_util::future::try_join_all;
use serde_json::Value;
use tokio::time::sleep;

use crate::{
    cluster::Cluster,
    container::Container,
    images::Image,
    manifests::{Pod, name_of, text},
    pods::RunningPod,
};

/// Pods of an autoscaled deployment.
const SCALED: u64 = 2;

pub struct Workload {
    pub name: String,
    cluster: Arc<Cluster>,
    object: Value,
    pods: Vec<RunningPod>,
    made: usize,
}

impl Workload {
    pub fn start(cluster: &Arc<Cluster>, object: &Value) -> anyhow::Result<Self> {
        let mut workload = Self {
            name: name_of(object).to_owned(),
            cluster: cluster.clone(),
            object: object.clone(),
            pods: Vec::new(),
            made: 0,
        };
        let count = object["spec"]["replicas"].as_u64().unwrap_or(SCALED);
        workload.add_pods(count.try_into()?)?;
        Ok(workload)
    }

    fn add_pods(&mut self, count: usize) -> anyhow::Result<()> {
        for _ in 0..count {
            self.pods.push(self.pod(self.made)?);
            self.made += 1;
        }
        Ok(())
    }

    fn pod(&self, number: usize) -> anyhow::Result<RunningPod> {
        let mut pod = Pod::of(&self.object);
        pod.name = format!("{}-{number}", self.name);
        RunningPod::start(&self.cluster, pod)
    }

    pub async fn ready(&mut self) -> anyhow::Result<()> {
        for pod in &mut self.pods {
            pod.ready().await?;
        }
        Ok(())
    }

    /// Replaces all pods as `kubectl rollout restart` does. A deployment ends its old pods once the new ones were ready
    /// for `minReadySeconds`.
    pub async fn roll(&mut self) -> anyhow::Result<()> {
        if self.object["kind"] == "StatefulSet" {
            for number in (0..self.pods.len()).rev() {
                self.pods.remove(number).delete().await?;
                self.pods.insert(number, self.pod(number)?);
                self.ready().await?;
            }
            return Ok(());
        }
        let former = std::mem::take(&mut self.pods);
        self.add_pods(former.len())?;
        self.ready().await?;
        let min_ready = self.object["spec"]["minReadySeconds"].as_u64().unwrap_or(0);
        sleep(Duration::from_secs(min_ready)).await;
        self.ready().await?;
        let deleting = former.into_iter().map(RunningPod::delete);
        try_join_all(deleting).await.map(drop)
    }

    /// Kills a pod as the loss of its node does, and starts another.
    pub fn lose(&mut self, number: usize) -> anyhow::Result<()> {
        self.pods.remove(number).lose()?;
        self.pods.insert(number, self.pod(number)?);
        Ok(())
    }
}

/// Whether the rehearsal has the program of a workload.
pub fn has_program(object: &Value) -> bool {
    Image::find(text(&Pod::of(object).container()["image"])).is_some()
}

pub async fn run_job(cluster: &Cluster, object: &Value) -> anyhow::Result<()> {
    let pod = Pod::of(object);
    cluster.network().join(&pod)?;
    let mut container = Container::start(cluster, &pod)?;
    anyhow::ensure!(container.finished().await?, "the job {} failed", pod.name);
    cluster.network().leave(&pod.name)
}
