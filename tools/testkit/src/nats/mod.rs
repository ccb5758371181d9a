//! A real NATS server, or a cluster of three, with our users and streams.

mod cluster;
mod configuration;
mod routes;
mod server;
mod stranger;
mod user;

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;
use async_nats::{
    Client, ConnectOptions,
    jetstream::{
        self,
        message::StreamMessage,
        stream::{RetentionPolicy, Stream},
    },
};
use clap::Parser;
use futures_util::{StreamExt, TryStreamExt};
use nix::sys::signal::Signal;
use serde_json::Value;
use site_broker::{ProvisionSettings, StreamReader, UPLOADS_BUCKET};
use site_events::{DEAD_LETTERS_STREAM, SENDINGS_STREAM, SITE_STREAM};
use tempfile::TempDir;
use tokio::time::timeout;

use self::{configuration::Listens, routes::Routes, server::Server, user::Passwords};
pub use self::{
    server::program as nats_server,
    stranger::{RouteCredentials, Stranger},
    user::User,
};
use crate::{Fsync, MountedCertificate, child_process::ChildProcess, ports::free_ports};

/// How long a test's stream may take to be read whole, and how often that is tried.
const READ_TIMEOUT: Duration = Duration::from_secs(20);
const READ_ATTEMPTS: u32 = 3;

/// A broker on 127.0.0.1: one server, or three ([`Self::start_cluster_at`]). Its disk outlives its stops.
pub struct Nats {
    servers: Vec<Server>,
    /// Of a cluster.
    routes: Option<Routes>,
    passwords: Passwords,
    /// Of the authorities of its certificate, where it speaks TLS.
    ca_file: Option<PathBuf>,
    _temporary: Option<TempDir>,
}

impl Nats {
    /// Starts one on a free port, with streams, consumers and buckets, on a disk that
    /// goes away with it.
    pub async fn start() -> anyhow::Result<Self> {
        Self::start_with(None).await
    }

    /// The same, spoken to by TLS only.
    pub async fn start_encrypted(certificate: &MountedCertificate) -> anyhow::Result<Self> {
        Self::start_with(Some(certificate)).await
    }

    async fn start_with(certificate: Option<&MountedCertificate>) -> anyhow::Result<Self> {
        let [port] = free_ports()?;
        let folder = TempDir::new()?;
        let mut nats = Self::start_single(Fsync::Later, certificate, port, folder.path()).await?;
        nats._temporary = Some(folder);
        nats.provision().await?;
        Ok(nats)
    }

    /// Starts one without streams at this port, with its files and log in this folder.
    pub async fn start_at(port: u16, folder: &Path) -> anyhow::Result<Self> {
        Self::start_single(Fsync::Later, None, port, folder).await
    }

    /// The same, with a disk that writes for good when you say, and spoken to by TLS only where it has a certificate.
    pub async fn start_single(
        fsync: Fsync,
        certificate: Option<&MountedCertificate>,
        port: u16,
        folder: &Path,
    ) -> anyhow::Result<Self> {
        let [monitor] = free_ports()?;
        let listens = Listens {
            clients: port,
            monitor,
        };
        configuration::write_single(folder, listens, fsync, certificate)?;
        let mut nats = Self::new(vec![Server::new("nats", port, monitor, folder)], None);
        nats.ca_file = certificate.map(|certificate| certificate.file("ca.crt"));
        nats.resume_from_disk().await?;
        Ok(nats)
    }

    fn new(servers: Vec<Server>, routes: Option<Routes>) -> Self {
        Self {
            servers,
            routes,
            passwords: Passwords::new(),
            ca_file: None,
            _temporary: None,
        }
    }

    /// Starts it again after [`Self::stop`], with the same ports and disks.
    pub async fn resume_from_disk(&mut self) -> anyhow::Result<()> {
        // Each of three needs another before it can do anything.
        for server in &mut self.servers {
            server.start(&self.passwords)?;
        }
        for server in &mut self.servers {
            server.answers().await?;
        }
        if self.routes.is_some() {
            self.wait_until_joined().await?;
        }
        Ok(())
    }

    /// Starts it anew with another limit of memory (`GOMEMLIMIT`), for whoever stores more than production's holds.
    pub async fn restart_with_memory_limit(&mut self, limit: &str) -> anyhow::Result<()> {
        self.stop().await?;
        for server in &mut self.servers {
            server.env.push(("GOMEMLIMIT".to_owned(), limit.to_owned()));
        }
        self.resume_from_disk().await
    }

    /// Creates what `sitectl setup` creates.
    pub async fn provision(&self) -> anyhow::Result<()> {
        self.provision_for("[]").await
    }

    /// Creates what `sitectl setup` creates where the setting `WEBHOOKS` is this.
    pub async fn provision_for(&self, webhooks: &str) -> anyhow::Result<()> {
        self.provision_with(&["--webhooks", webhooks]).await
    }

