//! The spool of résumés: what lies in it although no process needs it any more.

use std::{
    fs::{self, File, TryLockError},
    io,
    path::{Path, PathBuf},
};

/// Every file below this folder but the locks of processes that live: each holds one for as long.
///
/// # Errors
///
/// If a folder cannot be read, or is gone by then.
pub fn files_in(folder: &Path) -> io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(files_in(&path)?);
        } else if !is_held(&path) {
            files.push(path);
        }
    }
    Ok(files)
}

fn is_held(path: &Path) -> bool {
    File::open(path).is_ok_and(|file| matches!(file.try_lock(), Err(TryLockError::WouldBlock)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_process_left_behind_is_found_and_the_lock_of_one_that_lives_is_not() -> io::Result<()> {
        let spool = tempfile::tempdir()?;
        let [of_one_that_lives, abandoned] = ["a", "b"].map(|name| spool.path().join(name));
        for folder in [&of_one_that_lives, &abandoned] {
            fs::create_dir(folder)?;
            fs::write(folder.join("lock"), "")?;
        }
        let lock = File::open(of_one_that_lives.join("lock"))?;
        lock.lock()?;
        assert_eq!(files_in(spool.path())?, [abandoned.join("lock")]);
        fs::remove_dir_all(abandoned)?;
        let resume = of_one_that_lives.join("cv");
        fs::write(&resume, "")?;
        assert_eq!(files_in(spool.path())?, [resume]);
        Ok(())
    }
}
