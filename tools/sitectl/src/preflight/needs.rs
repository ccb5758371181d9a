//! What an overlay needs of a cluster, as its manifests say.

use std::{
    collections::{BTreeMap, BTreeSet},
    iter::Sum,
    ops::{Add, Mul},
};

use anyhow::Context as _;
use serde_json::Value;

use super::quantity::milli;

/// The version of the Gateway API that has a Gateway.
pub const GATEWAY_API: &str = "gateway.networking.k8s.io/v1";
/// What answers for the CPU and memory that autoscalers go by.
const METRICS_API: &str = "metrics.k8s.io/v1beta1";

/// What an overlay needs.
#[derive(Debug, Default)]
pub struct Needs {
    /// The kinds that the server must know, by their `apiVersion`.
    pub apis: BTreeMap<String, BTreeSet<String>>,
    /// Namespaces that the overlay fills.
    pub own_namespaces: BTreeSet<String>,
    /// How many nodes take one pod each, of a workload that never has two on one.
    pub nodes: u64,
    /// What all pods ask for, at the least number of copies and at the most.
    pub least: Room,
    pub most: Room,
    /// What pods of two releases ask for beside each other, where all deployments are rolled out at once at the least number of copies.
    pub rollout: Room,
    /// The pod that asks for the most memory.
    pub largest: (String, Room),
    /// Volumes that name no storage class.
    pub default_class_volumes: u64,
    /// Gateways that routes name.
    pub gateways: BTreeSet<ParentGateway>,
    /// Labels of namespaces that network policies name.
    pub namespaces: BTreeSet<BTreeMap<String, String>>,
    /// Stores that External Secrets reads.
    pub secret_stores: BTreeSet<SecretStore>,
    /// Secrets by which images are pulled, and that the overlay does not bring.
    pub pull_secrets: BTreeSet<Named>,
}

/// CPU in thousandths and memory in thousandths of a byte.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    pub cpu: u128,
    pub memory: u128,
}

impl Room {
    /// Of what a pod's containers ask for.
    pub fn of_pod(spec: &Value) -> Self {
        let is_sidecar = |container: &&Value| container["restartPolicy"] == "Always";
        let sidecars = list(spec, "initContainers").filter(is_sidecar);
        let containers = list(spec, "containers").chain(sidecars);
        containers
            .map(|container| Self::of(&container["resources"]["requests"]))
            .sum()
    }

    /// Of quantities by their names.
    pub fn of(quantities: &Value) -> Self {
        let quantity = |name| quantities[name].as_str().and_then(milli).unwrap_or_default();
        Self {
            cpu: quantity("cpu"),
            memory: quantity("memory"),
        }
    }

    /// Whether it is enough for another.
    pub fn holds(self, other: Self) -> bool {
        self.cpu >= other.cpu && self.memory >= other.memory
    }

    /// What is left of it without another.
    pub fn without(self, other: Self) -> Self {
        Self {
            cpu: self.cpu.saturating_sub(other.cpu),
            memory: self.memory.saturating_sub(other.memory),
        }
    }
}

impl Add for Room {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            cpu: self.cpu + other.cpu,
            memory: self.memory + other.memory,
        }
    }
}

impl Mul<u64> for Room {
    type Output = Self;

    fn mul(self, copies: u64) -> Self {
        Self {
            cpu: self.cpu * u128::from(copies),
            memory: self.memory * u128::from(copies),
        }
    }
}

impl Sum for Room {
    fn sum<I: Iterator<Item = Self>>(rooms: I) -> Self {
        rooms.fold(Self::default(), Add::add)
    }
}

/// A Gateway that a route is attached to.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ParentGateway {
    pub namespace: String,
    pub name: String,
    pub listener: Option<String>,
    /// The namespace of the route.
    pub route_namespace: String,
}

/// A SecretStore, or where it has no namespace a ClusterSecretStore.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SecretStore {
    pub api_version: String,
    pub namespace: Option<String>,
    pub name: String,
}

