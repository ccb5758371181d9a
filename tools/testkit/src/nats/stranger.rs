//! A server that is none of the cluster's, and tries to join it.

use std::{fs, time::Duration};

use async_nats::{Client, ConnectOptions};
use serde_json::Value;
use tempfile::TempDir;

use super::{
    Nats, User,
    configuration::USERS,
    routes::{Routes, route_url, write_certificate},
    server::Server,
    user::{Passwords, new_password},
};
use crate::{CertificateAuthority, eventually, ports::free_ports};

/// How long an attempt to join may take on a machine that does other things, too.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(60);
/// What a server writes to its log when another one has sent it away.
const SENT_AWAY: &str = "Router connection closed";

/// What a server shows those that it wants to join.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RouteCredentials {
    /// Neither a certificate nor a password.
    None,
    /// The right password, and a certificate of an authority that is not theirs.
    ForeignCertificate,
    /// A certificate of theirs, and another password.
    WrongPassword,
    /// A certificate of theirs, and the right password.
    Both,
}

/// A server with users and passwords of its own, which calls the first server of a cluster.
pub struct Stranger {
    server: Server,
    passwords: Passwords,
    folder: TempDir,
}

impl Nats {
    /// Starts a server that tries to join this cluster.
    pub async fn start_stranger(&self, credentials: RouteCredentials) -> anyhow::Result<Stranger> {
        let [clients, monitor, routes] = free_ports()?;
        let folder = TempDir::new()?;
        let cluster = cluster_block(self.routes()?, credentials, &folder)?;
        let text = format!(
            "server_name: stranger\nlisten: 127.0.0.1:{clients}\nhttp: 127.0.0.1:{monitor}\n\
             cluster {{\nname: site\nlisten: 127.0.0.1:{routes}\n{cluster}}}\n{USERS}"
        );
        fs::write(folder.path().join("nats.conf"), text)?;
        let mut stranger = Stranger {
            server: Server::new("stranger", clients, monitor, folder.path()),
            passwords: Passwords::new(),
            folder,
        };
        stranger.server.start(&stranger.passwords)?;
        stranger.server.answers().await?;
        Ok(stranger)
    }
}

impl Stranger {
    /// Waits for the outcome of its attempt: whether it has a route now.
    pub async fn has_joined(&self) -> anyhow::Result<bool> {
        eventually("the stranger's attempt to join", ATTEMPT_TIMEOUT, async || {
            if self.routes().await.ok()? > 0 {
                return Some(true);
            }
            let log = fs::read_to_string(self.folder.path().join("stranger.log")).ok()?;
            log.contains(SENT_AWAY).then_some(false)
        })
        .await
    }

    /// A connection to it as this user, whose password is what it says.
    pub async fn client(&self, user: User) -> anyhow::Result<Client> {
        let password = self.passwords.of(user).to_owned();
        let options = ConnectOptions::new().user_and_password(user.name().to_owned(), password);
        Ok(options
            .ignore_discovered_servers()
            .connect(self.server.url())
            .await?)
    }

    async fn routes(&self) -> anyhow::Result<u64> {
        let url = format!("http://127.0.0.1:{}/routez", self.server.monitor);
        let routes: Value = serde_json::from_slice(&reqwest::get(url).await?.bytes().await?)?;
        Ok(routes["num_routes"].as_u64().unwrap_or_default())
    }
}

/// Whom it calls, and with what.
fn cluster_block(routes: &Routes, credentials: RouteCredentials, folder: &TempDir) -> anyhow::Result<String> {
    let port = routes.port(0);
    let (issuer, password) = match credentials {
        RouteCredentials::None => return Ok(format!("routes: [nats://127.0.0.1:{port}]\n")),
        RouteCredentials::ForeignCertificate => (&CertificateAuthority::new()?, routes.password().to_owned()),
        RouteCredentials::WrongPassword => (routes.authority(), new_password()),
        RouteCredentials::Both => (routes.authority(), routes.password().to_owned()),
    };
    write_certificate(folder.path(), issuer, routes.authority())?;
    let file = |name: &str| folder.path().join(name).display().to_string();
    let [certificate, key, authority] = ["tls.crt", "tls.key", "ca.crt"].map(file);
    let url = route_url(&password, port);
    Ok(format!(
        "tls {{\ncert_file: \"{certificate}\"\nkey_file: \"{key}\"\nca_file: \"{authority}\"\nverify: true\ntimeout: 10\n}}\n\
         routes: [\"{url}\"]\n"
    ))
}
