//! Who reaches whom: every connection between two workloads, from other namespaces and to the outside, tried. What has no program here,
//! or runs only now and then, is an empty pod with the labels of what is missing.

use std::{
    collections::BTreeSet,
    io::ErrorKind,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use futures_util::{StreamExt as _, TryStreamExt as _, future::try_join_all, stream};
use k8s_openapi::{
    api::core::v1::{Pod, PodTemplateSpec},
    apimachinery::pkg::apis::meta::v1::ObjectMeta,
};
use tokio::{net::TcpStream, time::timeout};

use crate::{
    flows::{EVERY_POD, Flow, OUTSIDE},
    kubelet::Shared,
    manifests::{name_of, pod_of},
    network::Endpoint,
    visitors::FRONT_DOOR,
    within::within,
};

/// The label that says what a pod is of.
const WORKLOAD: &str = "app.kubernetes.io/name";
/// A connection that takes longer is dropped by a policy.
const DROPPED_AFTER: Duration = Duration::from_millis(700);
/// One that is allowed may take longer, on a machine with much to do.
const ALLOWED_WITHIN: Duration = Duration::from_secs(5);
/// What the names of pods begin with that stand for a workload without one.
const EMPTY: &str = "empty-";
/// How many pods try at once.
const AT_ONCE: usize = 6;

type Label = Option<(&'static str, &'static str)>;

/// Pods of other namespaces, as docs/operations-flows.md calls them: the namespace, and a label. The last is nobody's, and says of
/// itself that it is the gateway.
const OTHERS: [(&str, &str, Label); 4] = [
    (
        "pods in namespace kubernetes.io/metadata.name=monitoring",
        "monitoring",
        None,
    ),
    (
        "pods in namespace kubernetes.io/metadata.name=keda, app=keda-operator",
        "keda",
        Some(("app", "keda-operator")),
    ),
    (
        "pods in namespace kubernetes.io/metadata.name=kube-system, k8s-app=kube-dns",
        "kube-system",
        Some(("k8s-app", "kube-dns")),
    ),
    (
        "pods in any other namespace",
        "other",
        Some((WORKLOAD, "gateway")),
    ),
];
const WAY_IN: &str = "pods in namespace site/way-in=true";

/// Addresses that are no pod's: one of the Internet, that of a cloud's metadata, and one of a company's own network.
const ELSEWHERE: [(&str, Ipv4Addr); 3] = [
    (OUTSIDE, Ipv4Addr::new(203, 0, 113, 40)),
    ("the cloud's metadata", Ipv4Addr::new(169, 254, 169, 254)),
    ("a private address", Ipv4Addr::new(172, 20, 0, 1)),
];
/// What is tried outside besides the ports of pods and of flows: mail between servers, and the web in clear.
const PORTS_OUTSIDE: [u16; 2] = [25, 80];

/// What came of trying.
#[derive(Default)]
pub struct Tried {
    pub open: BTreeSet<Flow>,
    pub closed: BTreeSet<Flow>,
    /// How many connections were tried, how many of them to the outside, and how many were refused.
    pub connections: usize,
    pub to_outside: usize,
    pub refused: usize,
    /// What is to be open.
    pub allowed: BTreeSet<Flow>,
}

/// Whoever calls and is called.
struct Peer {
    /// As docs/operations-flows.md calls it.
    name: String,
    /// The pod whose network it has; none outside.
    pod: Option<String>,
    address: Ipv4Addr,
    is_ours: bool,
    /// Whether it is the one of its workload that tries; another is tried by that one alone.
    is_first: bool,
}

/// Tries each pair, at every port that any pod or flow has: whether somebody listens makes no difference, as who does not refuses at
/// once. What is not ours does not try itself.
///
/// # Errors
///
/// If a pod's network cannot be entered, or something else happens than a connection, a refusal or silence.
pub async fn try_all(shared: &Shared) -> anyhow::Result<Tried> {
    for (_, address) in ELSEWHERE {
        shared.network().add_address(address)?;
    }
    let empty = empty_pods(shared);
    for pod in &empty {
        shared.network().join(pod)?;
    }
    let peers = peers(shared);
    let allowed = allowed(shared, &peers);
    let ports = ports(shared)?;
    let sources = peers.iter().filter(|peer| peer.is_first);
    let sources = sources.filter_map(|from| Some((from, from.pod.clone()?)));
    let tries = sources.map(|(from, pod)| {
        let targets = targets(from, &peers, &ports, &allowed);
        async move { within(&pod, move || try_join_all(targets.into_iter().map(connect))).await? }
    });
    let tries: Vec<_> = tries.collect();
    let results: Vec<Vec<_>> = stream::iter(tries)
        .buffer_unordered(AT_ONCE)
        .try_collect()
        .await?;
    for pod in &empty {
        shared.network().leave(name_of(&pod.metadata))?;
    }
    let mut tried = Tried {
        allowed,
        ..Tried::default()
    };
    for (flow, is_outside, is_open) in results.into_iter().flatten() {
        tried.connections += 1;
        tried.refused += usize::from(!is_open);
        tried.to_outside += usize::from(is_outside);
        let of_kind = if is_open {
            &mut tried.open
        } else {
            &mut tried.closed
        };
        of_kind.insert(flow);
    }
    Ok(tried)
}

/// Pods of other namespaces, and one of each workload and job that has none.
fn empty_pods(shared: &Shared) -> Vec<Pod> {
    let others = OTHERS.map(|(_, namespace, label)| {
        let mut pod = pod_of(&PodTemplateSpec::default(), &format!("of-{namespace}"), namespace);
        pod.metadata.labels = label.map(|(key, value)| [(key.to_owned(), value.to_owned())].into());
        pod
    });
    let there: BTreeSet<String> = shared.network().endpoints().filter_map(workload_of).collect();
    let missing = templates(shared).filter(|(metadata, _)| !there.contains(name_of(metadata)));
    let missing = missing.map(|(metadata, template)| {
        let namespace = metadata.namespace.as_deref().unwrap_or_default();
        pod_of(template, &format!("{EMPTY}{}", name_of(metadata)), namespace)
    });
    others.into_iter().chain(missing).collect()
}

fn templates(shared: &Shared) -> impl Iterator<Item = (&ObjectMeta, &PodTemplateSpec)> {
    let manifests = &shared.manifests;
    let workloads = manifests
        .workloads()
        .map(|(metadata, template, _)| (metadata, template));
    let jobs = manifests
        .jobs
        .iter()
        .filter_map(|job| Some((&job.metadata, &job.spec.as_ref()?.template)));
    let cron_jobs = manifests.cron_jobs.iter().filter_map(|cron_job| {
        let job = cron_job.spec.as_ref()?.job_template.spec.as_ref()?;
        Some((&cron_job.metadata, &job.template))
    });
    workloads.chain(jobs).chain(cron_jobs)
}

/// The name of a pod's workload, by which the page calls it. Two jobs may have the same labels.
fn workload_of((pod, endpoint): (&String, &Endpoint)) -> Option<String> {
    if let Some(workload) = pod.strip_prefix(EMPTY) {
        return Some(workload.to_owned());
    }
    endpoint.pod.metadata.labels.as_ref()?.get(WORKLOAD).cloned()
}

/// All pods, and what is outside.
fn peers(shared: &Shared) -> Vec<Peer> {
    let (mut peers, mut seen) = (Vec::new(), BTreeSet::new());
    let network = shared.network();
    for (pod, endpoint) in network.endpoints() {
        let other = OTHERS
            .iter()
            .find(|(_, namespace, _)| *namespace == endpoint.namespace());
        let name = match (other, pod.as_str()) {
            (Some((name, ..)), _) => Some((*name).to_owned()),
            (None, FRONT_DOOR) => Some(WAY_IN.to_owned()),
            (None, _) => workload_of((pod, endpoint)),
        };
        let name = name.unwrap_or_else(|| pod.clone());
        peers.push(Peer {
            is_first: seen.insert(name.clone()),
            name,
            pod: Some(pod.clone()),
            address: endpoint.address,
            is_ours: other.is_none() && pod != FRONT_DOOR,
        });
    }
    let called = network.outside().iter().map(|(_, address)| (OUTSIDE, *address));
    let outside = called.chain(ELSEWHERE).map(|(name, address)| Peer {
        name: name.to_owned(),
        pod: None,
        address,
        is_ours: false,
        is_first: true,
    });
    peers.extend(outside);
    peers
}

/// What is written down, with the names of all our pods where it says so.
fn allowed(shared: &Shared, peers: &[Peer]) -> BTreeSet<Flow> {
    let ours: Vec<&Peer> = peers.iter().filter(|peer| peer.is_ours).collect();
    let each = shared.flows.iter().flat_map(|(from, to, port)| {
        let named = |name: &str| (name.to_owned(), to.clone(), *port);
        match from.as_str() {
            EVERY_POD => ours.iter().map(|peer| named(&peer.name)).collect(),
            _ => vec![named(from)],
        }
    });
    each.collect()
}

fn ports(shared: &Shared) -> anyhow::Result<BTreeSet<u16>> {
    let mut ports: BTreeSet<u16> = shared.flows.iter().map(|(.., port)| *port).collect();
    ports.extend(PORTS_OUTSIDE);
    for (_, template) in templates(shared) {
        let containers = template.spec.iter().flat_map(|spec| &spec.containers);
        for port in containers.flat_map(|container| container.ports.iter().flatten()) {
            ports.insert(u16::try_from(port.container_port)?);
        }
    }
    Ok(ports)
}

type Target = (Flow, bool, SocketAddr, Duration);

/// What one tries: all of ours, and from ours everything.
fn targets(from: &Peer, peers: &[Peer], ports: &BTreeSet<u16>, allowed: &BTreeSet<Flow>) -> Vec<Target> {
    let others = peers.iter().filter(|to| {
        to.address != from.address && (to.is_ours || from.is_ours) && (to.is_first || to.name == from.name)
    });
    let each = others.flat_map(|to| ports.iter().map(move |port| (to, *port)));
    each.map(|(to, port)| {
        let flow = (from.name.clone(), to.name.clone(), port);
        let limit = if allowed.contains(&flow) {
            ALLOWED_WITHIN
        } else {
            DROPPED_AFTER
        };
        (flow, to.pod.is_none(), (to.address, port).into(), limit)
    })
    .collect()
}

/// Whether packets get there: a connection, or a refusal by whoever is there.
async fn connect((flow, is_outside, to, limit): Target) -> anyhow::Result<(Flow, bool, bool)> {
    let is_open = match timeout(limit, TcpStream::connect(to)).await {
        Ok(Ok(_)) => true,
        Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused => true,
        Ok(Err(error)) => return Err(anyhow::Error::new(error).context(format!("{flow:?}"))),
        Err(_elapsed) => false,
    };
    Ok((flow, is_outside, is_open))
}
