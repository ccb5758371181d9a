//! Fetches tools concurrently, and prints the progress.

use std::{
    fs,
    io::{Write, stdout},
    path::{Path, PathBuf},
    sync::mpsc::{RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use crate::step::{cargo, command_output, run_quietly};

use super::folder::folder;

/// How often the progress is printed.
const PROGRESS_INTERVAL: Duration = Duration::from_secs(10);
const MEGABYTE: u64 = 1_000_000;

/// Something to be fetched.
pub struct Fetch {
    /// What it is, as a person is told.
    pub what: &'static str,
    /// How many megabytes it takes on the disk, about.
    pub megabytes: u64,
    /// Where it grows meanwhile.
    pub into: PathBuf,
    /// Whether that was done already.
    pub is_there: bool,
    /// Does it.
    pub run: Box<dyn Fn() -> anyhow::Result<()> + Send + Sync>,
}

/// A tool from crates.io, which tells its version where it is asked so. Without optimisation, because it is compiled longer than it ever
/// runs.
pub fn from_source(name: &'static str, version: &'static str, ask: &[&str]) -> Fetch {
    let build = folder().join(format!("{name}-build"));
    let target = build.clone();
    let run = move || {
        let mut install = cargo(&[
            "install",
            name,
            "--quiet",
            "--locked",
            "--debug",
            "--version",
            version,
        ]);
        install
            .arg("--root")
            .arg(folder())
            .arg("--target-dir")
            .arg(&target)
            .env("CARGO_PROFILE_DEV_DEBUG", "false");
        run_quietly(name, &mut install, "Is crates.io reachable?")?;
        Ok(fs::remove_dir_all(&target)?)
    };
    Fetch {
        what: name,
        megabytes: 350,
        into: build,
        is_there: command_output(folder().join("bin").join(name), ask)
            .is_some_and(|said| said.ends_with(version)),
        run: Box::new(run),
    }
}

/// Fetches all concurrently, while `meanwhile` runs on this thread; `then` runs beside it once all are there.
///
/// # Errors
///
/// The first of a fetch or of the functions. All others are waited for.
pub fn fetch_concurrently(
    fetches: &[Fetch],
    meanwhile: impl FnOnce() -> anyhow::Result<()>,
    then: impl FnOnce() -> anyhow::Result<()> + Send,
) -> anyhow::Result<()> {
    announce(fetches)?;
    thread::scope(|scope| {
        let running = scope.spawn(move || all(fetches).and_then(|()| then()));
        let done = meanwhile();
        let fetched = running
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        done.and(fetched)
    })
}

fn announce(fetches: &[Fetch]) -> anyhow::Result<()> {
    if fetches.is_empty() {
        return Ok(());
    }
    let mut out = stdout();
    writeln!(out, "▸ Fetching what is missing, into this checkout:")?;
    for Fetch { what, megabytes, .. } in fetches {
        writeln!(out, "    {what}, {megabytes} MB")?;
    }
    Ok(())
}

fn all(fetches: &[Fetch]) -> anyhow::Result<()> {
    let started = Instant::now();
    let (ended, ends) = channel();
    thread::scope(|scope| {
        for fetch in fetches {
            let ended = ended.clone();
            scope.spawn(move || ended.send((fetch, (fetch.run)())));
        }
        drop(ended);
        let mut left: Vec<&Fetch> = fetches.iter().collect();
        let mut outcome = Ok(());
        loop {
            match ends.recv_timeout(PROGRESS_INTERVAL) {
                Ok((fetch, done)) => {
                    left.retain(|other| other.what != fetch.what);
                    let seconds = started.elapsed().as_secs_f64();
                    match &done {
                        Ok(()) => writeln!(stdout(), "  {}: there after {seconds:.1} s", fetch.what)?,
                        // At once, because what runs beside it may take minutes yet.
                        Err(error) => writeln!(stdout(), "  {}: {error:#}", fetch.what)?,
                    }
                    outcome = outcome.and(done);
                }
                Err(RecvTimeoutError::Timeout) => {
                    let states: Vec<String> = left.iter().map(|fetch| fetch.state()).collect();
                    writeln!(stdout(), "  fetching: {}", states.join("; "))?;
                }
                Err(RecvTimeoutError::Disconnected) => return outcome,
            }
        }
    })
}

impl Fetch {
    /// How far it is. What is there may exceed what was announced a little.
    fn state(&self) -> String {
        let there = size(&self.into) / MEGABYTE;
        format!("{} {there} of {} MB", self.what, self.megabytes.max(there))
    }
}

/// Bytes of a file, or of all files below a folder; what vanishes meanwhile counts nothing.
fn size(path: &Path) -> u64 {
    let Ok(file) = fs::symlink_metadata(path) else {
        return 0;
    };
    if !file.is_dir() {
        return file.len();
    }
    let entries = fs::read_dir(path).into_iter().flatten().flatten();
    entries.map(|entry| size(&entry.path())).sum()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tools::Tool;

    /// What is announced is what it takes, for everything that was fetched here and stayed where it grew.
    #[test]
    fn what_is_fetched_takes_about_as_much_as_was_announced() {
        let fetches = [
            Tool::AllPackages,
            Tool::TraceViewer,
            Tool::Observatory,
            Tool::ForeignClients,
            Tool::Linters,
            Tool::DockerfileReader,
            Tool::KubernetesCheckers,
        ];
        let there = fetches
            .into_iter()
            .filter_map(Tool::fetch)
            .filter(|fetch| fetch.is_there);
        for Fetch {
            what,
            megabytes,
            into,
            ..
        } in there
        {
            let taken = size(&into) / MEGABYTE;
            assert!(
                taken.abs_diff(megabytes) * 4 <= megabytes,
                "{what}: {taken} MB, announced were {megabytes}"
            );
        }
    }
}
