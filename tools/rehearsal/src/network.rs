//! Pod network: a network namespace per pod, a hosts file that resolves services to ready pods, and nftables rules that
//! enforce the network policies.

use std::{
    collections::BTreeMap,
    ffi::OsStr,
    fmt::Write as _,
    fs::{self, OpenOptions},
    net::Ipv4Addr,
    os::unix::fs::FileExt,
    process::Command,
    time::Instant,
};

use anyhow::Context as _;
use serde_json::{Value, json};

use crate::{
    container::{HOSTS, Node},
    manifests::{Manifests, Pod, list, name_of, text, texts},
    outside,
    visitors::{FRONT_DOOR, GATEWAYS},
};

const SCRIPT: &str = "tools/rehearsal/scripts/network.sh";
/// Fixed size of the hosts file. One write replaces it, so no reader sees half of it.
const HOSTS_BYTES: usize = 16 * 1024;

pub struct Endpoint {
    pub pod: Pod,
    pub address: Ipv4Addr,
    /// `None` while the pod is not ready.
    ready_since: Option<Instant>,
}

pub struct Network {
    node: Node,
    services: Vec<Value>,
    policies: Vec<Value>,
    pub outside: Vec<(String, Ipv4Addr)>,
    pub endpoints: BTreeMap<String, Endpoint>,
    next: u8,
}

impl Network {
    /// Sets up the node's side and the visitors' pod. The process needs its own network and mount namespaces.
    ///
    /// # Errors
    ///
    /// If a command fails, for example without root.
    pub fn set_up(node: &Node, manifests: &Manifests) -> anyhow::Result<Self> {
        run(node.root.join(SCRIPT), &["up"])?;
        let places = outside::places(manifests)?;
        let mut network = Self {
            node: node.clone(),
            services: manifests.of_kind("Service").cloned().collect(),
            policies: manifests.of_kind("NetworkPolicy").cloned().collect(),
            outside: places.map(|place| (place.host, place.address)).into(),
            endpoints: BTreeMap::new(),
            next: 1,
        };
        for (_, address) in &network.outside {
            add_address(*address)?;
        }
        network.join(&Pod::new(&json!({}), FRONT_DOOR, GATEWAYS))?;
        Ok(network)
    }

    pub fn ready(&self, name: &str) -> Vec<&Endpoint> {
        let services = self.services.iter().filter(|service| name_of(service) == name);
        services.flat_map(|service| self.behind(service)).collect()
    }

    /// Creates a pod's namespace and address.
    ///
    /// # Errors
    ///
    /// If a command fails, or no address is left.
    pub fn join(&mut self, pod: &Pod) -> anyhow::Result<Ipv4Addr> {
        let name = &pod.name;
        let address = Ipv4Addr::new(10, 244, 0, self.next);
        let device = format!("veth{}", self.next);
        self.next = self.next.checked_add(1).context("there are no addresses left")?;
        let links = ["join", name, &address.to_string(), &device];
        run(self.node.root.join(SCRIPT), &links)?;
        let endpoint = Endpoint {
            pod: pod.clone(),
            address,
            ready_since: None,
        };
        self.endpoints.insert(name.clone(), endpoint);
        self.apply()?;
        Ok(address)
    }

    /// Adds a pod to its services' addresses, or removes it.
    pub fn set_ready(&mut self, name: &str, is_ready: bool) -> anyhow::Result<()> {
        match self.endpoints.get_mut(name) {
            Some(endpoint) if endpoint.ready_since.is_some() != is_ready => {
                endpoint.ready_since = is_ready.then(Instant::now);
                self.apply()
            }
            _ => Ok(()),
        }
    }

    pub fn ready_since(&self, name: &str) -> Option<Instant> {
        self.endpoints.get(name)?.ready_since
    }

    pub fn leave(&mut self, name: &str) -> anyhow::Result<()> {
        self.endpoints.remove(name);
        run("ip", &["netns", "delete", name])?;
        self.apply()
    }

    fn apply(&self) -> anyhow::Result<()> {
        let names = self.names();
        anyhow::ensure!(names.len() < HOSTS_BYTES, "too many names");
        let names = format!("{names:<HOSTS_BYTES$}\n");
        let mut options = OpenOptions::new();
        let file = options
            .create(true)
            .truncate(false)
            .write(true)
            .open(self.node.folder.join(HOSTS))?;
        file.write_all_at(names.as_bytes(), 0)?;
        let rules = self.node.folder.join("rules.nft");
        fs::write(&rules, self.rules())?;
        run("nft", &["-f", &rules.to_string_lossy()])
    }

