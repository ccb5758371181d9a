//! What an answer of the API server says about a need.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::{
    kubectl::{Answer, items},
    needs::{Named, Needs, ParentGateway, Room, SecretStore},
};
use crate::finding::Finding;

/// The oldest minor version of Kubernetes 1: since then a `preStop` may sleep without a shell.
const OLDEST_MINOR: u64 = 30;
/// The oldest release of the Gateway API that we are tried with: routes have timeouts.
const OLDEST_GATEWAY_API: (u64, u64) = (1, 2);
/// Annotation of the Gateway API's kinds that tells their release.
const BUNDLE: &str = "gateway.networking.k8s.io/bundle-version";
const DEFAULT_CLASS: &str = "storageclass.kubernetes.io/is-default-class";
/// What brings the kinds of a group.
const BRINGS: [(&str, &str); 6] = [
    ("cert-manager.io", "cert-manager"),
    ("external-secrets.io", "External Secrets 0.16 or newer"),
    ("gateway.networking.k8s.io", "the Gateway API 1.2 or newer"),
    ("keda.sh", "KEDA 2"),
    (
        "metrics.k8s.io",
        "metrics-server, without which autoscalers stay at the least number",
    ),
    ("monitoring.coreos.com", "the Prometheus operator"),
];

/// The object, or the finding that there is none.
fn found<'a>(what: &str, answer: &'a Answer, remedy: &str) -> Result<&'a Value, Finding> {
    match answer {
        Answer::Found(object) => Ok(object),
        Answer::NotFound => Err(Finding::wrong(what, "not there", remedy)),
        Answer::Forbidden => Err(Finding::warning(
            what,
            "not looked at, because you may not read it",
            "ask as somebody who may",
        )),
        Answer::Failed(complaint) => Err(Finding::wrong(
            what,
            format!("the cluster does not tell: {complaint}"),
            "see why: what answers for it may be away",
        )),
    }
}

/// The finding, whichever way it came about.
fn either(finding: Result<Finding, Finding>) -> Finding {
    finding.unwrap_or_else(|finding| finding)
}

pub fn version(answer: &Answer) -> Finding {
    let what = "Kubernetes";
    let judge = || {
        let version = found(what, answer, "see whether this is a cluster")?;
        let name = version["gitVersion"].as_str().unwrap_or("an unknown version");
        let is_new = pair(name).is_some_and(|version| version >= (1, OLDEST_MINOR));
        if is_new {
            return Ok(Finding::ok(what, name));
        }
        Err(Finding::wrong(
            what,
            name,
            format!("upgrade it to 1.{OLDEST_MINOR} or newer"),
        ))
    };
    either(judge())
}

