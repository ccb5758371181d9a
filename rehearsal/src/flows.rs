//! Every connection between two pods, and from those outside, tried: what the table of flows allows is open, and nothing else is.

use std::{
    collections::{BTreeMap, BTreeSet},
    net::{Ipv4Addr, SocketAddr},
    time::Duration,
};

use anyhow::Context as _;
use futures_util::future::join_all;
use tokio::{net::TcpStream, time::timeout};

use crate::{kubelet::Shared, within::within};

/// A connection that takes longer is dropped by a policy.
const DROPPED_AFTER: Duration = Duration::from_millis(700);

/// The chapter on components.
const CHANGES: &str = "What components change of production";

/// A flow from one workload to another's port, by their names.
pub type Flow = (String, String, u16);

/// What came of trying.
pub struct Tried {
    pub open: BTreeSet<Flow>,
    pub closed: BTreeSet<Flow>,
}

/// The flows that `docs/operations-flows.md` has for an overlay with these components, which are worked out from the policies by other
/// means.
///
/// # Errors
///
/// If the page has no chapter on the overlay.
pub fn written_down(page: &str, overlay: &str, components: &[String]) -> anyhow::Result<BTreeSet<Flow>> {
    let chapter = |title: &str| {
        let named = format!("{title}\n");
        page.split("\n## ").find(|chapter| chapter.starts_with(&named))
    };
    let rows = chapter(overlay).with_context(|| format!("no flows are written down of {overlay}"))?;
    let mut flows: BTreeSet<Flow> = rows
        .lines()
        .filter_map(|row| flow(&mut row.trim_matches('|').split('|').map(str::trim)))
        .collect();
    for row in chapter(CHANGES)
        .context("no components are written down")?
        .lines()
    {
        let mut cells = row.trim_matches('|').split('|').map(str::trim);
        let (component, change) = (cells.next().unwrap_or_default(), cells.next());
        let is_taken = components.iter().any(|taken| component == format!("`{taken}`"));
        match (change, flow(&mut cells)) {
            (Some("more"), Some(flow)) if is_taken => drop(flows.insert(flow)),
            (Some("no more"), Some(flow)) if is_taken => drop(flows.remove(&flow)),
            _ => {}
        }
    }
    Ok(flows)
}

fn flow<'a>(cells: &mut impl Iterator<Item = &'a str>) -> Option<Flow> {
    let (from, to, port) = (cells.next()?, cells.next()?, cells.next()?);
    let port = port.strip_suffix("/TCP")?.parse().ok()?;
    Some((from.to_owned(), to.to_owned(), port))
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

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = "
## production

| from | to | port |
|---|---|---|
| careers | outside the cluster | 443/TCP |
| every pod | elsewhere | 53/UDP |
| gateway | contact | 50051/TCP |

## What components change of production

| component | flows | from | to | port |
|---|---|---|---|---|
| `private-s3` | more | careers | addresses 192.0.2.0/24 | 443/TCP |
| `private-s3` | no more | careers | outside the cluster | 443/TCP |
| `ses-reports` | more | newsletter | outside the cluster | 443/TCP |
";

    #[test]
    fn a_component_adds_its_flows_and_takes_away_what_it_is_in_place_of() {
        let flows = |components: &[&str]| -> Vec<String> {
            let components: Vec<String> = components.iter().map(ToString::to_string).collect();
            let flows = written_down(PAGE, "production", &components).expect("a chapter");
            flows
                .into_iter()
                .map(|(from, to, port)| format!("{from} {to} {port}"))
                .collect()
        };
        let to_contact = "gateway contact 50051";
        assert_eq!(flows(&[]), ["careers outside the cluster 443", to_contact]);
        let with_private_store = ["careers addresses 192.0.2.0/24 443", to_contact];
        assert_eq!(flows(&["private-s3", "canary"]), with_private_store);
        assert!(written_down(PAGE, "prod", &[]).is_err());
    }
}