    /// Hosts file with the names that the cluster's DNS would resolve.
    fn names(&self) -> String {
        let mut hosts = "127.0.0.1 localhost\n".to_owned();
        for (name, address) in &self.outside {
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
            (any || endpoint.ready_since.is_some())
                && service["metadata"]["namespace"] == endpoint.pod.namespace.as_str()
                && selects(&selector, &endpoint.pod.labels)
        })
    }

    /// Rules that replace the previous ones atomically.
    fn rules(&self) -> String {
        let mut rules = "flush ruleset\n".to_owned();
        rules.push_str("table ip filter {\n");
        for endpoint in self.endpoints.values() {
            for direction in [EGRESS, INGRESS] {
                self.chain(&mut rules, endpoint, direction);
            }
        }
        // Policies do not apply to the node's own traffic, such as a kubelet's probes.
        for (hook, directions) in [("forward", &[EGRESS, INGRESS][..]), ("input", &[EGRESS])] {
            _ = writeln!(
                rules,
                "  chain {hook} {{\n    type filter hook {hook} priority filter; policy accept;\n    \
                 ct state established,related accept"
            );
            for direction in directions {
                for endpoint in self.endpoints.values() {
                    let (chain, [.., own, _]) = (chain(&endpoint.pod, *direction), direction);
                    _ = writeln!(rules, "    ip {own} {} jump {chain}", endpoint.address);
                }
            }
            rules.push_str("  }\n");
        }
        rules.push_str("}\n");
        rules
    }

    /// Adds a pod's rules. If no policy selects the pod, everything is allowed.
    fn chain(&self, rules: &mut String, endpoint: &Endpoint, direction: Direction) {
        let pod = &endpoint.pod;
        let [policy_type, rules_field, peers_field, ..] = direction;
        _ = writeln!(rules, "  chain {} {{", chain(pod, direction));
        let ours = self.policies.iter().filter(|policy| {
            list(&policy["spec"]["policyTypes"]).any(|named| named == policy_type)
                && policy["metadata"]["namespace"] == pod.namespace.as_str()
                && selects(&policy["spec"]["podSelector"], &pod.labels)
        });
        let mut is_isolated = false;
        for policy in ours {
            is_isolated = true;
            for rule in list(&policy["spec"][rules_field]) {
                for peer in self.peers(&rule[peers_field], pod, direction) {
                    for port in ports(&rule["ports"], pod) {
                        _ = writeln!(rules, "    {peer} {port} return");
                    }
                }
            }
        }
        rules.push_str(if is_isolated { "    drop\n  }\n" } else { "  }\n" });
    }

    /// A rule without peers allows every address.
    fn peers(&self, peers: &Value, pod: &Pod, direction: Direction) -> Vec<String> {
        if list(peers).next().is_none() {
            return vec![String::new()];
        }
        let [.., field] = direction;
        let match_of = |peer: &Value| {
            if let Some(cidr) = peer["ipBlock"]["cidr"].as_str() {
                let except: Vec<&str> = list(&peer["ipBlock"]["except"]).map(text).collect();
                let but = (!except.is_empty()).then(|| format!(" ip {field} != {{ {} }}", except.join(", ")));
                // The pod network has no IPv6.
                return (!cidr.contains(':'))
                    .then(|| format!("ip {field} {cidr}{}", but.unwrap_or_default()));
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
        };
        list(peers).filter_map(match_of).collect()
    }
}

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

/// A rule without ports allows every port.
fn ports(ports: &Value, pod: &Pod) -> Vec<String> {
    if list(ports).next().is_none() {
        return vec![String::new()];
    }
    let match_of = |port: &Value| {
        let protocol = port["protocol"].as_str().unwrap_or("TCP").to_lowercase();
        Some(format!("{protocol} dport {}", pod.port(&port["port"])?))
    };
    list(ports).filter_map(match_of).collect()
}

/// Policy type, field of rules, field of peers, and the packet fields of the pod's and the peer's address.
type Direction = [&'static str; 5];

const EGRESS: Direction = ["Egress", "egress", "to", "saddr", "daddr"];
const INGRESS: Direction = ["Ingress", "ingress", "from", "daddr", "saddr"];

fn chain(pod: &Pod, [policy_type, ..]: Direction) -> String {
    format!("{policy_type}_{}", pod.name.replace(['-', '.'], "_"))
}

fn run(program: impl AsRef<OsStr>, arguments: &[&str]) -> anyhow::Result<()> {
    let output = Command::new(program).args(arguments).output()?;
    let error = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(output.status.success(), "{arguments:?}: {error}");
    Ok(())
}
