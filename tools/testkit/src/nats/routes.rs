//! Routes of a cluster: each server reaches each other one through a proxy of its own, which can be cut.

use std::{fs, path::Path};

use super::user::new_password;
use crate::{CertificateAuthority, ports::free_ports, tcp_proxy::TcpProxy};

/// How many servers production has.
pub(super) const CLUSTER_SIZE: usize = 3;

/// The user that routes log in as, which k8s/components/nats names, too.
const ROUTE_USER: &str = "route";

/// The ports and proxies of all routes, and what a server needs to be let in.
pub(super) struct Routes {
    ports: [u16; CLUSTER_SIZE],
    authority: CertificateAuthority,
    password: String,
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
        Ok(Self {
            ports,
            authority: CertificateAuthority::new()?,
            password: new_password(),
            proxies,
        })
    }

    /// Who signs the servers' certificates.
    pub(super) fn authority(&self) -> &CertificateAuthority {
        &self.authority
    }

    /// The password of routes.
    pub(super) fn password(&self) -> &str {
        &self.password
    }

    /// What this server's configuration takes from the environment.
    pub(super) fn env_of(&self, server: usize) -> Vec<(String, String)> {
        let login = ("NATS_ROUTES_PASSWORD".to_owned(), self.password.clone());
        let addresses = (0..CLUSTER_SIZE).map(|other| {
            let address = route_url(&self.password, self.port_to(server, other));
            (format!("NATS_ROUTE_{other}"), address)
        });
        addresses.chain([login]).collect()
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

/// The address of a server of this port, and the login there.
pub(super) fn route_url(password: &str, port: u16) -> String {
    format!("nats://{ROUTE_USER}:{password}@127.0.0.1:{port}")
}

/// Writes what a server proves itself to others with, `tls.crt` and `tls.key`, and `ca.crt`, which says whom it believes.
pub(super) fn write_certificate(
    folder: &Path,
    issuer: &CertificateAuthority,
    trusted: &CertificateAuthority,
) -> anyhow::Result<()> {
    let [certificate, key] = issuer.issue_to_peers("127.0.0.1")?;
    fs::write(folder.join("tls.crt"), certificate)?;
    fs::write(folder.join("tls.key"), key)?;
    fs::copy(trusted.file(), folder.join("ca.crt"))?;
    Ok(())
}
