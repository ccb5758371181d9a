//! One server of the broker: its files, its process.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use nix::sys::signal::Signal;
use tokio::process::Command;

use super::{configuration::garbage_collection, user::Passwords};
use crate::{child_process::ChildProcess, eventually, root};

const START_TIMEOUT: Duration = Duration::from_secs(60);

/// A server on 127.0.0.1, and the folder of its configuration, log and disk. They outlive its stops.
pub(super) struct Server {
    /// Its name in logs, and in a cluster that of its pod.
    pub(super) name: String,
    pub(super) port: u16,
    /// Where it tells how it is.
    pub(super) monitor: u16,
    pub(super) folder: PathBuf,
    /// What its configuration takes from the environment, besides passwords of users.
    pub(super) env: Vec<(String, String)>,
    pub(super) running: Option<ChildProcess>,
}

impl Server {
    /// One that is still to be started, with `nats.conf` in its folder.
    pub(super) fn new(name: &str, port: u16, monitor: u16, folder: &Path) -> Self {
        Self {
            name: name.to_owned(),
            port,
            monitor,
            folder: folder.to_owned(),
            env: Vec::new(),
            running: None,
        }
    }

    /// Starts its process, unless that runs; [`Self::answers`] waits for it.
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
            .envs(garbage_collection()?)
            .envs(self.env.iter().cloned())
            .envs(passwords.env());
        self.running = Some(ChildProcess::start(&self.name, &self.folder, command)?);
        Ok(())
    }

    /// Waits until it takes connections.
    pub(super) async fn answers(&mut self) -> anyhow::Result<()> {
        let part = self.running.as_mut();
        let part = part.with_context(|| format!("{} is stopped", self.name))?;
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
        // A thread that runs just then still finishes what it is at.
        eventually("every thread of NATS stands still", START_TIMEOUT, async || {
            part.is_frozen().ok()?.then_some(())
        })
        .await
    }

    pub(super) fn thaw(&self) -> anyhow::Result<()> {
        self.process()?.signal(Signal::SIGCONT)
    }

    /// Empties its disk. It must be stopped.
    pub(super) fn wipe(&self) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.running.is_none(),
            "{} runs: stop or kill it first",
            self.name
        );
        match fs::remove_dir_all(self.disk()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    pub(super) fn process(&self) -> anyhow::Result<&ChildProcess> {
        self.running
            .as_ref()
            .with_context(|| format!("{} is stopped", self.name))
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

/// The server program: `NATS_SERVER`, or what the set-up installed, or the one on the PATH.
///
/// # Errors
///
/// If there is none.
pub fn program() -> anyhow::Result<PathBuf> {
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
