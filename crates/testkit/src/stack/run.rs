//! The folder of one run of the stack. What earlier ones stored is cleared when the next begins; their logs stay for a while.

use std::{
    fs::{self, File},
    path::{Path, PathBuf},
    time::{Duration, SystemTime},
};

use uuid::Uuid;

/// How long the logs of runs that ended are kept.
const KEEP_LOGS: Duration = Duration::from_secs(4 * 60 * 60);

/// A run that lasts as long as this.
pub(super) struct Run {
    folder: PathBuf,
    /// The folder, locked: no longer than this process lives, however that ends.
    _lock: File,
}

impl Run {
    /// Begins one in a folder of its own below this one, and clears what those that ended left there.
    pub(super) fn begin(runs: &Path) -> anyhow::Result<Self> {
        fs::create_dir_all(runs)?;
        for earlier in fs::read_dir(runs)?.flatten() {
            // It may last, or another may be clearing it.
            let _cleared = clear(&earlier.path());
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
}

/// Leaves logs alone of a run that ended, and in time nothing.
fn clear(run: &Path) -> anyhow::Result<()> {
    let folder = File::open(run)?;
    folder.try_lock()?;
    let age = SystemTime::now().duration_since(folder.metadata()?.modified()?);
    if age.is_ok_and(|age| age > KEEP_LOGS) {
        return Ok(fs::remove_dir_all(run)?);
    }
    remove_all_but_logs(run)
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

    /// Stores and logs as the parts of a stack leave them.
    fn write_files(run: &Path) -> anyhow::Result<[PathBuf; 2]> {
        let (store, logs) = (run.join("nats/jetstream"), run.join("logs"));
        let files = [store.join("1.blk"), logs.join("gateway.log")];
        for (folder, file) in [store, logs].iter().zip(&files) {
            fs::create_dir_all(folder)?;
            fs::write(file, "some")?;
        }
        Ok(files)
    }

    #[test]
    fn of_a_run_that_ended_only_its_logs_stay_and_not_for_ever() -> anyhow::Result<()> {
        let runs = tempfile::tempdir()?;
        let ended = Run::begin(runs.path())?;
        let folder = ended.folder().to_owned();
        let [store, log] = write_files(&folder)?;
        drop(ended);
        let _next = Run::begin(runs.path())?;
        assert!(!store.exists() && log.exists());

        let long_ago = SystemTime::now() - KEEP_LOGS - Duration::from_secs(60);
        File::open(&folder)?.set_modified(long_ago)?;
        let _one_more = Run::begin(runs.path())?;
        assert!(!folder.exists());
        Ok(())
    }

    #[test]
    fn a_run_that_lasts_keeps_all_however_old_it_is() -> anyhow::Result<()> {
        let runs = tempfile::tempdir()?;
        let lasting = Run::begin(runs.path())?;
        let files = write_files(lasting.folder())?;
        let long_ago = SystemTime::now() - KEEP_LOGS * 2;
        File::open(lasting.folder())?.set_modified(long_ago)?;
        let _next = Run::begin(runs.path())?;
        assert!(files.iter().all(|file| file.exists()));
        Ok(())
    }
}
