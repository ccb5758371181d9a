//! One server of the broker.

use std::{
    env, fs, io,
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context;
use nix::sys::signal::Signal;
use tokio::process::Command;

use super::user::{Passwords, variables};
use crate::{child_process::ChildProcess, eventually, ports::free_ports, root};

const START_TIMEOUT: Duration = Duration::from_secs(60);
/// As in production (`k8s/components/nats/stateful-set.yaml`).
const GARBAGE_COLLECTION: [(&str, &str); 2] = [("GOMEMLIMIT", "900MiB"), ("GOGC", "1000")];
/// As in production. The default depends on free disk space.
const LIMITS: &str = "max_memory_store: 64MB; max_file_store: 18GB";

/// Server with a folder that survives a stop.
pub struct Server {
    pub(super) name: String,
    pub(super) port: u16,
    monitor: u16,
    /// Folder of configuration, log and disk.
    pub folder: PathBuf,
    pub(super) running: Option<ChildProcess>,
}

impl Server {
    pub(super) fn new(
        name: String,
        port: u16,
        folder: &Path,
        [storage, more, accounts]: [&str; 3],
    ) -> anyhow::Result<Self> {
        let folder = folder.join(&name);
        fs::create_dir_all(&folder)?;
        let [monitor] = free_ports()?;
        let server = Self {
            name,
            port,
            monitor,
            folder,
            running: None,
        };
        let text = format!(
            "server_name: $POD_NAME\nlisten: 127.0.0.1:{port}\nhttp: 127.0.0.1:{monitor}\n\
             jetstream {{ store_dir: \"{}\"; {LIMITS}; {storage} }}\n{more}{accounts}",
            server.disk().display(),
        );
        fs::write(server.configuration(), text)?;
        Ok(server)
    }

    fn configuration(&self) -> PathBuf {
        self.folder.join("nats.conf")
    }

    /// Does not wait for the port: [`Self::listens`] does.
    pub(super) fn start(&mut self, passwords: &Passwords) -> anyhow::Result<()> {
        if self.running.as_mut().is_some_and(|part| part.ended().is_none()) {
            return Ok(());
        }
        fs::create_dir_all(self.disk())?;
        let mut command = Command::new(program());
        command
            .arg("-c")
            .arg(self.configuration())
            .env("POD_NAME", &self.name)
            .envs(GARBAGE_COLLECTION)
            .envs(variables(passwords));
        self.running = Some(ChildProcess::start(&self.name, &self.folder, command)?);
        Ok(())
    }

    pub(super) async fn listens(&mut self) -> anyhow::Result<()> {
        let part = self.running.as_mut().context("the server is stopped")?;
        part.listens(self.port, START_TIMEOUT).await
    }

    /// Stops it with SIGTERM; the disk stays.
    pub async fn stop(&mut self) -> anyhow::Result<()> {
        match self.running.take() {
            Some(part) => part.stop().await.map(drop),
            None => Ok(()),
        }
    }

    /// Kills it, as a crash would.
    pub async fn kill(&mut self) -> anyhow::Result<()> {
        match self.running.take() {
            Some(part) => part.kill().await,
            None => Ok(()),
        }
    }

    /// Freezes it: connections stay open without answers.
    pub async fn freeze(&self) -> anyhow::Result<()> {
        let part = self.process()?;
        part.signal(Signal::SIGSTOP)?;
        // A thread runs until its time slice ends.
        eventually("every thread of NATS is stopped", START_TIMEOUT, async || {
            part.is_frozen().ok()?.then_some(())
        })
        .await
    }

    /// Reverts [`Self::freeze`].
    pub fn thaw(&self) -> anyhow::Result<()> {
        self.process()?.signal(Signal::SIGCONT)
    }

    /// Deletes the disk.
    pub fn wipe(&self) -> anyhow::Result<()> {
        anyhow::ensure!(self.running.is_none(), "{} runs: stop it first", self.name);
        match fs::remove_dir_all(self.disk()) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Running process.
    pub fn process(&self) -> anyhow::Result<&ChildProcess> {
        let running = self.running.as_ref();
        running.with_context(|| format!("{} is stopped", self.name))
    }

    /// Folder of the streams.
    pub fn disk(&self) -> PathBuf {
        self.folder.join("jetstream")
    }

    pub(super) fn is_up(&self) -> bool {
        let frozen = self.process().and_then(ChildProcess::is_frozen);
        matches!(frozen, Ok(false))
    }

    pub(super) fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    pub(super) async fn monitored(&self, path: &str) -> reqwest::Result<reqwest::Response> {
        let answer = reqwest::get(format!("http://127.0.0.1:{}{path}", self.monitor)).await?;
        answer.error_for_status()
    }
}

/// `NATS_SERVER`, or the program that `cargo xtask` fetches.
fn program() -> PathBuf {
    let fetched = || root().join("target/tools/nats-server");
    env::var_os("NATS_SERVER").map_or_else(fetched, PathBuf::from)
}
