//! Child process of the stack: its log, its signals, its end.

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

/// As long as the longest grace period of a service, the notifier's, and some.
const STOP_TIMEOUT: Duration = Duration::from_secs(645);
/// How long a program may take until it handles signals.
const START_TIMEOUT: Duration = Duration::from_secs(30);
const LOG_TAIL: usize = 5;

/// A running process. Dropping it kills it.
pub struct ChildProcess {
    name: String,
    child: Child,
    log: PathBuf,
}

impl ChildProcess {
    /// Starts a program that writes to `<logs>/<name>.log`.
    pub fn start(name: &str, logs: &Path, mut command: Command) -> anyhow::Result<Self> {
        fs::create_dir_all(logs)?;
        let log = logs.join(format!("{name}.log"));
        let out = File::options().create(true).append(true).open(&log)?;
        let program = command.as_std().get_program().to_owned();
        let child = command
            .stdin(Stdio::null())
            .stdout(out.try_clone()?)
            .stderr(out)
            // Ctrl-C reaches the whole group: the parts are stopped in order instead.
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

    /// Its name in logs and on the status screen.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Its process id, while it runs.
    pub fn pid(&self) -> Option<u32> {
        self.child.id()
    }

    /// The same of one that must run.
    pub(crate) fn running_pid(&self) -> anyhow::Result<u32> {
        self.pid().with_context(|| format!("{} does not run", self.name))
    }

    /// Waits until it takes connections at this port of 127.0.0.1; fails as soon as it has ended.
    pub async fn listens(&mut self, port: u16, within: Duration) -> anyhow::Result<()> {
        let what = format!("{} takes connections", self.name);
        eventually(&what, within, async || match self.ended() {
            Some(ended) => Some(Err(anyhow::anyhow!(ended))),
            None => TcpStream::connect(("127.0.0.1", port)).await.ok().map(|_| Ok(())),
        })
        .await?
    }

    /// How it ended, if it did, with the last lines of its log.
    pub fn ended(&mut self) -> Option<String> {
        let status = self.child.try_wait().ok().flatten()?;
        let log = fs::read_to_string(&self.log).unwrap_or_default();
        let lines: Vec<&str> = log.lines().collect();
        let tail = lines[lines.len().saturating_sub(LOG_TAIL)..].join("\n  ");
        Some(format!(
            "{} ended ({status}); see {}:\n  {tail}",
            self.name,
            self.log.display()
        ))
    }

    /// Sends a signal.
    pub fn signal(&self, signal: Signal) -> anyhow::Result<()> {
        let pid = Pid::from_raw(self.running_pid()?.try_into()?);
        kill(pid, signal).with_context(|| format!("{signal} to {}", self.name))
    }

    /// Whether each of its threads is stopped (proc(5)).
    pub fn is_frozen(&self) -> anyhow::Result<bool> {
        let pid = self.running_pid()?;
        for thread in fs::read_dir(format!("/proc/{pid}/task"))? {
            let stat = fs::read_to_string(thread?.path().join("stat"))?;
            // The state follows the name, which stands in brackets and may hold anything.
            let state = stat
                .rsplit_once(')')
                .and_then(|(_, rest)| rest.split_whitespace().next());
            if state != Some("T") {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Stops it: SIGTERM, and SIGKILL where that is not obeyed.
    pub async fn stop(self) -> anyhow::Result<ExitStatus> {
        self.terminate(STOP_TIMEOUT).await
    }

    /// The same, and fails unless it ends within this grace period, and with status 0: whatever is left undone then was to be
    /// done.
    pub async fn stop_within(mut self, grace: Duration) -> anyhow::Result<()> {
        let (name, log) = (self.name.clone(), self.log.clone());
        // One that was started a moment ago would end by the signal itself.
        eventually("it can be asked to stop", START_TIMEOUT, async || {
            (self.ended().is_some() || self.catches(Signal::SIGTERM)).then_some(())
        })
        .await
        .with_context(|| name.clone())?;
        let status = self.terminate(grace).await?;
        anyhow::ensure!(
            status.success(),
            "{name} was to stop, and ended with {status}; see {}",
            log.display()
        );
        Ok(())
    }

    /// Whether it handles a signal itself by now (proc(5)).
    fn catches(&self, signal: Signal) -> bool {
        let caught = self.pid().and_then(|pid| {
            let mask = status_field(pid, "SigCgt").ok()?;
            u64::from_str_radix(&mask, 16).ok()
        });
        caught.is_some_and(|caught| caught & (1 << (signal as u64 - 1)) != 0)
    }

    async fn terminate(mut self, grace: Duration) -> anyhow::Result<ExitStatus> {
        if self.child.try_wait()?.is_none() {
            self.signal(Signal::SIGTERM)?;
        }
        match timeout(grace, self.child.wait()).await {
            Ok(status) => Ok(status?),
            Err(_) => {
                self.child.kill().await?;
                anyhow::bail!("{} did not stop within {} s", self.name, grace.as_secs_f32())
            }
        }
    }

    /// Ends it at once, as a crash would.
    pub async fn kill(mut self) -> anyhow::Result<()> {
        Ok(self.child.kill().await?)
    }
}

/// A field of a process's status (proc(5)).
pub(crate) fn status_field(pid: u32, name: &str) -> anyhow::Result<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
    let mut lines = status.lines();
    let value = lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
    let value = value.with_context(|| format!("no {name} in the status of process {pid}"))?;
    Ok(value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told of a shell that does this when it is asked to stop, and has 2 s for it.
    async fn told_of(on_stop: &str) -> anyhow::Result<String> {
        let logs = tempfile::tempdir()?;
        let mut shell = Command::new("sh");
        shell.args([
            "-c",
            &format!("trap '{on_stop}' TERM; while :; do sleep 0.05; done"),
        ]);
        let shell = ChildProcess::start("shell", logs.path(), shell)?;
        let stopped = shell.stop_within(Duration::from_secs(2)).await;
        Ok(stopped.err().map(|error| error.to_string()).unwrap_or_default())
    }

    #[tokio::test]
    async fn a_process_that_stops_with_an_error_or_too_late_is_told() -> anyhow::Result<()> {
        assert_eq!(told_of("exit 0").await?, "");
        let told = told_of("exit 3").await?;
        assert!(
            told.starts_with("shell was to stop, and ended with exit status: 3"),
            "{told}"
        );
        assert_eq!(told_of(":").await?, "shell did not stop within 2 s");
        Ok(())
    }
}
