//! Tries every connection between our pods, and from or to other places.

use std::{
    collections::BTreeSet,
    fs,
    io::ErrorKind,
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use anyhow::Context as _;
use futures_util::future::try_join_all;
use tokio::{net::TcpStream, time::timeout};

use crate::{
    cluster::{Cluster, within},
    manifests::text,
    network::add_address,
    visitors::FRONT_DOOR,
};

/// Page that lists all flows. `k8s/tests/flows.py` generates it from the policies.
const PAGE: &str = "docs/operations-flows.md";
/// Names of peers on that page.
const OUTSIDE: &str = "outside the cluster";
const INGRESS: &str = "pods in namespace site/way-in=true";

/// A policy drops packets silently: a connection without a reply for this long was dropped.
const DROPPED_AFTER: Duration = Duration::from_secs(2);

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
}

impl Peer {
    fn is_ours(&self) -> bool {
        self.pod.is_some() && self.name != INGRESS
    }
}

/// Tries each pair of peers at every port of a flow. Nothing needs to listen: a closed port refuses at once.
///
/// # Errors
///
/// If the reachable ports differ from the page's flows.
pub async fn check(cluster: &Cluster) -> anyhow::Result<String> {
    for (_, address) in ELSEWHERE {
        add_address(address)?;
    }
    let allowed = flows_of_page()?;
    let of_flows = allowed.iter().map(|(.., port)| *port);
    let ports: BTreeSet<u16> = of_flows.chain(PORTS_OUTSIDE).collect();
    let peers = peers(cluster);
    let tries = peers.iter().filter_map(|from| {
        let (pod, targets) = (from.pod.clone()?, targets(from, &peers, &ports));
        Some(async move { within(&pod, move || try_join_all(targets.into_iter().map(connect))).await? })
    });
    let tried = try_join_all(tries).await?.concat();
    let wrong = tried
        .iter()
        .filter(|(flow, is_open)| *is_open != allowed.contains(flow));
    let wrong: BTreeSet<_> = wrong.collect();
    anyhow::ensure!(wrong.is_empty(), "{PAGE} differs (flow, is open): {wrong:?}");
    let open = tried.iter().filter(|(_, is_open)| *is_open).count();
    Ok(format!(
        "{open} connections open as on the page, {} dropped",
        tried.len() - open
    ))
}

/// TCP flows that the page lists for the profile `production`.
fn flows_of_page() -> anyhow::Result<BTreeSet<Flow>> {
    let page = fs::read_to_string(testkit::root().join(PAGE))?;
    let mut chapters = page.split("\n## ");
    let chapter = chapters.find(|chapter| chapter.starts_with("production\n"));
    let mut flows = BTreeSet::new();
    for row in chapter.context("the page has no flows of production")?.lines() {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        if let [_, from, to, port, _] = cells[..]
            && let Some(port) = port.strip_suffix("/TCP")
        {
            flows.insert((from.to_owned(), to.to_owned(), port.parse()?));
        }
    }
    Ok(flows)
}

fn peers(cluster: &Cluster) -> Vec<Peer> {
    let network = cluster.network();
    let pods = network.endpoints.iter().map(|(pod, endpoint)| {
        let name = match pod.as_str() {
            FRONT_DOOR => INGRESS,
            _ => text(&endpoint.pod.labels["app.kubernetes.io/name"]),
        };
        (name, Some(pod.clone()), endpoint.address)
    });
    let outside = ELSEWHERE.map(|(name, address)| (name, None, address));
    let peers = pods.chain(outside).map(|(name, pod, address)| Peer {
        name: name.to_owned(),
        pod,
        address,
    });
    peers.collect()
}

/// Every peer tries our pods. Only our pods try other peers.
fn targets(from: &Peer, peers: &[Peer], ports: &BTreeSet<u16>) -> Vec<(Flow, SocketAddr)> {
    let is_tried = |to: &&Peer| to.address != from.address && (to.is_ours() || from.is_ours());
    let mut targets = Vec::new();
    for to in peers.iter().filter(is_tried) {
        for port in ports {
            let flow = (from.name.clone(), to.name.clone(), *port);
            targets.push((flow, (to.address, *port).into()));
        }
    }
    targets
}

/// Returns whether the target replied. A refused connection is a reply too, because the packets arrived.
async fn connect((flow, to): (Flow, SocketAddr)) -> anyhow::Result<(Flow, bool)> {
    let is_open = match timeout(DROPPED_AFTER, TcpStream::connect(to)).await {
        Ok(Ok(_)) => true,
        Ok(Err(error)) if error.kind() == ErrorKind::ConnectionRefused => true,
        Ok(Err(error)) => return Err(anyhow::Error::new(error).context(format!("{flow:?}"))),
        Err(_elapsed) => false,
    };
    Ok((flow, is_open))
}
