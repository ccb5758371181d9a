//! The folder of one run of the stack. Of one that ended well its logs stay for a while, of another all that it wrote.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use uuid::Uuid;

/// How long after it was last written to the folder of a run that ended is kept.
const KEEP: Duration = Duration::from_secs(60 * 60);
pub(super) const LOGS: &str = "logs";

/// A run that lasts as long as this.
pub(super) struct Run {
    folder: PathBuf,
    /// The folder, locked: no longer than this process lives, however that ends.
    _lock: File,
}

impl Run {
    /// Begins one in a folder of its own below this one, and removes those of runs that ended long ago.
    pub(super) fn begin(runs: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(runs)?;
        for earlier in fs::read_dir(runs)?.flatten() {
            // It may last, or another may be removing it.
            let _removed = remove_old(&earlier.path());
        }
        let folder = runs.join(Uuid::now_v7().to_string());
        fs::create_dir(&folder)?;
        let lock = File::open(&folder)?;
        // Not `try_lock`: another run may just be looking whether this one ended.
        lock.lock()?;
        Ok(Self { folder, _lock: lock })
    }

    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Removes what the run stored: nobody looks into one that ended well, but for its logs.
    pub(super) fn end(self) -> anyhow::Result<()> {
        remove_all_but_logs(&self.folder)
    }
}

fn remove_old(run: &Path) -> anyhow::Result<()> {
    let folder = File::open(run)?;
    folder.try_lock()?;
    let mut last_written = folder.metadata()?.modified()?;
    for log in fs::read_dir(run.join(LOGS)).into_iter().flatten().flatten() {
        last_written = last_written.max(log.metadata()?.modified()?);
    }
    let age = SystemTime::now().duration_since(last_written);
    if age.is_ok_and(|age| age > KEEP) {
        fs::remove_dir_all(run)?;
    }
    Ok(())
}

fn remove_all_but_logs(folder: &Path) -> anyhow::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            remove_all_but_logs(&path)?;
        } else if path.extension().is_none_or(|end| end != "log") {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A run that wrote to its store and its logs so long before.
    fn run(runs: &Path, before: Duration) -> anyhow::Result<(Run, [PathBuf; 2])> {
        let run = Run::begin(runs)?;
        let (store, logs) = (run.folder().join("nats/jetstream"), run.folder().join(LOGS));
        let files = [store.join("1.blk"), logs.join("gateway.log")];
        for (folder, file) in [store, logs].iter().zip(&files) {
            fs::create_dir_all(folder)?;
            fs::write(file, "some")?;
        }
        let written_at = SystemTime::now() - before;
        for written in [&files[1], run.folder()] {
            File::open(written)?.set_modified(written_at)?;
        }
        Ok((run, files))
    }

    #[test]
    fn of_a_run_that_ended_well_its_logs_stay() -> anyhow::Result<()> {
        let runs = tempfile::tempdir()?;
        let (ended, [store, log]) = run(runs.path(), Duration::ZERO)?;
        ended.end()?;
        let _next = Run::begin(runs.path())?;
        assert!(!store.exists() && log.exists());
        Ok(())
    }

    #[test]
    fn of_a_run_that_failed_all_stays_and_not_for_ever() -> anyhow::Result<()> {
        let runs = tempfile::tempdir()?;
        for (before, stays) in [(KEEP / 2, true), (KEEP * 2, false)] {
            let (failed, files) = run(runs.path(), before)?;
            drop(failed);
            let _next = Run::begin(runs.path())?;
            assert!(files.iter().all(|file| file.exists() == stays));
        }
        Ok(())
    }

    #[test]
    fn a_run_that_lasts_keeps_all_however_long_ago_it_began() -> anyhow::Result<()> {
        let runs = tempfile::tempdir()?;
        let (_lasting, files) = run(runs.path(), KEEP * 2)?;
        let _next = Run::begin(runs.path())?;
        assert!(files.iter().all(|file| file.exists()));
        Ok(())
    }
}
