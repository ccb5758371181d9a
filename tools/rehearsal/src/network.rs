//! Pod network: a network namespace per pod, a hosts file that resolves services to ready pods, and nftables rules that
//! enforce the network policies.

use std::{
    collections::BTreeMap, ffi::OsStr, fmt::Write as _, fs, net::Ipv4Addr, path::Path, process::Command,
};

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::{
    cluster::{FOLDER, SHARED},
    manifests::{Manifests, Pod, list, name_of, text, texts},
    outside::PLACES,
    visitors::{FRONT_DOOR, GATEWAYS},
};

const SCRIPT: &str = "tools/rehearsal/scripts/network.sh";

pub struct Endpoint {
    pub pod: Pod,
    pub address: Ipv4Addr,
    is_ready: bool,
}

pub struct Network {
    services: Vec<Value>,
    policies: Vec<Value>,
    pub endpoints: BTreeMap<String, Endpoint>,
    next: u8,
}

impl Network {
    /// Sets up the node's side and the visitors' pod. The process needs its own network and mount namespaces.
    pub fn set_up(manifests: &Manifests) -> anyhow::Result<Self> {
        run(testkit::root().join(SCRIPT), &["up"])?;
        for (.., address) in PLACES {
            add_address(address)?;
        }
        let mut network = Self {
            services: manifests.of_kind("Service").cloned().collect(),
            policies: manifests.of_kind("NetworkPolicy").cloned().collect(),
            endpoints: BTreeMap::new(),
            next: 1,
        };
        network.join(&Pod {
            name: FRONT_DOOR.to_owned(),
            namespace: GATEWAYS.to_owned(),
            ..Pod::default()
        })?;
        Ok(network)
    }

    pub fn ready(&self, service: &str) -> Vec<&Endpoint> {
        let services = self.services.iter().filter(|found| name_of(found) == service);
        services.flat_map(|service| self.behind(service)).collect()
    }

    /// Creates a pod's namespace and address.
    pub fn join(&mut self, pod: &Pod) -> anyhow::Result<Ipv4Addr> {
        let name = &pod.name;
        let address = Ipv4Addr::new(10, 244, 0, self.next);
        let device = format!("veth{}", self.next);
        self.next = self.next.checked_add(1).context("there are no addresses left")?;
        let links = ["join", name, &address.to_string(), &device];
        run(testkit::root().join(SCRIPT), &links)?;
        let endpoint = Endpoint {
            pod: pod.clone(),
            address,
            is_ready: false,
        };
        self.endpoints.insert(name.clone(), endpoint);
        self.apply()?;
        Ok(address)
    }

    /// Adds a pod to its services' addresses, or removes it.
    pub fn set_ready(&mut self, name: &str, is_ready: bool) -> anyhow::Result<()> {
        match self.endpoints.get_mut(name) {
            Some(endpoint) if endpoint.is_ready != is_ready => {
                endpoint.is_ready = is_ready;
                self.apply()
            }
            _ => Ok(()),
        }
    }

    pub fn is_ready(&self, name: &str) -> bool {
        self.endpoints.get(name).is_some_and(|endpoint| endpoint.is_ready)
    }

    pub fn leave(&mut self, name: &str) -> anyhow::Result<()> {
        self.endpoints.remove(name);
        run("ip", &["netns", "delete", name])?;
        self.apply()
    }

    fn apply(&self) -> anyhow::Result<()> {
        let hosts = Path::new(SHARED).join("hosts");
        let written = hosts.with_extension("new");
        fs::write(&written, self.hosts())?;
        // No reader sees half of the file.
        fs::rename(written, hosts)?;
        let rules = Path::new(FOLDER).join("rules.nft");
        fs::write(&rules, self.rules())?;
        run("nft", &["-f", &rules.to_string_lossy()])
    }

    /// Hosts file with the names that the cluster's DNS would resolve.
    fn hosts(&self) -> String {
        let mut hosts = "127.0.0.1 localhost\n".to_owned();
        for (name, _, address) in PLACES {
            _ = writeln!(hosts, "{address} {name}");
        }
        for service in &self.services {
            let name = name_of(service);
            for Endpoint { pod, address, .. } in self.behind(service) {
                _ = writeln!(hosts, "{address} {name} {}.{name}", pod.name);
            }
        }
        hosts
    }

