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
        for entry in std::fs::read_dir(parent)? {
            let entry = entry?;
            let is_ours = entry.file_name().to_string_lossy().starts_with(FOLDER_PREFIX);
            if is_ours && is_abandoned(&entry.path()) {
                tracing::info!(folder = %entry.path().display(), "the spool of a process that ended is removed");
                std::fs::remove_dir_all(entry.path())?;
            }
        }
        let folder = tempfile::Builder::new()
            .prefix(FOLDER_PREFIX)
            .tempdir_in(parent)?;
        let lock = std::fs::File::create(folder.path().join(LOCK))?;
        lock.lock()?;
        Ok(Self { folder, _lock: lock })
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

/// Whether nobody holds its lock. One without a lock was just made.
fn is_abandoned(folder: &Path) -> bool {
    std::fs::File::open(folder.join(LOCK)).is_ok_and(|lock| lock.try_lock().is_ok())
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
