//! The cluster's network on one machine: a network namespace for each pod, routed by the namespace that this process is in, which
//! translates the addresses of services (kube-proxy), knows names (DNS, by a hosts file), and lets through what the network policies
//! allow (CNI), by nftables.

use std::{
    collections::BTreeMap,
    fmt::Write as _,
    fs::{self, File, OpenOptions},
    io::Write as _,
    net::Ipv4Addr,
    os::unix::fs::FileExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use anyhow::Context as _;
use k8s_openapi::{
    api::{
        core::v1::{Pod, Service},
        networking::v1::{NetworkPolicy, NetworkPolicyPeer, NetworkPolicyPort},
    },
    apimachinery::pkg::{apis::meta::v1::LabelSelector, util::intstr::IntOrString},
};

use crate::manifests::{name_of, port_number};

/// What each pod sends everything to.
const ROUTER: &str = "169.254.1.1";
/// The addresses of services.
const SERVICES: &str = "10.96.0.0/16";
/// Written whole at each change, so that nobody reads a half of it.
const HOSTS_BYTES: usize = 16 * 1024;
/// The label that each namespace carries its name in.
const NAMESPACE_NAME: &str = "kubernetes.io/metadata.name";

/// A namespace's labels, by its name.
pub type Namespaces = BTreeMap<String, BTreeMap<String, String>>;

/// A pod, as the network knows it.
#[derive(Clone)]
pub struct Endpoint {
    pub pod: Pod,
    pub address: Ipv4Addr,
    pub is_ready: bool,
}

impl Endpoint {
    /// Its namespace.
    pub fn namespace(&self) -> &str {
        self.pod.metadata.namespace.as_deref().unwrap_or_default()
    }

    /// Whether a selector takes it, in whatever namespace.
    pub fn matches(&self, selector: &LabelSelector) -> bool {
        let empty = BTreeMap::new();
        selects(selector, self.pod.metadata.labels.as_ref().unwrap_or(&empty))
    }

    /// The number of a port that may be named.
    fn port(&self, port: &IntOrString) -> Option<i32> {
        port_number(port, self.pod.spec.iter().flat_map(|spec| &spec.containers))
    }
}

/// Whether a selector takes these labels.
pub fn selects(selector: &LabelSelector, labels: &BTreeMap<String, String>) -> bool {
    let exact = selector.match_labels.iter().flatten();
    let listed = selector.match_expressions.iter().flatten();
    exact
        .into_iter()
        .all(|(key, value)| labels.get(key) == Some(value))
        && listed.into_iter().all(|expression| {
            let value = labels.get(&expression.key);
            let values = expression.values.as_deref().unwrap_or_default();
            match expression.operator.as_str() {
                "In" => value.is_some_and(|value| values.contains(value)),
                "NotIn" => value.is_none_or(|value| !values.contains(value)),
                "Exists" => value.is_some(),
                "DoesNotExist" => value.is_none(),
                _ => false,
            }
        })
}

/// The network.
pub struct Network {
    hosts: PathBuf,
    services: Vec<(Service, Option<Ipv4Addr>)>,
    policies: Vec<NetworkPolicy>,
    namespaces: Namespaces,
    /// Names of what lies outside the cluster.
    outside: Vec<(String, Ipv4Addr)>,
    endpoints: BTreeMap<String, Endpoint>,
    next: u8,
}

impl Network {
    /// Sets up the node's part. This process must be in a network namespace and a mount namespace of its own.
    ///
    /// # Errors
    ///
    /// If the system's tools refuse something, as without the rights of root.
    pub fn set_up(
        folder: &Path,
        services: Vec<Service>,
        policies: Vec<NetworkPolicy>,
        namespaces: Namespaces,
        outside: Vec<(String, Ipv4Addr)>,
    ) -> anyhow::Result<Self> {
        run("mount", &["-t", "tmpfs", "tmpfs", "/run/netns"]).or_else(|_| {
            fs::create_dir_all("/run/netns")?;
            run("mount", &["-t", "tmpfs", "tmpfs", "/run/netns"])
        })?;
        run("ip", &["link", "set", "lo", "up"])?;
        fs::write("/proc/sys/net/ipv4/ip_forward", "1")?;
        let services = (1..).zip(services).map(|(number, service)| {
            let is_headless =
                service.spec.as_ref().and_then(|spec| spec.cluster_ip.as_deref()) == Some("None");
            let address = (!is_headless).then(|| Ipv4Addr::new(10, 96, 0, number));
            (service, address)
        });
        let network = Self {
            hosts: folder.join("hosts"),
            services: services.collect(),
            policies,
            namespaces,
            outside,
            endpoints: BTreeMap::new(),
            next: 1,
        };
        for (_, address) in &network.outside {
            network.add_address(*address)?;
        }
        network.apply()?;
        Ok(network)
    }

    /// Has the node answer at an address that is no pod's.
    ///
    /// # Errors
    ///
    /// If the system refuses it.
    pub fn add_address(&self, address: Ipv4Addr) -> anyhow::Result<()> {
        run("ip", &["address", "add", &format!("{address}/32"), "dev", "lo"])
    }

    /// What lies outside the cluster, by name.
    pub fn outside(&self) -> &[(String, Ipv4Addr)] {
        &self.outside
    }

    /// The file that says which name is at which address.
    pub fn hosts(&self) -> &Path {
        &self.hosts
    }

    /// All pods that there are.
    pub fn endpoints(&self) -> impl Iterator<Item = (&String, &Endpoint)> {
        self.endpoints.iter()
    }

    /// The address of a pod.
    pub fn address(&self, pod: &str) -> Option<Ipv4Addr> {
        Some(self.endpoints.get(pod)?.address)
    }

    /// The address of a service that has one.
    pub fn service_address(&self, name: &str) -> Option<Ipv4Addr> {
        let mut ours = self.services.iter();
        ours.find(|(service, _)| name_of(&service.metadata) == name)?.1
    }

    /// Gives a pod its namespace and address.
    ///
    /// # Errors
    ///
    /// If the system's tools refuse something, or there are no addresses left.
    pub fn join(&mut self, pod: &Pod) -> anyhow::Result<Ipv4Addr> {
        let name = name_of(&pod.metadata).to_owned();
        let address = Ipv4Addr::new(10, 244, 0, self.next);
        let device = format!("veth{}", self.next);
        self.next = self.next.checked_add(1).context("there are no addresses left")?;
        run("ip", &["netns", "add", &name])?;
        let batch = format!(
            "link add {device} type veth peer name eth0 netns {name}\n\
             address add {ROUTER}/32 dev {device}\n\
             link set {device} up\n\
             route add {address}/32 dev {device}\n"
        );
        run_with_input("ip", &["-batch", "-"], &batch)?;
        let batch = format!(
            "link set lo up\n\
             address add {address}/32 dev eth0\n\
             link set eth0 up\n\
             route add {ROUTER}/32 dev eth0\n\
             route add default via {ROUTER}\n"
        );
        run_with_input("ip", &["-n", &name, "-batch", "-"], &batch)?;
        let endpoint = Endpoint {
            pod: pod.clone(),
            address,
            is_ready: false,
        };
        self.endpoints.insert(name, endpoint);
        self.apply()?;
        Ok(address)
    }

    /// Says whether services may send to a pod.
    ///
    /// # Errors
    ///
    /// If the rules are refused.
    pub fn set_ready(&mut self, name: &str, is_ready: bool) -> anyhow::Result<()> {
        match self.endpoints.get_mut(name) {
            Some(endpoint) if endpoint.is_ready != is_ready => endpoint.is_ready = is_ready,
            _ => return Ok(()),
        }
        self.apply()
    }

    /// Takes a pod that has ended out of the network.
    ///
    /// # Errors
    ///
    /// If the system's tools refuse something.
    pub fn leave(&mut self, name: &str) -> anyhow::Result<()> {
        self.endpoints.remove(name);
        run("ip", &["netns", "delete", name])?;
        self.apply()
    }

    fn apply(&self) -> anyhow::Result<()> {
        let mut hosts = self.names();
        anyhow::ensure!(hosts.len() <= HOSTS_BYTES, "too many names");
        hosts.push_str(&" ".repeat(HOSTS_BYTES - hosts.len() - 1));
        hosts.push('\n');
        let file: File = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&self.hosts)?;
        file.write_all_at(hosts.as_bytes(), 0)?;
        run_with_input("nft", &["-f", "-"], &self.rules())
    }

    /// Names as a cluster's DNS has them, from the short one to the whole.
    fn names(&self) -> String {
        let mut hosts = "127.0.0.1 localhost\n".to_owned();
        for (name, address) in &self.outside {
            _ = writeln!(hosts, "{address} {name}");
        }
        for (service, address) in &self.services {
            let name = name_of(&service.metadata);
            let namespace = service.metadata.namespace.as_deref().unwrap_or_default();
            let mut add = |address: Ipv4Addr, name: &str| {
                _ = writeln!(
                    hosts,
                    "{address} {name} {name}.{namespace} {name}.{namespace}.svc {name}.{namespace}.svc.cluster.local"
                );
            };
            match address {
                Some(address) => add(*address, name),
                None => {
                    for (pod, endpoint) in self.behind(service) {
                        add(endpoint.address, name);
                        add(endpoint.address, &format!("{pod}.{name}"));
                    }
                }
            }
        }
        hosts
    }

    /// The pods that a service sends to.
    fn behind<'a>(&'a self, service: &'a Service) -> impl Iterator<Item = (&'a String, &'a Endpoint)> {
        let spec = service.spec.as_ref();
        let selector = LabelSelector {
            match_labels: spec.and_then(|spec| spec.selector.clone()),
            match_expressions: None,
        };
        let any = spec.and_then(|spec| spec.publish_not_ready_addresses) == Some(true);
        let namespace = service.metadata.namespace.as_deref().unwrap_or_default();
        self.endpoints.iter().filter(move |(_, endpoint)| {
            (any || endpoint.is_ready) && endpoint.namespace() == namespace && endpoint.matches(&selector)
        })
    }

    /// All rules: they take the place of those before at once.
    fn rules(&self) -> String {
        let mut rules = "flush ruleset\n".to_owned();
        self.translate(&mut rules);
        rules.push_str("table ip filter {\n");
        for (name, endpoint) in &self.endpoints {
            for direction in Direction::BOTH {
                self.chain(&mut rules, name, endpoint, direction);
            }
        }
        // What the node itself sends is what a kubelet does, whom policies do not hold up.
        for (hook, directions) in [
            ("forward", &Direction::BOTH[..]),
            ("input", &Direction::BOTH[..1]),
        ] {
            _ = writeln!(
                rules,
                "  chain {hook} {{\n    type filter hook {hook} priority filter; policy accept;\n    \
                 ct state established,related accept\n    ip daddr {SERVICES} reject with tcp reset"
            );
            for direction in directions {
                for (name, endpoint) in &self.endpoints {
                    let (field, chain) = (direction.own_address(), direction.chain(name));
                    _ = writeln!(rules, "    ip {field} {} jump {chain}", endpoint.address);
                }
            }
            rules.push_str("  }\n");
        }
        rules.push_str("}\n");
        rules
    }

    /// Leads what is sent to a service to one of the pods behind it.
    fn translate(&self, rules: &mut String) {
        rules.push_str(
            "table ip nat {\n  chain prerouting {\n    type nat hook prerouting priority dstnat;\n",
        );
        for (service, address) in &self.services {
            let Some(address) = address else { continue };
            let ports = service.spec.iter().flat_map(|spec| spec.ports.iter().flatten());
            for port in ports {
                let target = port.target_port.clone().unwrap_or(IntOrString::Int(port.port));
                let pods = self.behind(service).filter_map(|(_, endpoint)| {
                    let number = endpoint.port(&target)?;
                    Some(format!("{} . {number}", endpoint.address))
                });
                let pods: Vec<String> = (0..)
                    .zip(pods)
                    .map(|(number, pod): (u32, _)| format!("{number} : {pod}"))
                    .collect();
                if !pods.is_empty() {
                    let (port, count, pods) = (port.port, pods.len(), pods.join(", "));
                    _ = writeln!(
                        rules,
                        "    ip daddr {address} tcp dport {port} dnat to numgen random mod {count} map {{ {pods} }}"
                    );
                }
            }
        }
        rules.push_str("  }\n}\n");
    }

    /// What a pod may send, or be sent: whatever a policy of that direction allows, or all where none selects it.
    fn chain(&self, rules: &mut String, name: &str, endpoint: &Endpoint, direction: Direction) {
        _ = writeln!(rules, "  chain {} {{", direction.chain(name));
        let mut is_isolated = false;
        for policy in &self.policies {
            let Some(spec) = &policy.spec else { continue };
            let is_of_direction = spec
                .policy_types
                .iter()
                .flatten()
                .any(|named| named == direction.name());
            let is_ours = policy.metadata.namespace.as_deref() == Some(endpoint.namespace())
                && endpoint.matches(&spec.pod_selector.clone().unwrap_or_default());
            if !(is_of_direction && is_ours) {
                continue;
            }
            is_isolated = true;
            let allowed: Vec<_> = match direction {
                Direction::Egress => {
                    let rules = spec.egress.iter().flatten();
                    rules
                        .map(|rule| (rule.to.as_deref(), rule.ports.as_deref()))
                        .collect()
                }
                Direction::Ingress => {
                    let rules = spec.ingress.iter().flatten();
                    rules
                        .map(|rule| (rule.from.as_deref(), rule.ports.as_deref()))
                        .collect()
                }
            };
            for (peers, ports) in allowed {
                for peer in self.peers(peers, endpoint.namespace(), direction) {
                    for port in ports_of(ports, endpoint) {
                        _ = writeln!(rules, "    {peer} {port} return");
                    }
                }
            }
        }
        rules.push_str(if is_isolated { "    drop\n  }\n" } else { "  }\n" });
    }

    /// Each peer that a rule names, as a match; without any it is everybody.
    fn peers(
        &self,
        peers: Option<&[NetworkPolicyPeer]>,
        namespace: &str,
        direction: Direction,
    ) -> Vec<String> {
        let field = direction.peer_address();
        let Some(peers) = peers.filter(|peers| !peers.is_empty()) else {
            return vec![String::new()];
        };
        let match_of = |peer: &NetworkPolicyPeer| -> Option<String> {
            if let Some(block) = &peer.ip_block {
                // There is no IPv6 here.
                if block.cidr.contains(':') {
                    return None;
                }
                let except = block
                    .except
                    .iter()
                    .flatten()
                    .map(String::as_str)
                    .collect::<Vec<_>>();
                let but = (!except.is_empty()).then(|| format!(" ip {field} != {{ {} }}", except.join(", ")));
                return Some(format!("ip {field} {}{}", block.cidr, but.unwrap_or_default()));
            }
            let addresses = self.endpoints.values().filter(|endpoint| {
                let in_namespace = match &peer.namespace_selector {
                    Some(selector) => selects(selector, &self.labels_of(endpoint.namespace())),
                    None => endpoint.namespace() == namespace,
                };
                in_namespace && endpoint.matches(&peer.pod_selector.clone().unwrap_or_default())
            });
            let addresses: Vec<String> = addresses.map(|endpoint| endpoint.address.to_string()).collect();
            (!addresses.is_empty()).then(|| format!("ip {field} {{ {} }}", addresses.join(", ")))
        };
        peers.iter().filter_map(match_of).collect()
    }

    fn labels_of(&self, namespace: &str) -> BTreeMap<String, String> {
        let mut labels = self.namespaces.get(namespace).cloned().unwrap_or_default();
        labels.insert(NAMESPACE_NAME.to_owned(), namespace.to_owned());
        labels
    }
}