    fn behind<'a>(&'a self, service: &'a Value) -> impl Iterator<Item = &'a Endpoint> {
        let selector = json!({ "matchLabels": service["spec"]["selector"] });
        let any = service["spec"]["publishNotReadyAddresses"] == true;
        self.endpoints.values().filter(move |endpoint| {
            (any || endpoint.is_ready)
                && service["metadata"]["namespace"] == endpoint.pod.namespace.as_str()
                && selects(&selector, &endpoint.pod.labels)
        })
    }

    /// Commands that replace the rules of all pods. If no policy selects a pod, everything is allowed.
    fn rules(&self) -> String {
        let mut rules = String::new();
        for [chain, policy_type, rules_field, peers_field, own, other] in [EGRESS, INGRESS] {
            _ = writeln!(rules, "flush chain ip filter {chain}");
            for Endpoint { pod, address, .. } in self.endpoints.values() {
                let add = format!("add rule ip filter {chain} ip {own} {address}");
                let policies = self.policies.iter().filter(|policy| {
                    policy["metadata"]["namespace"] == pod.namespace.as_str()
                        && list(&policy["spec"]["policyTypes"]).any(|named| named == policy_type)
                        && selects(&policy["spec"]["podSelector"], &pod.labels)
                });
                let policies: Vec<&Value> = policies.collect();
                for rule in policies
                    .iter()
                    .flat_map(|policy| list(&policy["spec"][rules_field]))
                {
                    for peer in list(&rule[peers_field]).filter_map(|peer| self.matching(peer, pod, other)) {
                        for port in list(&rule["ports"]) {
                            let protocol = port["protocol"].as_str().unwrap_or("TCP").to_lowercase();
                            _ = writeln!(rules, "{add} {peer} {protocol} dport {} return", port["port"]);
                        }
                    }
                }
                if !policies.is_empty() {
                    _ = writeln!(rules, "{add} drop");
                }
            }
        }
        rules
    }

    /// Match of a peer's packets; `None` if the peer has no address here.
    fn matching(&self, peer: &Value, pod: &Pod, field: &str) -> Option<String> {
        if let Some(cidr) = peer["ipBlock"]["cidr"].as_str() {
            let except: Vec<&str> = list(&peer["ipBlock"]["except"]).map(text).collect();
            // The pod network has no IPv6.
            return (!cidr.contains(':'))
                .then(|| format!("ip {field} {cidr} ip {field} != {{ {} }}", except.join(", ")));
        }
        let chosen = self.endpoints.values().filter(|endpoint| {
            let in_namespace = match &peer["namespaceSelector"] {
                Value::Null => endpoint.pod.namespace == pod.namespace,
                selector => selects(selector, &namespace_labels(&endpoint.pod.namespace)),
            };
            in_namespace && selects(&peer["podSelector"], &endpoint.pod.labels)
        });
        let addresses: Vec<String> = chosen.map(|endpoint| endpoint.address.to_string()).collect();
        (!addresses.is_empty()).then(|| format!("ip {field} {{ {} }}", addresses.join(", ")))
    }
}

/// Chain, policy type, field of rules, field of peers, and the packet fields of the pod's and the peer's address.
const EGRESS: [&str; 6] = ["from_pods", "Egress", "egress", "to", "saddr", "daddr"];
const INGRESS: [&str; 6] = ["to_pods", "Ingress", "ingress", "from", "daddr", "saddr"];

/// Adds an address outside the pod network to the node.
pub fn add_address(address: Ipv4Addr) -> anyhow::Result<()> {
    run("ip", &["address", "add", &format!("{address}/32"), "dev", "lo"])
}

/// An empty selector matches every object.
fn selects(selector: &Value, labels: &Value) -> bool {
    let listed = list(&selector["matchExpressions"]);
    texts(&selector["matchLabels"]).all(|(key, value)| labels[key] == value)
        && listed.into_iter().all(|expression| {
            // Tests in `k8s/tests` allow no operator but `In`.
            let values = &expression["values"];
            list(values).any(|value| *value == labels[text(&expression["key"])])
        })
}

fn namespace_labels(namespace: &str) -> Value {
    let is_ingress = (namespace == GATEWAYS).to_string();
    json!({ "kubernetes.io/metadata.name": namespace, "site/way-in": is_ingress })
}

fn run(program: impl AsRef<OsStr>, arguments: &[&str]) -> anyhow::Result<()> {
    let output = Command::new(program).args(arguments).output()?;
    let error = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{arguments:?}: {error}");
    Ok(())
}