    /// Creates what `sitectl setup` creates with these flags, with a copy on every server.
    pub async fn provision_with(&self, flags: &[&str]) -> anyhow::Result<()> {
        let client = self.client(User::Operator).await?;
        let mut settings = ProvisionFlags::try_parse_from([&["provision"], flags].concat())?;
        settings.provision.replicas = self.servers.len();
        site_broker::provision(&jetstream::new(client), &settings.provision).await?;
        Ok(())
    }

    /// Stops it; its disk stays.
    pub async fn stop(&mut self) -> anyhow::Result<()> {
        for server in &mut self.servers {
            server.stop().await?;
        }
        Ok(())
    }

    /// Freezes it: connections stand, nothing is answered.
    pub async fn freeze(&self) -> anyhow::Result<()> {
        for server in &self.servers {
            server.freeze().await?;
        }
        Ok(())
    }

    /// Lets it go on after [`Self::freeze`].
    pub fn thaw(&self) -> anyhow::Result<()> {
        self.servers.iter().try_for_each(Server::thaw)
    }

    /// The names that those who are connected gave themselves.
    pub async fn connected(&self) -> anyhow::Result<Vec<String>> {
        let connections = self.monitored("connz").await?;
        let connections = connections["connections"].as_array().into_iter().flatten();
        let names = connections.filter_map(|connection| connection["name"].as_str());
        Ok(names.map(str::to_owned).collect())
    }

    /// How many messages its clients have sent, of a cluster those of the first server; each request is one.
    pub async fn received(&self) -> anyhow::Result<u64> {
        let received = self.monitored("varz").await?["in_msgs"].as_u64();
        received.context("the server tells how many messages it got")
    }

    async fn monitored(&self, what: &str) -> anyhow::Result<Value> {
        let url = format!("http://127.0.0.1:{}/{what}", self.servers[0].monitor);
        Ok(serde_json::from_slice(&reqwest::get(url).await?.bytes().await?)?)
    }

    /// The running process, of a cluster the first.
    pub fn process(&self) -> anyhow::Result<&ChildProcess> {
        self.servers[0].process()
    }

    /// Every process that runs.
    pub fn processes(&self) -> impl Iterator<Item = &ChildProcess> {
        self.servers.iter().filter_map(|server| server.running.as_ref())
    }

    /// Every process that runs, to ask whether it ended.
    pub fn processes_mut(&mut self) -> impl Iterator<Item = &mut ChildProcess> {
        self.servers
            .iter_mut()
            .filter_map(|server| server.running.as_mut())
    }

    /// Its address; those of a cluster, divided by commas.
    pub fn url(&self) -> String {
        let urls: Vec<String> = self.servers.iter().map(Server::url).collect();
        urls.join(",")
    }

    /// What a service must be told to log in, as flags.
    pub fn flags(&self, user: User) -> Vec<String> {
        vec![
            format!("--nats-url={}", self.url()),
            format!("--nats-user={}", user.name()),
            format!("--nats-password={}", self.password_of(user)),
        ]
    }

    /// The file of authorities that whoever connects must trust, where it speaks TLS.
    pub fn ca_file(&self) -> Option<&Path> {
        self.ca_file.as_deref()
    }

    /// Has it read its configuration again, and the files that are named there.
    pub fn reload(&self) -> anyhow::Result<()> {
        self.processes()
            .try_for_each(|process| process.signal(Signal::SIGHUP))
    }

    /// What its process has said so far, of a cluster the first.
    pub fn log(&self) -> anyhow::Result<String> {
        let server = &self.servers[0];
        let log = server.folder.join(format!("{}.log", server.name));
        Ok(fs::read_to_string(log)?)
    }

    /// The folder that its streams lie in, of a cluster those of the first server.
    pub fn disk(&self) -> PathBuf {
        self.servers[0].disk()
    }

    /// Gives users another password: the servers are started anew with it. Their disks stay.
    pub async fn change_passwords(&mut self, users: &[User]) -> anyhow::Result<()> {
        self.stop().await?;
        self.passwords.change(users);
        self.resume_from_disk().await
    }

    /// Gives a user another password, which each server knows from its next start on.
    pub fn change_password_at_next_start(&mut self, user: User) {
        self.passwords.change(&[user]);
    }

    /// The password that this user got last.
    pub fn password_of(&self, user: User) -> &str {
        self.passwords.of(user)
    }

    /// The password of every user that has not got another one.
    pub fn password(&self) -> &str {
        &self.passwords.usual
    }

    /// A connection of this user's, to any server that neither stands still nor is cut off.
    pub async fn client(&self, user: User) -> anyhow::Result<Client> {
        let up = self.servers.iter().enumerate().filter(|(number, server)| {
            let is_cut = |routes: &Routes| routes.are_cut(*number);
            server.is_up() && !self.routes.as_ref().is_some_and(is_cut)
        });
        let urls: Vec<String> = up.map(|(_, server)| server.url()).collect();
        anyhow::ensure!(!urls.is_empty(), "no server of NATS can be used");
        Ok(self.login(user).connect(urls.as_slice()).await?)
    }