/// Each port that a rule names, as a match; without any it is every port.
fn ports_of(ports: Option<&[NetworkPolicyPort]>, endpoint: &Endpoint) -> Vec<String> {
    let Some(ports) = ports.filter(|ports| !ports.is_empty()) else {
        return vec![String::new()];
    };
    let match_of = |port: &NetworkPolicyPort| {
        let protocol = port.protocol.as_deref().unwrap_or("TCP").to_lowercase();
        let first = endpoint.port(port.port.as_ref()?)?;
        let last = port.end_port.map_or_else(String::new, |last| format!("-{last}"));
        Some(format!("{protocol} dport {first}{last}"))
    };
    ports.iter().filter_map(match_of).collect()
}

#[derive(Clone, Copy)]
enum Direction {
    Egress,
    Ingress,
}

impl Direction {
    const BOTH: [Self; 2] = [Self::Egress, Self::Ingress];

    fn name(self) -> &'static str {
        match self {
            Self::Egress => "Egress",
            Self::Ingress => "Ingress",
        }
    }

    /// The field that holds the pod's own address.
    fn own_address(self) -> &'static str {
        match self {
            Self::Egress => "saddr",
            Self::Ingress => "daddr",
        }
    }

    fn peer_address(self) -> &'static str {
        match self {
            Self::Egress => "daddr",
            Self::Ingress => "saddr",
        }
    }

    fn chain(self, pod: &str) -> String {
        format!("{}_{}", self.name(), pod.replace(['-', '.'], "_"))
    }
}

