//! The résumé on its way in: a temporary file that goes with its owner, in a folder that goes with its process.

use std::{io, path::Path};

use sha2::{Digest, Sha256};
use tempfile::{TempDir, TempPath};
use tokio::{
    fs::File,
    io::{AsyncWriteExt, BufWriter},
};

use crate::resume::{MAX_BYTES, ResumeKind};

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
/// The file in it that its process holds a lock on, for as long as it lives.
const LOCK: &str = "lock";

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

fn remove_abandoned(parent: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(parent)? {
        let entry = entry?;
        let is_ours = entry.file_name().to_string_lossy().starts_with(FOLDER_PREFIX);
        // One without a lock was just made.
        let Some(lock) = std::fs::File::open(entry.path().join(LOCK))
            .ok()
            .filter(|_| is_ours)
        else {
            continue;
        };
        // Held until the folder is gone.
        if lock.try_lock().is_ok()
            && let Err(error) = std::fs::remove_dir_all(entry.path())
        {
            tracing::warn!(%error, folder = %entry.path().display(), "the spool of a process that ended was not removed");
        }
    }
    Ok(())
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
    /// What its content says it is.
    pub kind: Option<ResumeKind>,
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

    /// Ends it, and reads its kind.
    ///
    /// # Errors
    ///
    /// If the disk does not take what is left, or the file cannot be read.
    pub async fn finish(mut self) -> Result<Spooled, SpoolError> {
        self.file.flush().await?;
        let path = self.path.to_path_buf();
        let kind = blocking(move || ResumeKind::of_content(&mut std::fs::File::open(path)?)).await?;
        Ok(Spooled {
            path: self.path,
            file_name: self.file_name,
            size_bytes: self.size_bytes,
            sha256: self
                .hash
                .finalize()
                .iter()
                .map(|byte| format!("{byte:02x}"))
                .collect(),
            kind,
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
}
