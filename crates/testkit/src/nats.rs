//! A real NATS server with our users and streams.

use std::{
    collections::HashMap,
    env, fs,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use async_nats::{Client, ConnectOptions, jetstream};
use clap::Parser;
use futures_util::StreamExt;
use nix::sys::signal::Signal;
use serde_json::Value;
use site_broker::ProvisionSettings;
use site_events::{Channel, DEAD_LETTERS_STREAM, SITE_STREAM};
use tempfile::TempDir;
use tokio::{net::TcpStream, process::Command};

use crate::{child_process::ChildProcess, eventually, ports::free_ports, root};

/// Who may do what; the same file that a cluster uses.
const USERS: &str = include_str!("../../broker/nats/users.conf");
const START_TIMEOUT: Duration = Duration::from_secs(60);

/// A user of the broker.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum User {
    /// The contact service.
    Contact,
    /// The newsletter service.
    Newsletter,
    /// The careers service.
    Careers,
    /// The notifier.
    Notifier,
    /// Whoever reads events for other purposes.
    Reader,
    /// `sitectl`.
    Operator,
}

impl User {
    /// Every user there is.
    pub const ALL: [Self; 6] = [
        Self::Contact,
        Self::Newsletter,
        Self::Careers,
        Self::Notifier,
        Self::Reader,
        Self::Operator,
    ];

    /// The name to log in with.
    pub fn name(self) -> &'static str {
        match self {
            Self::Contact => "contact",
            Self::Newsletter => "newsletter",
            Self::Careers => "careers",
            Self::Notifier => "notifier",
            Self::Reader => "reader",
            Self::Operator => "operator",
        }
    }
}

/// A broker on 127.0.0.1. Its disk outlives its stops.
pub struct Nats {
    port: u16,
    password: String,
    /// Of users who have another one by now.
    changed: HashMap<&'static str, String>,
    folder: PathBuf,
    running: Option<ChildProcess>,
    _temporary: Option<TempDir>,
}

impl Nats {
    /// Starts one on a free port, with streams, consumers and buckets, on a disk that
    /// goes away with it.
    pub async fn start() -> anyhow::Result<Self> {
        let [port] = free_ports()?;
        let folder = TempDir::new()?;
        let mut nats = Self::start_at(port, folder.path()).await?;
        nats._temporary = Some(folder);
        nats.provision().await?;
        Ok(nats)
    }

    /// Starts one without streams at this port, with its files and log in this folder.
    pub async fn start_at(port: u16, folder: &Path) -> anyhow::Result<Self> {
        let mut nats = Self {
            port,
            password: new_password(),
            changed: HashMap::new(),
            folder: folder.to_owned(),
            running: None,
            _temporary: None,
        };
        nats.resume_from_disk().await?;
        Ok(nats)
    }

    /// Starts it again after [`Self::stop`], with the same port and disk.
    pub async fn resume_from_disk(&mut self) -> anyhow::Result<()> {
        let config = self.folder.join("nats.conf");
        let store = self.folder.join("jetstream");
        fs::create_dir_all(&store)?;
        let (port, store) = (self.port, store.display());
        fs::write(
            &config,
            format!("listen: 127.0.0.1:{port}\njetstream {{ store_dir: \"{store}\" }}\n{USERS}"),
        )?;
        let mut server = Command::new(server()?);
        server.arg("-c").arg(config);
        for user in User::ALL {
            server.env(
                format!("NATS_{}_PASSWORD", user.name().to_uppercase()),
                self.password_of(user),
            );
        }
        let mut part = ChildProcess::start("nats", &self.folder, server)?;
        let answered = eventually("NATS answers", START_TIMEOUT, async || {
            if part.ended().is_some() {
                return Some(false);
            }
            TcpStream::connect(("127.0.0.1", port)).await.ok().map(|_| true)
        });
        if !answered.await? {
            anyhow::bail!("{}", part.ended().unwrap_or_default());
        }
        self.running = Some(part);
        Ok(())
    }

    /// Creates what `sitectl setup` creates.
    pub async fn provision(&self) -> anyhow::Result<()> {
        self.provision_for("[]").await
    }

    /// Creates what `sitectl setup` creates where the setting `WEBHOOKS` is this.
    pub async fn provision_for(&self, webhooks: &str) -> anyhow::Result<()> {
        self.provision_with(&["--webhooks", webhooks]).await
    }

    /// Creates what `sitectl setup` creates with these flags.
    pub async fn provision_with(&self, flags: &[&str]) -> anyhow::Result<()> {
        let client = self.client(User::Operator).await?;
        let settings = ProvisionFlags::try_parse_from([&["provision"], flags].concat())?;
        site_broker::provision(&jetstream::new(client), &settings.provision).await?;
        Ok(())
    }

