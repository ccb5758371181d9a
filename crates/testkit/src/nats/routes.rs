//! Routes of a cluster: each server reaches each other one through a proxy of its own, which can be cut.

use crate::{ports::free_ports, tcp_proxy::TcpProxy};

/// How many servers production has.
pub(super) const CLUSTER_SIZE: usize = 3;

/// The ports and proxies of all routes.
pub(super) struct Routes {
    ports: [u16; CLUSTER_SIZE],
    proxies: Vec<Directed>,
}

struct Directed {
    from: usize,
    to: usize,
    proxy: TcpProxy,
}

impl Routes {
    /// Opens all of them.
    pub(super) async fn open() -> anyhow::Result<Self> {
        let ports: [u16; CLUSTER_SIZE] = free_ports()?;
        let mut proxies = Vec::new();
        for from in 0..CLUSTER_SIZE {
            for (to, port) in ports.iter().enumerate().filter(|(to, _)| *to != from) {
                let proxy = TcpProxy::start(*port).await?;
                proxies.push(Directed { from, to, proxy });
            }
        }
        Ok(Self { ports, proxies })
    }

    pub(super) fn len(&self) -> usize {
        self.ports.len()
    }

    /// Where this server listens for the others.
    pub(super) fn port(&self, server: usize) -> u16 {
        self.ports[server]
    }

    /// Where this server finds that one. Production's configuration names each server to itself, too.
    pub(super) fn port_to(&self, from: usize, to: usize) -> u16 {
        let directed = self.proxies.iter().find(|it| (it.from, it.to) == (from, to));
        directed.map_or(self.ports[to], |directed| directed.proxy.port())
    }

    /// Cuts all routes of this server.
    pub(super) fn cut(&self, server: usize) {
        self.of(server).for_each(TcpProxy::cut);
    }

    /// Lets all routes of this server through again.
    pub(super) fn restore(&self, server: usize) {
        self.of(server).for_each(TcpProxy::restore);
    }

    /// Whether this server's routes are cut.
    pub(super) fn are_cut(&self, server: usize) -> bool {
        self.of(server).all(TcpProxy::is_cut)
    }

    fn of(&self, server: usize) -> impl Iterator<Item = &TcpProxy> {
        let of_server = move |it: &&Directed| it.from == server || it.to == server;
        self.proxies.iter().filter(of_server).map(|it| &it.proxy)
    }
}
