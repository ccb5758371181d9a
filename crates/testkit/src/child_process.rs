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
    process::{Child, Command},
    time::timeout,
};

/// As long as the longest grace period of a service, the notifier's, and some.
const STOP_TIMEOUT: Duration = Duration::from_secs(645);
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
        let pid = self
            .pid()
            .with_context(|| format!("{} does not run", self.name))?;
        kill(Pid::from_raw(i32::try_from(pid)?), signal).with_context(|| format!("{signal} to {}", self.name))
    }

    /// Whether each of its threads is stopped (proc(5)).
    pub fn is_frozen(&self) -> anyhow::Result<bool> {
        let pid = self
            .pid()
            .with_context(|| format!("{} does not run", self.name))?;
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

    /// Ends it at once, as a crash would.
    pub async fn kill(mut self) -> anyhow::Result<()> {
        Ok(self.child.kill().await?)
    }
}