    /// Stops it; its disk stays.
    pub async fn stop(&mut self) -> anyhow::Result<()> {
        match self.running.take() {
            Some(part) => part.stop().await.map(drop),
            None => Ok(()),
        }
    }

    /// Freezes it: connections stand, nothing is answered.
    pub async fn freeze(&self) -> anyhow::Result<()> {
        let part = self.process()?;
        part.signal(Signal::SIGSTOP)?;
        // A thread that runs just then still finishes what it is at.
        eventually("every thread of NATS stands still", START_TIMEOUT, async || {
            part.is_frozen().ok()?.then_some(())
        })
        .await
    }

    /// Lets it go on after [`Self::freeze`].
    pub fn thaw(&self) -> anyhow::Result<()> {
        self.process()?.signal(Signal::SIGCONT)
    }

    /// The running process.
    pub fn process(&self) -> anyhow::Result<&ChildProcess> {
        self.running.as_ref().context("NATS is stopped")
    }

    /// The running process, to ask whether it ended.
    pub fn process_mut(&mut self) -> Option<&mut ChildProcess> {
        self.running.as_mut()
    }

    /// Its address.
    pub fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    /// What a service must be told to log in, as flags.
    pub fn flags(&self, user: User) -> Vec<String> {
        vec![
            format!("--nats-url={}", self.url()),
            format!("--nats-user={}", user.name()),
            format!("--nats-password={}", self.password_of(user)),
        ]
    }

    /// The folder that its streams lie in.
    pub fn disk(&self) -> PathBuf {
        self.folder.join("jetstream")
    }

    /// Gives users another password: the server is started anew with it. Its disk stays.
    pub async fn change_passwords(&mut self, users: &[User]) -> anyhow::Result<()> {
        self.stop().await?;
        self.changed
            .extend(users.iter().map(|user| (user.name(), new_password())));
        self.resume_from_disk().await
    }

    fn password_of(&self, user: User) -> &str {
        self.changed.get(user.name()).unwrap_or(&self.password)
    }

    /// The password of every user that has not got another one.
    pub fn password(&self) -> &str {
        &self.password
    }

    /// A connection of this user's.
    pub async fn client(&self, user: User) -> anyhow::Result<Client> {
        let options = ConnectOptions::new()
            .user_and_password(user.name().to_owned(), self.password_of(user).to_owned())
            .custom_inbox_prefix(format!("_INBOX_{}", user.name()));
        Ok(options.connect(self.url()).await?)
    }

    /// Has the broker wait only this long for the outcome of a delivery, so that a test need not wait a minute for
    /// what nobody told the outcome of.
    pub async fn shorten_the_ack_wait(&self, ack_wait: Duration) -> anyhow::Result<()> {
        let context = jetstream::new(self.client(User::Operator).await?);
        let site = context.get_stream(SITE_STREAM).await?;
        for channel in Channel::ALL {
            let info = site.consumer_info(channel.name()).await?;
            let config = jetstream::consumer::Config {
                ack_wait,
                ..info.config
            };
            context.create_consumer_on_stream(config, SITE_STREAM).await?;
        }
        Ok(())
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

    /// All that a stream holds, oldest first, as it is stored.
    pub async fn messages(&self, stream: &str) -> anyhow::Result<Vec<async_nats::Message>> {
        let context = jetstream::new(self.client(User::Operator).await?);
        let stream = context.get_stream(stream).await?;
        let count = stream.cached_info().state.messages;
        let config = jetstream::consumer::pull::OrderedConfig::default();
        let consumer = stream.create_consumer(config).await?;
        let count = usize::try_from(count)?;
        if count == 0 {
            return Ok(Vec::new());
        }
        let messages = consumer.messages().await?.take(count);
        let messages: Vec<_> = messages.collect().await;
        messages.into_iter().map(|message| Ok(message?.message)).collect()
    }
}

/// It begins with a letter and has no other characters than letters and digits: the server reads its variables as
/// configuration.
fn new_password() -> String {
    format!("p{}", uuid::Uuid::new_v4().simple())
}

#[derive(Parser)]
struct ProvisionFlags {
    #[command(flatten)]
    provision: ProvisionSettings,
}

/// The server program: `NATS_SERVER`, or what the set-up installed, or the one on the PATH.
fn server() -> anyhow::Result<PathBuf> {
    if let Some(path) = env::var_os("NATS_SERVER") {
        return Ok(path.into());
    }
    let installed = root().join("target/tools/nats-server");
    if installed.exists() {
        return Ok(installed);
    }
    let path = env::var_os("PATH").unwrap_or_default();
    env::split_paths(&path)
        .map(|folder| folder.join("nats-server"))
        .find(|program| program.exists())
        .context("There is no nats-server; cargo xtask up fetches it")
}
