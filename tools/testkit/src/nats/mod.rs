//! Real NATS with our users and streams, as one server or a cluster.

mod cluster;
mod managed;
mod routes;
mod server;
mod user;

use std::{
    io,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use async_nats::{
    Client, ConnectOptions,
    jetstream::{self, message::StreamMessage},
};
use clap::Parser;
use futures_util::TryStreamExt;
use nix::sys::signal::Signal;
use serde_json::Value;
use site_broker::{ProvisionSettings, StreamReader, UPLOADS_BUCKET};
use site_events::{DEAD_LETTERS_STREAM, SENDINGS_STREAM, SITE_STREAM};
use tempfile::TempDir;
use tokio::time::sleep;
use visitor::PersonKey;

use self::{
    managed::Managed,
    routes::{CLUSTER_SIZE, Routes},
    user::{Passwords, USERS, new_passwords},
};
pub use self::{server::Server, user::User};
use crate::{
    Broker, MountedCertificate, TcpProxy, child_process::ChildProcess, ports::free_ports,
    program_flags::flags_of,
};

const CLUSTER_START: Duration = Duration::from_secs(30);
const POLL_INTERVAL: Duration = Duration::from_millis(200);

/// Key of person ids.
pub const PERSON_KEY: &str = "a person key of thirty-two bytes or more";

/// Broker. Its disk survives a stop.
pub struct Nats {
    /// Servers.
    pub servers: Vec<Server>,
    routes: Option<Routes>,
    passwords: Passwords,
    /// Credentials that all users share at a managed broker.
    credentials: Option<String>,
    /// Authorities that clients trust, if the broker has TLS.
    ca_file: Option<PathBuf>,
    _temporary: Option<TempDir>,
}

impl Nats {
    /// Starts and provisions one server with a temporary disk.
    pub async fn start() -> anyhow::Result<Self> {
        Self::start_temporary(Broker::One, None).await
    }

    /// Same as [`Self::start`], with TLS only.
    pub async fn start_encrypted(certificate: &MountedCertificate) -> anyhow::Result<Self> {
        Self::start_temporary(Broker::One, Some(certificate)).await
    }

    /// Same as [`Self::start`], with three servers.
    pub async fn start_cluster() -> anyhow::Result<Self> {
        Self::start_temporary(Broker::Three, None).await
    }

    async fn start_temporary(
        broker: Broker,
        certificate: Option<&MountedCertificate>,
    ) -> anyhow::Result<Self> {
        let ([port], folder) = (free_ports()?, TempDir::new()?);
        let mut nats = Self::start_as(broker, certificate, port, folder.path()).await?;
        nats._temporary = Some(folder);
        nats.provision(&[]).await?;
        Ok(nats)
    }

    /// Starts a broker without streams. As in production, a cluster has each message on two disks before the
    /// acknowledgement. Unlike in production, a single server syncs every two minutes.
    pub async fn start_as(
        broker: Broker,
        certificate: Option<&MountedCertificate>,
        port: u16,
        folder: &Path,
    ) -> anyhow::Result<Self> {
        let (mut routes, mut servers, mut credentials) = (None, Vec::new(), None);
        match broker {
            Broker::One => {
                let tls = certificate.map_or_else(String::new, tls_block);
                servers.push(Server::new("nats".to_owned(), port, folder, ["", &tls, USERS])?);
            }
            Broker::Three => {
                let routes = routes.insert(Routes::open().await?);
                let mut ports: [u16; CLUSTER_SIZE] = free_ports()?;
                ports[0] = port;
                for (number, port) in ports.into_iter().enumerate() {
                    let more = ["sync_interval: always", &routes.block(number), USERS];
                    servers.push(Server::new(format!("nats-{number}"), port, folder, more)?);
                }
            }
            Broker::Managed => {
                let managed = Managed::new()?;
                let more = ["", "", &managed.accounts];
                servers.push(Server::new("nats".to_owned(), port, folder, more)?);
                credentials = Some(managed.credentials);
            }
        }
        let mut nats = Self {
            servers,
            routes,
            passwords: new_passwords(),
            credentials,
            ca_file: certificate.map(|certificate| certificate.file("ca.crt")),
            _temporary: None,
        };
        nats.resume_from_disk().await?;
        Ok(nats)
    }

    /// Restarts all servers with the same ports and disks.
    pub async fn resume_from_disk(&mut self) -> anyhow::Result<()> {
        // Starts all before it waits, because a server of a cluster needs another one.
        for server in &mut self.servers {
            server.start(&self.passwords)?;
        }
        for server in &mut self.servers {
            server.listens().await?;
        }
        if self.routes.is_some() {
            self.wait_until_joined().await?;
        }
        Ok(())
    }

    /// Starts a server and waits for its port.
    pub async fn start_server(&mut self, number: usize) -> anyhow::Result<()> {
        self.servers[number].start(&self.passwords)?;
        self.servers[number].listens().await
    }

    /// Provisions like `sitectl setup`, with replicas on every server.
    pub async fn provision(&self, flags: &[&str]) -> anyhow::Result<()> {
        #[derive(Parser)]
        struct Flags {
            #[command(flatten)]
            provision: ProvisionSettings,
        }
        let mut settings = Flags::try_parse_from([&["provision"], flags].concat())?.provision;
        settings.replicas = self.servers.len();
        let key = PersonKey::new(PERSON_KEY)?;
        let (context, started) = (self.jetstream().await?, Instant::now());
        loop {
            match site_broker::provision(&context, &settings, &key).await {
                Err(_leaderless) if self.servers.len() > 1 && started.elapsed() < CLUSTER_START => {
                    sleep(POLL_INTERVAL).await;
                }
                provisioned => return Ok(provisioned.map(drop)?),
            }
        }
    }

    /// Stops all servers; disks stay.
    pub async fn stop(&mut self) -> anyhow::Result<()> {
        for server in &mut self.servers {
            server.stop().await?;
        }
        Ok(())
    }

    /// Names of connected clients.
    pub async fn connected(&self) -> anyhow::Result<Vec<String>> {
        let connections = self.monitored("/connz").await?;
        let connections = connections["connections"].as_array().into_iter().flatten();
        let names = connections.filter_map(|connection| connection["name"].as_str());
        Ok(names.map(str::to_owned).collect())
    }

    async fn monitored(&self, path: &str) -> anyhow::Result<Value> {
        let answer = self.servers[0].monitored(path).await?.bytes().await?;
        Ok(serde_json::from_slice(&answer)?)
    }

    pub(crate) fn processes(&self) -> impl Iterator<Item = &ChildProcess> {
        self.servers.iter().filter_map(|server| server.running.as_ref())
    }

    pub(crate) fn ended(&mut self) -> Option<String> {
        let servers = self.servers.iter_mut();
        let mut running = servers.filter_map(|server| server.running.as_mut());
        running.find_map(ChildProcess::ended)
    }

    /// Server URLs, separated by commas.
    pub fn url(&self) -> String {
        let urls: Vec<String> = self.servers.iter().map(Server::url).collect();
        urls.join(",")
    }

    /// Login as environment variables.
    pub fn env(&self, user: User) -> Vec<(&'static str, String)> {
        let mut env = vec![("NATS_URL", self.url())];
        match &self.credentials {
            Some(credentials) => env.push(("NATS_CREDENTIALS", credentials.clone())),
            None => env.extend([
                ("NATS_USER", user.name()),
                ("NATS_PASSWORD", self.password_of(user).to_owned()),
            ]),
        }
        env
    }

    /// Login as flags.
    pub fn flags(&self, user: User) -> Vec<String> {
        flags_of(self.env(user))
    }

    /// Reloads configuration and certificates.
    pub fn reload(&self) -> anyhow::Result<()> {
        self.servers[0].process()?.signal(Signal::SIGHUP)
    }

    /// Password of a user.
    pub fn password_of(&self, user: User) -> &str {
        &self.passwords[&user]
    }

    /// Client on any server that is neither frozen nor cut off.
    pub async fn client(&self, user: User) -> anyhow::Result<Client> {
        let is_cut = |number: usize| {
            let routes = self.routes.as_ref();
            routes.is_some_and(|routes| routes.of(number).all(TcpProxy::is_cut))
        };
        let servers = self.servers.iter().enumerate();
        let up = servers.filter(|(number, server)| server.is_up() && !is_cut(*number));
        let urls: Vec<String> = up.map(|(_, server)| server.url()).collect();
        anyhow::ensure!(!urls.is_empty(), "no NATS server is available");
        Ok(self.login(user)?.connect(urls.as_slice()).await?)
    }

    async fn jetstream(&self) -> anyhow::Result<jetstream::Context> {
        Ok(jetstream::new(self.client(User::Operator).await?))
    }

    fn login(&self, user: User) -> io::Result<ConnectOptions> {
        let options = match &self.credentials {
            Some(credentials) => ConnectOptions::with_credentials(credentials)?,
            None => {
                let password = self.password_of(user).to_owned();
                ConnectOptions::with_user_and_password(user.name(), password)
            }
        };
        let options = options.custom_inbox_prefix(format!("_INBOX_{}", user.name()));
        Ok(match &self.ca_file {
            Some(file) => options.require_tls(true).add_root_certificates(file.clone()),
            None => options,
        })
    }

    /// Shortens the ack wait of all consumers. Running services keep the old value.
    pub async fn shorten_the_ack_wait(&self, ack_wait: Duration) -> anyhow::Result<()> {
        let context = self.jetstream().await?;
        for name in [SITE_STREAM, DEAD_LETTERS_STREAM, SENDINGS_STREAM] {
            let stream = context.get_stream(name).await?;
            let mut consumers = stream.consumers();
            while let Some(info) = consumers.try_next().await? {
                let config = jetstream::consumer::Config {
                    ack_wait,
                    ..info.config
                };
                context.create_consumer_on_stream(config, name).await?;
            }
        }
        Ok(())
    }

    /// Undelivered and unacknowledged events of all consumers.
    pub async fn backlog(&self) -> anyhow::Result<u64> {
        let site = self.jetstream().await?.get_stream(SITE_STREAM).await?;
        let consumers: Vec<_> = site.consumers().try_collect().await?;
        let open = consumers
            .iter()
            .map(|consumer| consumer.num_pending + consumer.num_ack_pending as u64);
        Ok(open.sum())
    }

    /// Stored events, oldest first.
    pub async fn events(&self) -> anyhow::Result<Vec<Value>> {
        let messages = self.messages(SITE_STREAM).await?.into_iter();
        messages
            .map(|message| Ok(serde_json::from_slice(&message.payload)?))
            .collect()
    }

    /// Dead letters, oldest first.
    pub async fn dead_letters(&self) -> anyhow::Result<Vec<StreamMessage>> {
        self.messages(DEAD_LETTERS_STREAM).await
    }

    /// Keys of upload records.
    pub async fn upload_records(&self) -> anyhow::Result<Vec<String>> {
        let records = self.messages(&format!("KV_{UPLOADS_BUCKET}")).await?;
        // A removed record leaves an empty message.
        let records = records.into_iter().filter(|record| !record.payload.is_empty());
        records
            .map(|record| Ok(serde_json::from_slice(&record.payload)?))
            .collect()
    }

    /// Messages of a stream, oldest first.
    pub async fn messages(&self, stream: &str) -> anyhow::Result<Vec<StreamMessage>> {
        let context = self.jetstream().await?;
        let stream = context.get_stream(stream).await?;
        Ok(StreamReader::new(&context, stream).all().try_collect().await?)
    }
}

fn tls_block(certificate: &MountedCertificate) -> String {
    let [certificate, key] = ["tls.crt", "tls.key"].map(|name| certificate.file(name));
    let [certificate, key] = [certificate.display(), key.display()];
    format!("tls {{ cert_file: \"{certificate}\", key_file: \"{key}\", timeout: 10 }}\n")
}