    fn login(&self, user: User) -> ConnectOptions {
        let options = ConnectOptions::new()
            .user_and_password(user.name().to_owned(), self.password_of(user).to_owned())
            .custom_inbox_prefix(format!("_INBOX_{}", user.name()));
        match &self.ca_file {
            Some(file) => options.require_tls(true).add_root_certificates(file.clone()),
            None => options,
        }
    }

    /// Has the broker wait only this long for the outcome of a delivery, so that a test need not wait a minute for
    /// what nobody told the outcome of. A service that runs already goes on by what it found.
    pub async fn shorten_the_ack_wait(&self, ack_wait: Duration) -> anyhow::Result<()> {
        let context = jetstream::new(self.client(User::Operator).await?);
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

    /// How many deliveries of events are still to be made or acknowledged, over all durable consumers.
    pub async fn backlog(&self) -> anyhow::Result<u64> {
        let context = jetstream::new(self.client(User::Operator).await?);
        let site = context.get_stream(SITE_STREAM).await?;
        let consumers: Vec<_> = site.consumers().try_collect().await?;
        let open = consumers
            .iter()
            .map(|consumer| consumer.num_pending + consumer.num_ack_pending as u64);
        Ok(open.sum())
    }

    /// The stored events, oldest first.
    pub async fn events(&self) -> anyhow::Result<Vec<Value>> {
        let messages = self.messages(SITE_STREAM).await?;
        messages
            .iter()
            .map(|message| Ok(serde_json::from_slice(&message.payload)?))
            .collect()
    }

    /// The dead letters, oldest first.
    pub async fn dead_letters(&self) -> anyhow::Result<Vec<async_nats::Message>> {
        self.messages(DEAD_LETTERS_STREAM).await
    }

    /// The keys of the résumés that are provisional: what the records of uploads say.
    pub async fn upload_records(&self) -> anyhow::Result<Vec<String>> {
        let context = jetstream::new(self.client(User::Operator).await?);
        let bucket = context.get_key_value(UPLOADS_BUCKET).await?;
        let records: Vec<StreamMessage> = StreamReader::new(&context, bucket.stream)
            .all()
            .try_collect()
            .await?;
        let keys = records
            .iter()
            .map(|record| String::from_utf8(record.payload.to_vec()));
        let mut keys: Vec<String> = keys.collect::<Result<_, _>>()?;
        // The marker of a record that was removed is empty.
        keys.retain(|key| !key.is_empty());
        Ok(keys)
    }

    /// All that a stream holds, oldest first, as it is stored.
    pub async fn messages(&self, stream: &str) -> anyhow::Result<Vec<async_nats::Message>> {
        let context = jetstream::new(self.client(User::Operator).await?);
        let stream = context.get_stream(stream).await?;
        // A consumer of a work queue would take what it reads.
        if stream.cached_info().config.retention == RetentionPolicy::WorkQueue {
            return queued_messages(&context, stream).await;
        }
        for _ in 0..READ_ATTEMPTS {
            // What was counted may be removed before it is read, and would be waited for in vain.
            if let Ok(read) = timeout(READ_TIMEOUT, counted_messages(&stream)).await {
                return read;
            }
        }
        anyhow::bail!("a stream changes faster than it is read")
    }
}

async fn queued_messages(
    context: &jetstream::Context,
    stream: Stream,
) -> anyhow::Result<Vec<async_nats::Message>> {
    let messages: Vec<StreamMessage> = StreamReader::new(context, stream).all().try_collect().await?;
    let message = |stored: StreamMessage| async_nats::Message {
        subject: stored.subject,
        reply: None,
        length: stored.payload.len(),
        payload: stored.payload,
        headers: Some(stored.headers),
        status: None,
        description: None,
    };
    Ok(messages.into_iter().map(message).collect())
}

async fn counted_messages(stream: &Stream) -> anyhow::Result<Vec<async_nats::Message>> {
    let count = usize::try_from(stream.get_info().await?.state.messages)?;
    let config = jetstream::consumer::pull::OrderedConfig::default();
    let consumer = stream.create_consumer(config).await?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let messages = consumer.messages().await?.take(count);
    let messages: Vec<_> = messages.collect().await;
    messages.into_iter().map(|message| Ok(message?.message)).collect()
}

#[derive(Parser)]
struct ProvisionFlags {
    #[command(flatten)]
    provision: ProvisionSettings,
}

#[cfg(test)]
mod tests {
    use resumes::{ResumeKey, UploadRecords};

    use super::*;

    #[tokio::test]
    async fn the_record_of_an_upload_is_told_until_it_is_removed() -> anyhow::Result<()> {
        let nats = Nats::start().await?;
        let context = jetstream::new(nats.client(User::Operator).await?);
        let records = UploadRecords::open(&context).await?;
        let keys = ["resumes/a/1/cv.pdf", "resumes/b/2/cv.pdf"];
        let [ended, cut_off] = keys.map(|key| ResumeKey::known(key.to_owned()));
        let ended = records.begin(&ended).await?;
        records.begin(&cut_off).await?;
        records.end(&ended).await?;
        assert_eq!(nats.upload_records().await?, [cut_off.as_str()]);
        Ok(())
    }
}