impl SecretStore {
    /// Where the API server has it.
    pub fn path(&self) -> String {
        let (version, name) = (&self.api_version, &self.name);
        match &self.namespace {
            None => format!("/apis/{version}/clustersecretstores/{name}"),
            Some(namespace) => format!("/apis/{version}/namespaces/{namespace}/secretstores/{name}"),
        }
    }
}

/// A thing of a namespace.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Named {
    pub namespace: String,
    pub name: String,
}

impl Needs {
    /// Reads what `kubectl kustomize` prints.
    ///
    /// # Errors
    ///
    /// If it is no YAML.
    pub fn of(rendered: &str) -> anyhow::Result<Self> {
        let objects: Vec<Value> =
            serde_saphyr::from_multiple(rendered).context("the rendered overlay cannot be read")?;
        let mut needs = Self {
            nodes: 1,
            ..Self::default()
        };
        let copies = Copies::of(&objects);
        for object in &objects {
            needs.add(object, &copies);
        }
        let brought: BTreeSet<Named> = objects.iter().filter_map(brought_secret).collect();
        needs.pull_secrets.retain(|secret| !brought.contains(secret));
        Ok(needs)
    }

    fn add(&mut self, object: &Value, copies: &Copies) {
        let kind = text(&object["kind"]);
        self.apis
            .entry(text(&object["apiVersion"]))
            .or_default()
            .insert(kind.clone());
        self.own_namespaces
            .extend(optional(&object["metadata"]["namespace"]));
        let spec = &object["spec"];
        match &*kind {
            "Deployment" | "StatefulSet" => self.add_workload(object, copies),
            "PersistentVolumeClaim" => self.add_volume(spec, 1),
            "HorizontalPodAutoscaler" if list(spec, "metrics").any(|metric| metric["type"] == "Resource") => {
                let pods = self.apis.entry(METRICS_API.to_owned()).or_default();
                pods.insert("PodMetrics".to_owned());
            }
            "HTTPRoute" => self.gateways.extend(parent_gateways(object)),
            "NetworkPolicy" => self.namespaces.extend(peers(spec)),
            "ExternalSecret" => self.secret_stores.extend(secret_store(object)),
            "ServiceAccount" => self.add_pull_secrets(object, object),
            _ => {}
        }
        for pod in [
            &spec["template"]["spec"],
            &spec["jobTemplate"]["spec"]["template"]["spec"],
        ] {
            self.add_pull_secrets(object, pod);
        }
    }

    fn add_workload(&mut self, object: &Value, copies: &Copies) {
        let spec = &object["spec"];
        let pod = &spec["template"]["spec"];
        let room = Room::of_pod(pod);
        let (least, most) = copies.of_workload(object);
        self.least = self.least + room * least;
        self.most = self.most + room * most;
        if object["kind"] == "Deployment" {
            self.rollout = self.rollout + room * surge(&spec["strategy"], least);
        }
        if room.memory > self.largest.1.memory {
            self.largest = (text(&object["metadata"]["name"]), room);
        }
        if has_nodes_of_its_own(pod) {
            self.nodes = self.nodes.max(least);
        }
        for claim in list(spec, "volumeClaimTemplates") {
            self.add_volume(&claim["spec"], least);
        }
    }

    fn add_volume(&mut self, spec: &Value, number: u64) {
        if spec["storageClassName"].is_null() {
            self.default_class_volumes += number;
        }
    }

    fn add_pull_secrets(&mut self, object: &Value, owner: &Value) {
        let namespace = text(&object["metadata"]["namespace"]);
        let named = list(owner, "imagePullSecrets").map(|secret| Named {
            namespace: namespace.clone(),
            name: text(&secret["name"]),
        });
        self.pull_secrets.extend(named);
    }
}

/// The least and the most copies of what an autoscaler has in hand, by kind and name.
struct Copies(BTreeMap<String, (u64, u64)>);

