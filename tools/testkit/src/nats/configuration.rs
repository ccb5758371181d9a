//! Configuration file of a server of the broker.

use std::{fs, path::Path};

use super::routes::Routes;
use crate::{Fsync, MountedCertificate};

/// Accounts and rights; production's broker includes the same file.
const USERS: &str = include_str!("../../../../crates/broker/nats/users.conf");
/// As in production. The server's own default depends on how much of this machine's disk is free.
const LIMITS: &str = "max_memory_store: 64MB; max_file_store: 18GB";
/// An address that nobody listens at. A server that learns another's address would bypass the proxy between them.
const NOWHERE: &str = "127.0.0.1:9";

pub(super) struct Configuration<'a> {
    pub(super) port: u16,
    pub(super) monitor: u16,
    pub(super) fsync: Fsync,
    /// What clients must verify, where they have to use TLS.
    pub(super) certificate: Option<&'a MountedCertificate>,
    /// The number of this server, and the routes of its cluster.
    pub(super) cluster: Option<(usize, &'a Routes)>,
}

impl Configuration<'_> {
    /// Writes `nats.conf` into the server's folder.
    pub(super) fn write(&self, folder: &Path) -> anyhow::Result<()> {
        let Self { port, monitor, .. } = self;
        let store = folder.join("jetstream");
        let sync = match self.fsync {
            Fsync::Later => "",
            Fsync::Always => "sync_interval: always",
        };
        let text = format!(
            "server_name: $POD_NAME\nlisten: 127.0.0.1:{port}\nhttp: 127.0.0.1:{monitor}\n\
             jetstream {{ store_dir: \"{}\"; {LIMITS}; {sync} }}\n{}{}{USERS}",
            store.display(),
            self.tls_block(),
            self.cluster_block(),
        );
        fs::create_dir_all(folder)?;
        Ok(fs::write(folder.join("nats.conf"), text)?)
    }

    fn tls_block(&self) -> String {
        let Some(certificate) = self.certificate else {
            return String::new();
        };
        let [certificate, key] = ["tls.crt", "tls.key"].map(|name| certificate.file(name));
        let [certificate, key] = [certificate.display(), key.display()];
        format!("tls {{ cert_file: \"{certificate}\", key_file: \"{key}\", timeout: 10 }}\n")
    }

    fn cluster_block(&self) -> String {
        let Some((number, routes)) = self.cluster else {
            return String::new();
        };
        let addresses = routes.addresses_for(number).join(", ");
        format!(
            "cluster {{\n  name: site\n  no_advertise: true\n  listen: 127.0.0.1:{}\n  advertise: {NOWHERE}\n  routes: [{addresses}]\n}}\n",
            routes.port(number),
        )
    }
}
