//! The rendered manifests of an overlay, as the kinds that a node acts on.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
};

use anyhow::Context as _;
use k8s_openapi::{
    ByteString,
    api::{
        apps::v1::{Deployment, StatefulSet},
        autoscaling::v2::HorizontalPodAutoscaler,
        batch::v1::{CronJob, Job},
        core::v1::{ConfigMap, Container, Pod, PodTemplateSpec, Secret, Service},
        networking::v1::NetworkPolicy,
        policy::v1::PodDisruptionBudget,
    },
    apimachinery::pkg::{apis::meta::v1::ObjectMeta, util::intstr::IntOrString},
};
use serde::Deserialize;
use serde_json::Value;

use crate::{
    certificates::{Certificate, Issuers},
    secrets::{ExternalSecret, SecretStore},
};

/// What is acted on. Everything else is for controllers that a cluster brings, and is named by [`Manifests::others`].
#[derive(Default)]
pub struct Manifests {
    pub deployments: Vec<Deployment>,
    pub stateful_sets: Vec<StatefulSet>,
    pub jobs: Vec<Job>,
    pub cron_jobs: Vec<CronJob>,
    pub services: Vec<Service>,
    pub policies: Vec<NetworkPolicy>,
    pub budgets: Vec<PodDisruptionBudget>,
    pub config_maps: BTreeMap<String, ConfigMap>,
    secrets: Mutex<BTreeMap<String, Secret>>,
    external_secrets: Vec<ExternalSecret>,
    certificates: Vec<Certificate>,
    pub routes: Vec<HttpRoute>,
    scalers: Vec<HorizontalPodAutoscaler>,
    keda_scalers: Vec<ScaledObject>,
    /// How many objects there are of each kind that nothing here acts on.
    pub others: BTreeMap<String, usize>,
}

#[derive(Deserialize)]
struct Named {
    name: String,
}

/// A route of the Gateway API (`gateway.networking.k8s.io/v1`), as far as it is used here.
#[derive(Deserialize)]
pub struct HttpRoute {
    pub spec: HttpRouteSpec,
}

#[derive(Deserialize)]
pub struct HttpRouteSpec {
    #[serde(default)]
    pub rules: Vec<RouteRule>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RouteRule {
    #[serde(default)]
    pub matches: Vec<RouteMatch>,
    #[serde(default)]
    pub backend_refs: Vec<Backend>,
}

#[derive(Deserialize)]
pub struct RouteMatch {
    pub path: Option<PathMatch>,
}

#[derive(Deserialize)]
pub struct PathMatch {
    #[serde(rename = "type")]
    pub kind: String,
    pub value: String,
}

#[derive(Deserialize)]
pub struct Backend {
    pub name: String,
    pub port: u16,
}

/// A scaler of KEDA (`keda.sh/v1alpha1`), as far as it is used here.
#[derive(Deserialize)]
struct ScaledObject {
    spec: ScaledObjectSpec,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ScaledObjectSpec {
    scale_target_ref: Named,
    min_replica_count: Option<i32>,
}

impl Manifests {
    /// Reads what `kubectl kustomize` prints.
    ///
    /// # Errors
    ///
    /// If it is no YAML, or an object is not what its kind says.
    pub fn of(rendered: &str) -> anyhow::Result<Self> {
        let objects: Vec<Value> = serde_saphyr::from_multiple(rendered)?;
        let mut manifests = Self::default();
        for object in objects {
            let kind = object["kind"].as_str().unwrap_or_default().to_owned();
            let name = object["metadata"]["name"].as_str().unwrap_or_default().to_owned();
            manifests
                .add(&kind, &name, object)
                .with_context(|| format!("{kind} {name}"))?;
        }
        Ok(manifests)
    }

    fn add(&mut self, kind: &str, name: &str, object: Value) -> anyhow::Result<()> {
        use serde_json::from_value;
        match kind {
            "Deployment" => self.deployments.push(from_value(object)?),
            "StatefulSet" => self.stateful_sets.push(from_value(object)?),
            "Job" => self.jobs.push(from_value(object)?),
            "CronJob" => self.cron_jobs.push(from_value(object)?),
            "Service" => self.services.push(from_value(object)?),
            "NetworkPolicy" => self.policies.push(from_value(object)?),
            "PodDisruptionBudget" => self.budgets.push(from_value(object)?),
            "ConfigMap" => drop(self.config_maps.insert(name.to_owned(), from_value(object)?)),
            "Secret" => drop(self.secrets().insert(name.to_owned(), from_value(object)?)),
            "ExternalSecret" => self.external_secrets.push(from_value(object)?),
            "Certificate" => self.certificates.push(from_value(object)?),
            "HTTPRoute" => self.routes.push(from_value(object)?),
            "HorizontalPodAutoscaler" => self.scalers.push(from_value(object)?),
            "ScaledObject" => self.keda_scalers.push(from_value(object)?),
            other => *self.others.entry(other.to_owned()).or_default() += 1,
        }
        Ok(())
    }

