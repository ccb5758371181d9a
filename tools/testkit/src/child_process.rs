//! Child process with a log.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    process::{ExitStatus, Stdio},
    time::Duration,
};

use anyhow::Context;
use nix::{
    sys::signal::{Signal, kill},
    unistd::Pid,
};
use tokio::{
    net::TcpStream,
    process::{Child, Command},
    time::timeout,
};

use crate::eventually;

/// Longer than the notifier's grace period, which is the longest.
const STOP_TIMEOUT: Duration = Duration::from_secs(645);
const START_TIMEOUT: Duration = Duration::from_secs(30);
const LOG_TAIL: usize = 5;

/// Running process, killed on drop.
pub struct ChildProcess {
    /// Name of the process and its log.
    pub name: String,
    child: Child,
    log: PathBuf,
}

impl ChildProcess {
    /// Starts a program that logs to `<logs>/<name>.log`.
    pub fn start(name: &str, logs: &Path, mut command: Command) -> anyhow::Result<Self> {
        fs::create_dir_all(logs)?;
        let log = logs.join(format!("{name}.log"));
        let out = File::options().create(true).append(true).open(&log)?;
        let program = command.as_std().get_program().to_owned();
        let child = command
            .stdin(Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(out)
            // Ctrl-C must not reach the process, because the stack stops its parts in order.
            .process_group(0)
            .kill_on_drop(true)
            .spawn()
            .with_context(|| format!("{name} cannot be started: {}", program.display()))?;
        Ok(Self {
            name: name.to_owned(),
            child,
            log,
        })
    }

    /// Process id while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    pub(crate) fn running_pid(&self) -> anyhow::Result<u32> {
        self.pid().with_context(|| format!("{} does not run", self.name))
    }

    /// Waits until the process listens on this port of 127.0.0.1. Fails at once if the process ends.
    pub async fn listens(&mut self, port: u16, within: Duration) -> anyhow::Result<()> {
        let what = format!("{} accepts connections", self.name);
        eventually(&what, within, async || match self.ended() {
            Some(ended) => Some(Err(anyhow::anyhow!(ended))),
            None => TcpStream::connect(("127.0.0.1", port)).await.ok().map(|_| Ok(())),
        })
        .await?
    }

    /// Exit status and last log lines, once it has ended.
    pub fn ended(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok().flatten()?;
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let tail = lines[lines.len().saturating_sub(LOG_TAIL)..].join("\n  ");
        let (name, log) = (&self.name, self.log.display());
        Some(format!("{name} ended ({status}); see {log}:\n  {tail}"))
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let pid = Pid::from_raw(self.running_pid()?.try_into()?);
        kill(pid, signal).with_context(|| format!("{signal} to {}", self.name))
    }

    /// Whether every thread is stopped (proc(5)).
    pub fn is_frozen(&self) -> anyhow::Result<bool> {
        for thread in fs::read_dir(format!("/proc/{}/task", self.running_pid()?))? {
            let status = fs::read_to_string(thread?.path().join("status"))?;
            if !status.contains("\nState:\tT") {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Sends SIGTERM, and after a timeout SIGKILL.
    pub async fn stop(mut self) -> anyhow::Result<ExitStatus> {
        if self.child.try_wait()?.is_none() {
            self.signal(Signal::SIGTERM)?;
        }
        match timeout(STOP_TIMEOUT, self.child.wait()).await {
            Ok(status) => Ok(status?),
            Err(_) => {
                self.child.kill().await?;
                anyhow::bail!("{} did not stop within {} s", self.name, STOP_TIMEOUT.as_secs())
            }
        }
    }

    /// Stops a service.
    ///
    /// # Errors
    ///
    /// If it exceeds the longest grace period, or exits with an error.
    pub async fn stop_cleanly(mut self) -> anyhow::Result<()> {
        let (name, log) = (self.name.clone(), self.log.display().to_string());
        // SIGTERM would kill a process that has no handler yet.
        eventually("it handles SIGTERM", START_TIMEOUT, async || {
            (self.ended().is_some() || self.handles(Signal::SIGTERM)).then_some(())
        })
        .await
        .with_context(|| name.clone())?;
        let status = self.stop().await?;
        anyhow::ensure!(status.success(), "{name} ended with {status}; see {log}");
        Ok(())
    }

    fn handles(&self, signal: Signal) -> bool {
        let caught = self.pid().and_then(|pid| {
            let mask = status_field(pid, "SigCgt").ok()?;
            u64::from_str_radix(&mask, 16).ok()
        });
        caught.is_some_and(|caught| caught & (1 << (signal as u64 - 1)) != 0)
    }

    /// Kills it, as a crash would.
    pub async fn kill(mut self) -> anyhow::Result<()> {
        Ok(self.child.kill().await?)
    }
}

/// Field of `/proc/<pid>/status`.
pub(crate) fn status_field(pid: u32, name: &str) -> anyhow::Result<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let mut lines = status.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let value = value.with_context(|| format!("no {name} in the status of process {pid}"))?;
    Ok(value.trim().to_owned())
}
