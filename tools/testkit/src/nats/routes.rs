//! Routes of a cluster, through proxies that can be cut.

use crate::{ports::free_ports, tcp_proxy::TcpProxy};

pub(super) const CLUSTER_SIZE: usize = 3;
/// Unused address that the servers advertise: a real address would let peers bypass the proxies.
const NOWHERE: &str = "127.0.0.1:9";

pub(super) struct Routes {
    ports: [u16; CLUSTER_SIZE],
    proxies: Vec<(usize, usize, TcpProxy)>,
}

impl Routes {
    pub(super) async fn open() -> anyhow::Result<Self> {
        let ports: [u16; CLUSTER_SIZE] = free_ports()?;
        let mut proxies = Vec::new();
        for from in 0..CLUSTER_SIZE {
            for to in (0..CLUSTER_SIZE).filter(|to| *to != from) {
                proxies.push((from, to, TcpProxy::start(ports[to]).await?));
            }
        }
        Ok(Self { ports, proxies })
    }

    pub(super) fn block(&self, number: usize) -> String {
        let others = self.proxies.iter().filter(|(from, ..)| *from == number);
        let addresses = others.map(|(.., proxy)| format!("\"nats://127.0.0.1:{}\"", proxy.port));
        format!(
            "cluster {{\n  name: site\n  no_advertise: true\n  listen: 127.0.0.1:{}\n  advertise: {NOWHERE}\n  routes: [{}]\n}}\n",
            self.ports[number],
            addresses.collect::<Vec<_>>().join(", "),
        )
    }

    /// Proxies from and to a server.
    pub(super) fn of(&self, number: usize) -> impl Iterator<Item = &TcpProxy> {
        let ends = self.proxies.iter();
        let touching = ends.filter(move |(from, to, _)| *from == number || *to == number);
        touching.map(|(.., proxy)| proxy)
    }
}