/// `(1, 30)` of `v1.30.2-gke.1`.
fn pair(version: &str) -> Option<(u64, u64)> {
    let mut numbers = version
        .trim_start_matches('v')
        .split(|c: char| !c.is_ascii_digit());
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

pub fn nodes(needs: &Needs, nodes: &Answer, pods: &Answer) -> Vec<Finding> {
    let answers = found("nodes", nodes, "see whether this is a cluster")
        .and_then(|nodes| Ok((nodes, found("pods", pods, "see whether this is a cluster")?)));
    let (nodes, pods) = match answers {
        Ok(answers) => answers,
        Err(finding) => return vec![finding],
    };
    let free: Vec<Room> = items(nodes)
        .filter(|node| takes_pods(node))
        .map(|node| free_room(node, pods, &needs.own_namespaces))
        .collect();
    vec![
        node_count(needs.nodes, free.len()),
        total_room(needs, &free),
        largest_pod(needs, &free),
    ]
}

fn node_count(needed: u64, usable: usize) -> Finding {
    let says = format!("{usable} take pods, and {needed} are needed");
    if usable as u64 >= needed {
        return Finding::ok("nodes", says);
    }
    Finding::wrong(
        "nodes",
        says,
        "add nodes: two servers of the broker never run on one",
    )
}

fn total_room(needs: &Needs, free: &[Room]) -> Finding {
    let free: Room = free.iter().copied().sum();
    let says = format!(
        "{} are free, {} are needed at the least number of copies, {} more while all are rolled out, {} at the most number",
        shown(free),
        shown(needs.least),
        shown(needs.rollout),
        shown(needs.most)
    );
    if !free.holds(needs.least) {
        return Finding::wrong("room", says, "add nodes, or larger ones");
    }
    if !free.holds(needs.least + needs.rollout) {
        return Finding::warning("room", says, "add nodes, or a release waits for room");
    }
    if !free.holds(needs.most) {
        return Finding::warning("room", says, "let nodes be added while autoscalers add copies");
    }
    Finding::ok("room", says)
}

fn largest_pod(needs: &Needs, free: &[Room]) -> Finding {
    let (name, room) = &needs.largest;
    let says = format!("{name} asks for {}", shown(*room));
    if free.iter().any(|free| free.holds(*room)) {
        return Finding::ok("largest pod", says);
    }
    Finding::wrong(
        "largest pod",
        format!("{says}, which no node has free"),
        "add a larger node, or leave its component out of the overlay",
    )
}

/// Room as Kubernetes writes it.
fn shown(room: Room) -> String {
    format!("{}m CPU and {}Mi", room.cpu, room.memory / 1000 / 1024 / 1024)
}

/// Whether pods that tolerate nothing are put there.
fn takes_pods(node: &Value) -> bool {
    let spec = &node["spec"];
    let mut taints = spec["taints"].as_array().into_iter().flatten();
    let is_kept_free = taints.any(|taint| taint["effect"] != "PreferNoSchedule");
    is_true(&node["status"], "Ready") && spec["unschedulable"] != true && !is_kept_free
}

/// What a node has free, where the overlay's own pods are not counted that run already.
fn free_room(node: &Value, pods: &Value, own_namespaces: &BTreeSet<String>) -> Room {
    let is_others = |pod: &&Value| {
        let namespace = pod["metadata"]["namespace"].as_str().unwrap_or_default();
        pod["spec"]["nodeName"] == node["metadata"]["name"] && !own_namespaces.contains(namespace)
    };
    let taken = items(pods)
        .filter(is_others)
        .map(|pod| Room::of_pod(&pod["spec"]))
        .sum();
    Room::of(&node["status"]["allocatable"]).without(taken)
}

fn is_true(status: &Value, condition: &str) -> bool {
    let mut conditions = status["conditions"].as_array().into_iter().flatten();
    conditions.any(|found| found["type"] == condition && found["status"] == "True")
}

pub fn storage_class(answer: &Answer, volumes: u64) -> Finding {
    let what = "default storage class";
    let remedy = format!(
        "annotate one with {DEFAULT_CLASS}=true, or name one in the overlay: {volumes} volumes want it"
    );
    let judge = || {
        let classes = found(what, answer, &remedy)?;
        let is_default = |class: &&Value| class["metadata"]["annotations"][DEFAULT_CLASS] == "true";
        let class = items(classes).find(is_default);
        let class = class.ok_or_else(|| Finding::wrong(what, "there is none", remedy.as_str()))?;
        let name = class["metadata"]["name"].as_str().unwrap_or_default();
        Ok(Finding::ok(what, format!("{name}, for {volumes} volumes")))
    };
    either(judge())
}

pub fn api(version: &str, kinds: &BTreeSet<String>, answer: &Answer) -> Finding {
    let group = version.split('/').next().unwrap_or_default();
    let brings = BRINGS.iter().find(|(name, _)| *name == group);
    let brings = brings.map_or("what brings it", |(_, brings)| brings);
    let remedy = format!("install {brings}");
    let judge = || {
        let known = found(version, answer, &remedy)?;
        let known: BTreeSet<&str> = known["resources"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|resource| resource["kind"].as_str())
            .collect();
        let missing: Vec<&str> = kinds
            .iter()
            .map(String::as_str)
            .filter(|kind| !known.contains(kind))
            .collect();
        if missing.is_empty() {
            let kinds: Vec<&str> = kinds.iter().map(String::as_str).collect();
            return Ok(Finding::ok(version, kinds.join(", ")));
        }
        let says = format!("{} is not known", missing.join(", "));
        Err(Finding::wrong(version, says, remedy.as_str()))
    };
    either(judge())
}

pub fn gateway_api(routes: &Answer) -> Finding {
    let what = "release of the Gateway API";
    let (major, minor) = OLDEST_GATEWAY_API;
    let remedy = format!("install {major}.{minor} or newer: older ones have no timeouts");
    let judge = || {
        let release = &found(what, routes, &remedy)?["metadata"]["annotations"][BUNDLE];
        let release = release.as_str().unwrap_or("not told");
        if pair(release).is_some_and(|release| release >= OLDEST_GATEWAY_API) {
            return Ok(Finding::ok(what, release));
        }
        Err(Finding::wrong(what, release, remedy.as_str()))
    };
    either(judge())
}

pub fn gateway(wanted: &ParentGateway, answer: &Answer) -> Finding {
    let mut what = format!("Gateway {}/{}", wanted.namespace, wanted.name);
    what.extend(
        wanted
            .listener
            .iter()
            .map(|listener| format!(", listener {listener}")),
    );
    let judge = || {
        let gateway = found(
            &what,
            answer,
            "make one (k8s/examples/gateway), or name yours in the overlay",
        )?;
        let listeners = gateway["spec"]["listeners"].as_array().into_iter().flatten();
        let mut named = listeners.filter(|listener| {
            let is_named = |name: &String| listener["name"] == name.as_str();
            wanted.listener.as_ref().is_none_or(is_named)
        });
        let Some(listener) = named.next() else {
            return Err(Finding::wrong(
                &*what,
                "it has no such listener",
                "add it to the Gateway",
            ));
        };
        let from = listener["allowedRoutes"]["namespaces"]["from"].as_str();
        if from.unwrap_or("Same") == "Same" && wanted.namespace != wanted.route_namespace {
            let remedy = format!(
                "let its allowedRoutes take those of the namespace {}",
                wanted.route_namespace
            );
            return Err(Finding::wrong(
                &*what,
                "it takes routes of its own namespace alone",
                remedy,
            ));
        }
        if !is_true(&gateway["status"], "Programmed") {
            let remedy = "see `kubectl describe` of it: its controller has not set it up";
            return Err(Finding::wrong(&*what, "it is not programmed", remedy));
        }
        Ok(Finding::ok(&*what, "programmed"))
    };
    either(judge())
}

pub fn namespace(labels: &BTreeMap<String, String>, namespaces: &Answer) -> Finding {
    let labels_shown: Vec<String> = labels
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    let labels_shown = labels_shown.join(",");
    let what = format!("namespace of the network policies, {labels_shown}");
    let judge = || {
        let namespaces = found(&what, namespaces, "see whether this is a cluster")?;
        let fits = |namespace: &&Value| {
            let has = &namespace["metadata"]["labels"];
            labels.iter().all(|(name, value)| has[name] == value.as_str())
        };
        let fitting: Vec<&str> = items(namespaces)
            .filter(fits)
            .filter_map(|namespace| namespace["metadata"]["name"].as_str())
            .collect();
        if fitting.is_empty() {
            let is_by_name = labels.contains_key("kubernetes.io/metadata.name");
            let remedy = if is_by_name {
                "install what belongs there, or take another component (docs/operations.md)".to_owned()
            } else {
                format!("kubectl label namespace <whose pods call> {labels_shown}")
            };
            return Err(Finding::wrong(&*what, "no namespace has it", remedy));
        }
        Ok(Finding::ok(&*what, fitting.join(", ")))
    };
    either(judge())
}

pub fn secret_store(store: &SecretStore, answer: &Answer) -> Finding {
    let what = match &store.namespace {
        None => format!("ClusterSecretStore {}", store.name),
        Some(namespace) => format!("SecretStore {namespace}/{}", store.name),
    };
    let judge = || {
        let store = found(
            &what,
            answer,
            "make it: it says where External Secrets finds your secrets",
        )?;
        if is_true(&store["status"], "Ready") {
            return Ok(Finding::ok(&*what, "ready"));
        }
        Err(Finding::wrong(
            &*what,
            "it is not ready",
            "see `kubectl describe` of it",
        ))
    };
    either(judge())
}

pub fn pull_secret(secret: &Named, answer: &Answer) -> Finding {
    let what = format!("pull secret {}/{}", secret.namespace, secret.name);
    let remedy = format!(
        "kubectl -n {} create secret docker-registry {}",
        secret.namespace, secret.name
    );
    let judge = || {
        let secret = found(&what, answer, &remedy)?;
        match secret["type"].as_str() {
            Some("kubernetes.io/dockerconfigjson") => Ok(Finding::ok(&*what, "there")),
            other => {
                let says = format!("it is of the type {}", other.unwrap_or("Opaque"));
                Err(Finding::wrong(&*what, says, remedy.as_str()))
            }
        }
    };
    either(judge())
}