/// Runs a program of the system to its end.
fn run(program: &str, arguments: &[&str]) -> anyhow::Result<()> {
    run_with_input(program, arguments, "")
}

fn run_with_input(program: &str, arguments: &[&str], input: &str) -> anyhow::Result<()> {
    let mut command = Command::new(program);
    command
        .args(arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let mut child = command
        .spawn()
        .with_context(|| format!("{program} cannot be run"))?;
    let mut stdin = child.stdin.take().context("a pipe")?;
    stdin.write_all(input.as_bytes())?;
    drop(stdin);
    let output = child.wait_with_output()?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    anyhow::ensure!(
        output.status.success(),
        "{program} {}: {complaint}{input}",
        arguments.join(" ")
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn selector(value: serde_json::Value) -> LabelSelector {
        serde_json::from_value(value).expect("a selector")
    }

    #[test]
    fn a_selector_takes_labels_as_a_cluster_does() {
        let labels = BTreeMap::from([("app".to_owned(), "nats".to_owned())]);
        let expression = |operator: &str, key: &str, values: &[&str]| {
            let expression = serde_json::json!({ "key": key, "operator": operator, "values": values });
            selector(serde_json::json!({ "matchExpressions": [expression] }))
        };
        for (selector, is_taken) in [
            (selector(serde_json::json!({})), true),
            (
                selector(serde_json::json!({ "matchLabels": { "app": "nats" } })),
                true,
            ),
            (
                selector(serde_json::json!({ "matchLabels": { "app": "gateway" } })),
                false,
            ),
            (expression("In", "app", &["gateway", "nats"]), true),
            (expression("In", "tier", &["nats"]), false),
            (expression("NotIn", "app", &["nats"]), false),
            (expression("NotIn", "tier", &["nats"]), true),
            (expression("Exists", "app", &[]), true),
            (expression("DoesNotExist", "app", &[]), false),
        ] {
            assert_eq!(selects(&selector, &labels), is_taken, "{selector:?}");
        }
    }
}
