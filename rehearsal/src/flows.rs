//! Every connection between two pods, and from those outside, tried: what the table of flows allows is open, and nothing else is.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::{Ipv4Addr, SocketAddr},
    path::Path,
    time::Duration,
};

use anyhow::Context as _;
use futures_util::future::join_all;
use tokio::{net::TcpStream, time::timeout};

use crate::{kubelet::Shared, within::within};

/// A connection that takes longer is dropped by a policy.
const DROPPED_AFTER: Duration = Duration::from_millis(700);

/// A flow from one workload to another's port, by their names.
pub type Flow = (String, String, u16);

/// What came of trying.
pub struct Tried {
    pub open: BTreeSet<Flow>,
    pub closed: BTreeSet<Flow>,
}

/// The flows between pods that `docs/operations-flows.md` has for an overlay, which is worked out from the policies by other means.
///
/// # Errors
///
/// If the page cannot be read, or has no chapter on the overlay.
pub fn written_down(page: &Path, overlay: &str) -> anyhow::Result<BTreeSet<Flow>> {
    let page = std::fs::read_to_string(page)?;
    let section = page.split("\n## ").find(|section| section.starts_with(overlay));
    let section = section.with_context(|| format!("no flows are written down of {overlay}"))?;
    let rows = section.lines().filter_map(|line| {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        let (from, to, port) = (cells.next()?, cells.next()?, cells.next()?);
        let port = port.strip_suffix("/TCP")?.parse().ok()?;
        Some((from.to_owned(), to.to_owned(), port))
    });
    Ok(rows.collect())
}

/// Tries each pair of workloads, at every port that any pod has: whether somebody listens makes no difference, as who does not refuses at
/// once.
///
/// # Errors
///
/// If a pod's network cannot be entered.
pub async fn try_all(shared: &Shared) -> anyhow::Result<Tried> {
    let mut pods: BTreeMap<String, (String, Ipv4Addr)> = BTreeMap::new();
    let mut ports = BTreeSet::new();
    for (name, endpoint) in shared.network().endpoints() {
        let labels = endpoint.pod.metadata.labels.as_ref();
        let workload = labels.and_then(|labels| labels.get("app.kubernetes.io/name"));
        let workload = workload.unwrap_or(name).clone();
        pods.entry(workload).or_insert((name.clone(), endpoint.address));
        let containers = endpoint.pod.spec.iter().flat_map(|spec| &spec.containers);
        let declared = containers.flat_map(|container| container.ports.iter().flatten());
        for port in declared {
            ports.insert(u16::try_from(port.container_port)?);
        }
    }
    let mut tried = Tried {
        open: BTreeSet::new(),
        closed: BTreeSet::new(),
    };
    for (from, (pod, _)) in &pods {
        let targets: Vec<(String, SocketAddr)> = pods
            .iter()
            .filter(|(to, _)| *to != from)
            .flat_map(|(to, (_, address))| ports.iter().map(|port| (to.clone(), (*address, *port).into())))
            .collect();
        for (to, address, is_open) in within(pod, move || join_all(targets.into_iter().map(connect))).await? {
            let flow = (from.clone(), to, address.port());
            if is_open {
                &mut tried.open
            } else {
                &mut tried.closed
            }
            .insert(flow);
        }
    }
    Ok(tried)
}

/// Whether packets get there: a connection, or a refusal by whoever is there.
async fn connect((to, address): (String, SocketAddr)) -> (String, SocketAddr, bool) {
    let is_open = timeout(DROPPED_AFTER, TcpStream::connect(address)).await.is_ok();
    (to, address, is_open)
}
