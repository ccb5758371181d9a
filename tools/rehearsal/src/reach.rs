//! Tries every connection between our pods, and from or to other places.

use std::{
    collections::BTreeSet,
    fs,
    io::ErrorKind,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use anyhow::Context as _;
use futures_util::{StreamExt as _, TryStreamExt as _, future::try_join_all, stream};
use serde_json::json;
use tokio::{net::TcpStream, time::timeout};

use crate::{
    cluster::{Cluster, within},
    manifests::{Pod, list},
    network::add_address,
    visitors::FRONT_DOOR,
};

/// Page that lists all flows. Other code generates it from the policies.
const PAGE: &str = "docs/operations-flows.md";
/// Names of peers on that page.
const EVERY_POD: &str = "every pod";
const OUTSIDE: &str = "outside the cluster";
const INGRESS: &str = "pods in namespace site/way-in=true";

const WORKLOAD: &str = "app.kubernetes.io/name";
/// A policy drops packets silently: a connection without a reply for this long was dropped.
const DROPPED_AFTER: Duration = Duration::from_secs(2);
const AT_ONCE: usize = 6;

/// Pod in another namespace, with the gateway's label.
const STRANGER: &str = "stranger";
const ELSEWHERE: [(&str, Ipv4Addr); 3] = [
    (OUTSIDE, Ipv4Addr::new(203, 0, 113, 40)),
    ("the cloud's metadata", Ipv4Addr::new(169, 254, 169, 254)),
    ("a private address", Ipv4Addr::new(172, 20, 0, 1)),
];
/// Ports of SMTP between servers, and of plain HTTP.
const PORTS_OUTSIDE: [u16; 2] = [25, 80];

/// Caller, callee and port.
type Flow = (String, String, u16);

struct Peer {
    /// Name on the page [`PAGE`].
    name: String,
    /// `None` for an address outside the cluster.
    pod: Option<String>,
    address: Ipv4Addr,
    is_ours: bool,
}

/// Tries each pair of peers at every port of a pod or flow. Nothing needs to listen: a closed port refuses at once.
///
/// # Errors
///
/// If the reachable ports differ from the page's flows.
pub async fn check(cluster: &Cluster) -> anyhow::Result<String> {
    for (_, address) in ELSEWHERE {
        add_address(address)?;
    }
    let template = json!({ "metadata": { "labels": { WORKLOAD: "gateway" } } });
    cluster.network().join(&Pod::new(&template, STRANGER, "other"))?;
    let peers = peers(cluster);
    let allowed = allowed(cluster, &peers)?;
    let ports = ports(cluster, &allowed)?;
    let tries = peers.iter().filter_map(|from| {
        let (pod, targets) = (from.pod.clone()?, targets(from, &peers, &ports));
        Some(async move { within(&pod, move || try_join_all(targets.into_iter().map(connect))).await? })
    });
    let tried: Vec<Vec<_>> = stream::iter(tries.collect::<Vec<_>>())
        .buffer_unordered(AT_ONCE)
        .try_collect()
        .await?;
    cluster.network().leave(STRANGER)?;
    let tried = tried.concat();
    let wrong = tried
        .iter()
        .filter(|(flow, is_open)| *is_open != allowed.contains(flow));
    let wrong: BTreeSet<_> = wrong.collect();
    anyhow::ensure!(wrong.is_empty(), "{PAGE} differs (flow, is open): {wrong:?}");
    Ok(format!(
        "{} flows open as on the page, {} connections dropped",
        allowed.len(),
        tried.iter().filter(|(_, is_open)| !is_open).count()
    ))
}

/// TCP flows that the page lists for the overlay `production`.
fn allowed(cluster: &Cluster, peers: &[Peer]) -> anyhow::Result<BTreeSet<Flow>> {
    let page = fs::read_to_string(cluster.node.root.join(PAGE))?;
    let mut chapters = page.split("\n## ");
    let chapter = chapters.find(|chapter| chapter.starts_with("production\n"));
    let mut allowed = BTreeSet::new();
    for row in chapter.context("the page has no flows of production")?.lines() {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        if let [_, from, to, port, _] = cells[..]
            && let Some(port) = port.strip_suffix("/TCP")
            && peers.iter().any(|peer| peer.name == to)
        {
            let port = port.parse()?;
            let is_caller = |peer: &&Peer| peer.name == from || (peer.is_ours && from == EVERY_POD);
            let callers = peers.iter().filter(is_caller);
            allowed.extend(callers.map(|peer| (peer.name.clone(), to.to_owned(), port)));
        }
    }
    Ok(allowed)
}

fn peers(cluster: &Cluster) -> Vec<Peer> {
    let network = cluster.network();
    let pods = network.endpoints.iter().map(|(pod, endpoint)| {
        let (name, is_ours) = match pod.as_str() {
            FRONT_DOOR => (INGRESS, false),
            STRANGER => (STRANGER, false),
            _ => (endpoint.pod.labels[WORKLOAD].as_str().unwrap_or(pod), true),
        };
        Peer {
            name: name.to_owned(),
            pod: Some(pod.clone()),
            address: endpoint.address,
            is_ours,
        }
    });
    let called = network.outside.iter().map(|(_, address)| (OUTSIDE, *address));
    let outside = called.chain(ELSEWHERE).map(|(name, address)| Peer {
        name: name.to_owned(),
        pod: None,
        address,
        is_ours: false,
    });
    pods.chain(outside).collect()
}

fn ports(cluster: &Cluster, flows: &BTreeSet<Flow>) -> anyhow::Result<BTreeSet<u16>> {
    let of_flows = flows.iter().map(|(.., port)| *port);
    let mut ports: BTreeSet<u16> = of_flows.chain(PORTS_OUTSIDE).collect();
    for endpoint in cluster.network().endpoints.values() {
        for port in list(&endpoint.pod.container()["ports"]) {
            ports.insert(port["containerPort"].as_u64().context("a port")?.try_into()?);
        }
    }
    Ok(ports)
}

type Target = (Flow, SocketAddr);

/// Every peer tries our pods. Only our pods try other peers.
fn targets(from: &Peer, peers: &[Peer], ports: &BTreeSet<u16>) -> Vec<Target> {
    let is_tried = |to: &&Peer| to.address != from.address && (to.is_ours || from.is_ours);
    let each = peers.iter().filter(is_tried).flat_map(|to| {
        let flow = |port: &u16| {
            (
                (from.name.clone(), to.name.clone(), *port),
                (to.address, *port).into(),
            )
        };
        ports.iter().map(flow).collect::<Vec<_>>()
    });
    each.collect()
}

/// Returns whether the target replied. A refused connection is a reply too, because the packets arrived.
async fn connect((flow, to): Target) -> anyhow::Result<(Flow, bool)> {
    let is_open = match timeout(DROPPED_AFTER, TcpStream::connect(to)).await {
        Ok(Ok(_)) => true,
        Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused => true,
        Ok(Err(error)) => return Err(anyhow::Error::new(error).context(format!("{flow:?}"))),
        Err(_elapsed) => false,
    };
    Ok((flow, is_open))
}