    /// Fills the secrets that come from a store, as External Secrets does.
    pub fn fill_secrets(&self, store: &mut SecretStore) {
        let filled = self.external_secrets.iter().map(|external| store.fill(external));
        self.secrets().extend(filled);
    }

    /// Fills the secrets that hold certificates with new ones, as cert-manager does.
    ///
    /// # Errors
    ///
    /// If one cannot be issued.
    pub fn issue_certificates(&self, issuers: &mut Issuers) -> anyhow::Result<()> {
        for certificate in &self.certificates {
            let issued = issuers.issue(certificate)?;
            self.secrets().extend(issued);
        }
        Ok(())
    }

    /// What a secret holds.
    ///
    /// # Errors
    ///
    /// If there is none of this name.
    pub fn secret(&self, name: &str) -> anyhow::Result<BTreeMap<String, ByteString>> {
        let secrets = self.secrets();
        let secret = secrets
            .get(name)
            .with_context(|| format!("there is no secret {name}"))?;
        Ok(secret.data.clone().unwrap_or_default())
    }

    /// What the maps say a setting is.
    ///
    /// # Errors
    ///
    /// If none has it, or two say differently.
    pub fn setting(&self, name: &str) -> anyhow::Result<&str> {
        let maps = self.config_maps.values();
        let found: BTreeSet<&String> = maps.filter_map(|map| map.data.as_ref()?.get(name)).collect();
        anyhow::ensure!(found.len() <= 1, "maps say of {name} differently: {found:?}");
        let value = found.first().with_context(|| format!("no map has {name}"))?;
        Ok(value)
    }

    /// Makes a secret by hand.
    pub fn put_secret<const N: usize>(&self, name: &str, values: [(String, String); N]) {
        let data = values.map(|(key, value)| (key, ByteString(value.into_bytes())));
        let secret = Secret {
            data: Some(data.into()),
            ..Secret::default()
        };
        self.secrets().insert(name.to_owned(), secret);
    }

    fn secrets(&self) -> MutexGuard<'_, BTreeMap<String, Secret>> {
        self.secrets.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Each deployment and stateful set: its metadata, the template of its pods, and how many it wants.
    pub fn workloads(&self) -> impl Iterator<Item = (&ObjectMeta, &PodTemplateSpec, i32)> {
        let deployments = self.deployments.iter().filter_map(|deployment| {
            let spec = deployment.spec.as_ref()?;
            Some((&deployment.metadata, &spec.template, self.replicas(deployment)))
        });
        let sets = self.stateful_sets.iter().filter_map(|set| {
            let spec = set.spec.as_ref()?;
            Some((&set.metadata, &spec.template, spec.replicas.unwrap_or(1)))
        });
        deployments.chain(sets)
    }

    /// How many pods a deployment has at the least: as many as it says, or as the one that scales it.
    pub fn replicas(&self, deployment: &Deployment) -> i32 {
        let name = deployment.metadata.name.as_deref().unwrap_or_default();
        let written = deployment.spec.as_ref().and_then(|spec| spec.replicas);
        let of_scaler = || {
            let scalers = self.scalers.iter().filter_map(|scaler| scaler.spec.as_ref());
            let mut ours = scalers.filter(|spec| spec.scale_target_ref.name == name);
            ours.next().and_then(|spec| spec.min_replicas)
        };
        let of_keda = || {
            let mut ours = self.keda_scalers.iter();
            let ours = ours.find(|scaler| scaler.spec.scale_target_ref.name == name);
            ours.and_then(|scaler| scaler.spec.min_replica_count)
        };
        written.or_else(of_scaler).or_else(of_keda).unwrap_or(1)
    }
}

/// The number of a port of these containers, which may be named.
pub fn port_number<'a>(
    port: &IntOrString,
    containers: impl IntoIterator<Item = &'a Container>,
) -> Option<i32> {
    match port {
        IntOrString::Int(number) => Some(*number),
        IntOrString::String(name) => {
            let mut ports = containers
                .into_iter()
                .flat_map(|container| container.ports.iter().flatten());
            let named = ports.find(|port| port.name.as_ref() == Some(name));
            named.map(|port| port.container_port)
        }
    }
}

/// The name of an object.
pub fn name_of(metadata: &ObjectMeta) -> &str {
    metadata.name.as_deref().unwrap_or_default()
}

/// The pod that a template makes, under this name.
pub fn pod_of(template: &PodTemplateSpec, name: &str, namespace: &str) -> Pod {
    let mut metadata = template.metadata.clone().unwrap_or_default();
    metadata.name = Some(name.to_owned());
    metadata.namespace = Some(namespace.to_owned());
    Pod {
        metadata,
        spec: template.spec.clone(),
        status: None,
    }
}
