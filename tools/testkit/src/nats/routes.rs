//! Routes of a cluster: each server reaches each other one through a proxy, which can be cut.

use std::{collections::HashMap, ops::Range};

use crate::{ports::free_ports, tcp_proxy::TcpProxy};

/// Servers of a cluster, as in production.
pub(super) const CLUSTER_SIZE: usize = 3;
const NUMBERS: Range<usize> = 0..CLUSTER_SIZE;

/// The port of each server for the others, and a proxy for each direction.
pub(super) struct Routes {
    ports: [u16; CLUSTER_SIZE],
    /// By the numbers of the server that calls and of the one that is called.
    proxies: HashMap<(usize, usize), TcpProxy>,
}

impl Routes {
    pub(super) async fn open() -> anyhow::Result<Self> {
        let ports: [u16; CLUSTER_SIZE] = free_ports()?;
        let mut proxies = HashMap::new();
        for from in NUMBERS {
            for to in NUMBERS.filter(|to| *to != from) {
                proxies.insert((from, to), TcpProxy::start(ports[to]).await?);
            }
        }
        Ok(Self { ports, proxies })
    }

    /// Port at which a server listens for the others.
    pub(super) fn port(&self, number: usize) -> u16 {
        self.ports[number]
    }

    /// Addresses of the other servers, as this one calls them.
    pub(super) fn addresses_for(&self, number: usize) -> Vec<String> {
        let others = self.proxies.iter().filter(|((from, _), _)| *from == number);
        let address = |proxy: &TcpProxy| format!("\"nats://127.0.0.1:{}\"", proxy.port());
        others.map(|(_, proxy)| address(proxy)).collect()
    }

    /// The proxies from and to a server.
    pub(super) fn of(&self, number: usize) -> impl Iterator<Item = &TcpProxy> {
        let touches = move |(from, to): &(usize, usize)| *from == number || *to == number;
        let touching = self.proxies.iter().filter(move |(ends, _)| touches(ends));
        touching.map(|(_, proxy)| proxy)
    }
}