impl Copies {
    fn of(objects: &[Value]) -> Self {
        let bounds = objects.iter().filter_map(|object| {
            let spec = &object["spec"];
            let [least, most] = match object["kind"].as_str()? {
                "HorizontalPodAutoscaler" => ["minReplicas", "maxReplicas"],
                "ScaledObject" => ["minReplicaCount", "maxReplicaCount"],
                _ => return None,
            };
            let most = spec[most].as_u64()?;
            Some((
                text(&spec["scaleTargetRef"]["name"]),
                (spec[least].as_u64().unwrap_or(1), most),
            ))
        });
        Self(bounds.collect())
    }

    fn of_workload(&self, object: &Value) -> (u64, u64) {
        let replicas = object["spec"]["replicas"].as_u64().unwrap_or(1);
        let scaled = self.0.get(&text(&object["metadata"]["name"]));
        scaled.copied().unwrap_or((replicas, replicas))
    }
}

/// How many pods a deployment may have beyond its copies while it is rolled out (`apps/v1`, `maxSurge`).
fn surge(strategy: &Value, copies: u64) -> u64 {
    if strategy["type"] == "Recreate" {
        return 0;
    }
    let wanted = &strategy["rollingUpdate"]["maxSurge"];
    let percent = wanted.as_str().unwrap_or("25%").trim_end_matches('%');
    let of_copies = || (copies * percent.parse().unwrap_or(25)).div_ceil(100);
    wanted.as_u64().unwrap_or_else(of_copies)
}

/// Whether two pods of a workload never run on one node.
fn has_nodes_of_its_own(pod: &Value) -> bool {
    const PER_NODE: &str = "kubernetes.io/hostname";
    let spread = list(pod, "topologySpreadConstraints")
        .any(|spread| spread["topologyKey"] == PER_NODE && spread["whenUnsatisfiable"] == "DoNotSchedule");
    let apart = &pod["affinity"]["podAntiAffinity"];
    let apart = list(apart, "requiredDuringSchedulingIgnoredDuringExecution");
    spread || apart.into_iter().any(|term| term["topologyKey"] == PER_NODE)
}

fn parent_gateways(route: &Value) -> impl Iterator<Item = ParentGateway> {
    let own = text(&route["metadata"]["namespace"]);
    list(&route["spec"], "parentRefs").map(move |parent| ParentGateway {
        namespace: optional(&parent["namespace"]).unwrap_or_else(|| own.clone()),
        name: text(&parent["name"]),
        listener: optional(&parent["sectionName"]),
        route_namespace: own.clone(),
    })
}

/// The labels of namespaces that may call, or be called.
fn peers(policy: &Value) -> impl Iterator<Item = BTreeMap<String, String>> {
    let inward = list(policy, "ingress").flat_map(|rule| list(rule, "from"));
    let outward = list(policy, "egress").flat_map(|rule| list(rule, "to"));
    inward.chain(outward).filter_map(|peer| {
        let labels = peer["namespaceSelector"]["matchLabels"].as_object()?;
        Some(
            labels
                .iter()
                .map(|(name, value)| (name.clone(), text(value)))
                .collect(),
        )
    })
}

fn secret_store(external: &Value) -> Option<SecretStore> {
    let store = &external["spec"]["secretStoreRef"];
    Some(SecretStore {
        api_version: text(&external["apiVersion"]),
        namespace: match store["kind"].as_str() {
            Some("ClusterSecretStore") => None,
            _ => optional(&external["metadata"]["namespace"]),
        },
        name: optional(&store["name"])?,
    })
}

/// The Secret that an object is, or makes.
fn brought_secret(object: &Value) -> Option<Named> {
    let name = match object["kind"].as_str()? {
        "Secret" => &object["metadata"]["name"],
        "ExternalSecret" => &object["spec"]["target"]["name"],
        _ => return None,
    };
    Some(Named {
        namespace: text(&object["metadata"]["namespace"]),
        name: text(name),
    })
}

fn list<'a>(of: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> + use<'a> {
    of[name].as_array().into_iter().flatten()
}

fn optional(value: &Value) -> Option<String> {
    value.as_str().map(str::to_owned)
}

fn text(value: &Value) -> String {
    optional(value).unwrap_or_default()
}
