//! The résumé on its way in: a temporary file that goes with its owner, in a folder that goes with its process.

use std::{io, path::Path, time::Duration};

use sha2::{Digest, Sha256};
use tempfile::{TempDir, TempPath};
use tokio::{
    fs::File,
    io::{AsyncWriteExt, BufWriter},
};

use crate::resume::MAX_BYTES;

const BUFFER_BYTES: usize = 64 * 1024;

/// Why a chunk was not taken.
#[derive(Debug, thiserror::Error)]
pub enum SpoolError {
    /// The résumé is larger than [`MAX_BYTES`].
    #[error("the résumé is too large")]
    TooLarge,
    /// The disk would not take it.
    #[error("the résumé cannot be spooled: {0}")]
    Io(#[from] io::Error),
}

/// What every folder of a spool is called, and a number of its own.
const FOLDER_PREFIX: &str = "careers-spool-";
/// The file in it that its process holds a lock on, for as long as it lives. Of all files it is made first, and goes last.
const LOCK: &str = "lock";
/// A folder without a lock is one that is being made, unless it is older than this: then its process was killed over that.
const MADE_WITHIN: Duration = Duration::from_secs(60);

/// The folder of one process's temporary files. It goes with the process, or with the next one that starts.
pub struct SpoolFolder {
    folder: TempDir,
    _lock: std::fs::File,
}

impl SpoolFolder {
    /// Makes one in `parent`, and removes those of processes that ended without doing so.
    ///
    /// # Errors
    ///
    /// If `parent` cannot be read or written to.
    pub fn create(parent: &Path) -> io::Result<Self> {
        remove_abandoned(parent)?;
        loop {
            let folder = tempfile::Builder::new()
                .prefix(FOLDER_PREFIX)
                .tempdir_in(parent)?;
            let path = folder.path().join(LOCK);
            let lock = std::fs::File::create(&path)?;
            lock.lock()?;
            // A process that starts in the same moment may have taken it for abandoned before it was locked.
            if path.exists() {
                return Ok(Self { folder, _lock: lock });
            }
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

impl Drop for SpoolFolder {
    fn drop(&mut self) {
        if let Err(error) = remove_files(self.path()) {
            tracing::warn!(%error, "the spool was not emptied; the next process that starts will");
        }
    }
}

fn remove_abandoned(parent: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(parent)? {
        let folder = entry?.path();
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        if !name.starts_with(FOLDER_PREFIX) {
            continue;
        }
        // Held until the folder is gone.
        let lock = std::fs::File::open(folder.join(LOCK));
        let is_abandoned = match &lock {
            Ok(lock) => lock.try_lock().is_ok(),
            Err(_) => is_older_than(MADE_WITHIN, &folder),
        };
        if is_abandoned
            && let Err(error) = remove_files(&folder).and_then(|()| std::fs::remove_dir_all(&folder))
        {
            tracing::warn!(%error, folder = %folder.display(), "the spool of a process that ended was not removed");
        }
    }
    Ok(())
}

/// All but the lock: a process that is killed meanwhile leaves a folder that still tells what it is.
fn remove_files(folder: &Path) -> io::Result<()> {
    for file in std::fs::read_dir(folder)? {
        let file = file?;
        if file.file_name() != LOCK {
            std::fs::remove_file(file.path())?;
        }
    }
    Ok(())
}

fn is_older_than(age: Duration, folder: &Path) -> bool {
    let modified = folder.metadata().and_then(|metadata| metadata.modified());
    modified.is_ok_and(|modified| modified.elapsed().is_ok_and(|passed| passed > age))
}

/// A résumé that is still arriving.
pub struct Spool {
    file: BufWriter<File>,
    path: TempPath,
    file_name: String,
    size_bytes: u64,
    hash: Sha256,
}

/// A résumé that arrived whole.
pub struct Spooled {
    path: TempPath,
    pub file_name: String,
    pub size_bytes: u64,
    pub sha256: String,
}

impl Spool {
    /// Makes the temporary file.
    ///
    /// # Errors
    ///
    /// If the folder takes no file.
    pub async fn open(folder: &SpoolFolder, file_name: String) -> Result<Self, SpoolError> {
        let folder = folder.path().to_owned();
        let temporary = blocking(move || tempfile::NamedTempFile::new_in(folder)).await?;
        let (file, path) = temporary.into_parts();
        Ok(Self {
            file: BufWriter::with_capacity(BUFFER_BYTES, File::from_std(file)),
            path,
            file_name,
            size_bytes: 0,
            hash: Sha256::new(),
        })
    }

    /// Adds to it.
    ///
    /// # Errors
    ///
    /// If the résumé becomes larger than [`MAX_BYTES`], or the disk does not take it.
    pub async fn write(&mut self, chunk: &[u8]) -> Result<(), SpoolError> {
        self.size_bytes += chunk.len() as u64;
        if self.size_bytes > MAX_BYTES {
            return Err(SpoolError::TooLarge);
        }
        self.hash.update(chunk);
        self.file.write_all(chunk).await?;
        Ok(())
    }

    /// Ends it.
    ///
    /// # Errors
    ///
    /// If the disk does not take what is left.
    pub async fn finish(mut self) -> Result<Spooled, SpoolError> {
        self.file.flush().await?;
        Ok(Spooled {
            path: self.path,
            file_name: self.file_name,
            size_bytes: self.size_bytes,
            sha256: base16ct::lower::encode_string(&self.hash.finalize()),
        })
    }
}

impl Spooled {
    pub fn path(&self) -> &Path {
        &self.path
    }
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> io::Result<T> {
    tokio::task::spawn_blocking(work)
        .await
        .map_err(io::Error::other)?
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use super::*;

    #[test]
    fn of_many_that_start_at_once_each_has_a_spool_and_none_takes_anothers() -> io::Result<()> {
        let parent = tempfile::tempdir()?;
        for number in 0..50 {
            let abandoned = parent.path().join(format!("{FOLDER_PREFIX}{number}"));
            std::fs::create_dir(&abandoned)?;
            std::fs::write(abandoned.join(LOCK), "")?;
        }
        let spools: Vec<SpoolFolder> = std::thread::scope(|scope| {
            let starting: Vec<_> = (0..16)
                .map(|_| scope.spawn(|| SpoolFolder::create(parent.path())))
                .collect();
            starting
                .into_iter()
                .map(|start| start.join().expect("it does not panic"))
                .collect::<io::Result<_>>()
        })?;
        for spool in &spools {
            assert!(spool.path().join(LOCK).exists());
        }
        assert_eq!(std::fs::read_dir(parent.path())?.count(), spools.len());
        Ok(())
    }

    #[test]
    fn what_a_kill_left_without_a_lock_is_removed_once_it_is_old() -> io::Result<()> {
        let parent = tempfile::tempdir()?;
        let folder = |name: &str, age: Duration| {
            let folder = parent.path().join(format!("{FOLDER_PREFIX}{name}"));
            std::fs::create_dir(&folder)?;
            std::fs::write(folder.join("resume"), "a resume")?;
            std::fs::File::open(&folder)?.set_modified(SystemTime::now() - age)?;
            io::Result::Ok(folder)
        };
        let left = folder("left", MADE_WITHIN + Duration::from_secs(1))?;
        let young = folder("young", Duration::ZERO)?;
        let own = SpoolFolder::create(parent.path())?;
        assert!(!left.exists() && young.exists());
        std::fs::write(own.path().join("resume"), "another")?;
        let path = own.path().to_owned();
        drop(own);
        assert!(!path.exists());
        Ok(())
    }
}
