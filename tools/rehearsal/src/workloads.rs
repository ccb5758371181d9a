//! Runs deployments, stateful sets and jobs.

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

const SCALED: u64 = 2;

pub struct Workload {
    pub name: String,
    object: Value,
    pods: Vec<RunningPod>,
    made: usize,
}

impl Workload {
    /// Returns `None` if this machine lacks the program.
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

    pub async fn ready(&mut self) -> anyhow::Result<()> {
        self.ready_for(Duration::ZERO).await
    }

    async fn ready_for(&mut self, at_least: Duration) -> anyhow::Result<()> {
        for pod in &mut self.pods {
            pod.ready_for(at_least).await?;
        }
        Ok(())
    }

    /// Replaces all pods as `kubectl rollout restart` does. A deployment ends its old pods once the new ones were ready
    /// for `minReadySeconds`.
    ///
    /// # Errors
    ///
    /// If a new pod is late, or an old one exceeds its grace period.
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

    /// Kills a pod as the loss of its node does, and starts another.
    pub async fn lose(&mut self, cluster: &Arc<Cluster>, number: usize) -> anyhow::Result<()> {
        self.pods.remove(number).end(Ending::Lose).await?;
        self.pods.insert(number, self.pod(cluster, number));
        Ok(())
    }
}

pub fn has_program(cluster: &Cluster, template: &Value) -> bool {
    list(&template["spec"]["containers"]).all(|container| {
        let image = Image::find(&cluster.node.root, text(&container["image"]));
        let command = container["command"][0].as_str();
        image.is_some_and(|image| command.is_none_or(|command| image.starts(command)))
    })
}

pub async fn run_job(cluster: &Cluster, object: &Value, spec: &Value) -> anyhow::Result<()> {
    let name = name_of(object);
    let mut pod = Pod::new(&spec["template"], name, text(&object["metadata"]["namespace"]));
    pod.labels[JOB_NAME] = name.into();
    cluster.network().join(&pod)?;
    let mut container = Container::start(&cluster.node, &cluster.manifests, &pod)?;
    anyhow::ensure!(container.finished().await?, "the job {name} failed");
    cluster.network().leave(name)
}
