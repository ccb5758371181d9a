//! One server of the broker: its files, its process.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use nix::sys::signal::Signal;
use tokio::process::Command;

use super::{configuration::Configuration, user::Passwords};
use crate::{child_process::ChildProcess, eventually, root};

const START_TIMEOUT: Duration = Duration::from_secs(60);
/// Garbage collection as in production (`k8s/components/nats/stateful-set.yaml`).
const GARBAGE_COLLECTION: [(&str, &str); 2] = [("GOMEMLIMIT", "900MiB"), ("GOGC", "1000")];

/// A server on 127.0.0.1, and the folder of its configuration, log and disk, which outlives its stops.
pub(super) struct Server {
    pub(super) name: String,
    pub(super) port: u16,
    /// Port of its monitoring API.
    pub(super) monitor: u16,
    pub(super) folder: PathBuf,
    pub(super) running: Option<ChildProcess>,
}

impl Server {
    /// Writes the configuration of a server that [`Self::start`] starts, in a folder below this one.
    pub(super) fn new(name: &str, folder: &Path, configuration: &Configuration<'_>) -> anyhow::Result<Self> {
        let folder = folder.join(name);
        configuration.write(&folder)?;
        Ok(Self {
            name: name.to_owned(),
            port: configuration.port,
            monitor: configuration.monitor,
            folder,
            running: None,
        })
    }

    /// Starts its process, unless that runs. [`Self::listens`] waits for it.
    pub(super) fn start(&mut self, passwords: &Passwords) -> anyhow::Result<()> {
        if self.running.as_mut().is_some_and(|part| part.ended().is_none()) {
            return Ok(());
        }
        fs::create_dir_all(self.disk())?;
        let mut command = Command::new(program()?);
        command
            .arg("-c")
            .arg(self.folder.join("nats.conf"))
            .env("POD_NAME", &self.name)
            .envs(GARBAGE_COLLECTION)
            .envs(passwords.env());
        self.running = Some(ChildProcess::start(&self.name, &self.folder, command)?);
        Ok(())
    }

    /// Waits until it takes connections.
    pub(super) async fn listens(&mut self) -> anyhow::Result<()> {
        let part = self.running.as_mut().context("the server is stopped")?;
        part.listens(self.port, START_TIMEOUT).await
    }

    pub(super) async fn stop(&mut self) -> anyhow::Result<()> {
        match self.running.take() {
            Some(part) => part.stop().await.map(drop),
            None => Ok(()),
        }
    }

    pub(super) async fn kill(&mut self) -> anyhow::Result<()> {
        match self.running.take() {
            Some(part) => part.kill().await,
            None => Ok(()),
        }
    }

    pub(super) async fn freeze(&self) -> anyhow::Result<()> {
        let part = self.process()?;
        part.signal(Signal::SIGSTOP)?;
        // A thread that runs at that moment still finishes its time slice.
        eventually("every thread of NATS is stopped", START_TIMEOUT, async || {
            part.is_frozen().ok()?.then_some(())
        })
        .await
    }

    pub(super) fn thaw(&self) -> anyhow::Result<()> {
        self.process()?.signal(Signal::SIGCONT)
    }

    pub(super) fn wipe(&self) -> anyhow::Result<()> {
        anyhow::ensure!(self.running.is_none(), "{} runs: stop it first", self.name);
        match fs::remove_dir_all(self.disk()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    pub(super) fn process(&self) -> anyhow::Result<&ChildProcess> {
        let running = self.running.as_ref();
        running.with_context(|| format!("{} is stopped", self.name))
    }

    /// Whether it runs and is not frozen.
    pub(super) fn is_up(&self) -> bool {
        let frozen = self.process().and_then(ChildProcess::is_frozen);
        matches!(frozen, Ok(false))
    }

    pub(super) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(super) fn disk(&self) -> PathBuf {
        self.folder.join("jetstream")
    }
}

/// The server program: `NATS_SERVER`, or the one that `cargo xtask` fetched.
///
/// # Errors
///
/// If there is none.
pub fn program() -> anyhow::Result<PathBuf> {
    if let Some(program) = env::var_os("NATS_SERVER") {
        return Ok(program.into());
    }
    let program = root().join("target/tools/nats-server");
    anyhow::ensure!(
        program.exists(),
        "There is no nats-server; cargo xtask up fetches it"
    );
    Ok(program)
}
