//! Spool: unnamed temporary file of an arriving résumé. The system removes it when the process closes it or dies.

use std::{
    fs, io,
    os::fd::AsRawFd,
    path::{Path, PathBuf},
};

use sha2::{Digest, Sha256};
use tokio::{
    fs::File,
    io::{AsyncWriteExt, BufWriter},
    task::spawn_blocking,
};

const BUFFER_BYTES: usize = 64 * 1024;

pub struct Spool {
    file: BufWriter<File>,
    file_name: String,
    pub size_bytes: u64,
    hash: Sha256,
}

pub struct Spooled {
    file: fs::File,
    pub file_name: String,
    pub size_bytes: u64,
    pub sha256: String,
}

impl Spool {
    /// # Errors
    ///
    /// If no file can be created in the folder.
    pub async fn open(folder: &Path, file_name: String) -> io::Result<Self> {
        let folder = folder.to_owned();
        let file = spawn_blocking(move || tempfile::tempfile_in(folder)).await??;
        Ok(Self {
            file: BufWriter::with_capacity(BUFFER_BYTES, File::from_std(file)),
            file_name,
            size_bytes: 0,
            hash: Sha256::new(),
        })
    }

    /// # Errors
    ///
    /// If writing to the disk fails.
    pub async fn write(&mut self, chunk: &[u8]) -> io::Result<()> {
        self.size_bytes += chunk.len() as u64;
        self.hash.update(chunk);
        self.file.write_all(chunk).await
    }

    /// # Errors
    ///
    /// If writing to the disk fails.
    pub async fn finish(mut self) -> io::Result<Spooled> {
        self.file.flush().await?;
        Ok(Spooled {
            file: self.file.into_inner().into_std().await,
            file_name: self.file_name,
            size_bytes: self.size_bytes,
            sha256: base16ct::lower::encode_string(&self.hash.finalize()),
        })
    }
}

impl Spooled {
    /// Path by which this process can open the unnamed file again, to read it from its start.
    pub fn path(&self) -> PathBuf {
        format!("/proc/self/fd/{}", self.file.as_raw_fd()).into()
    }
}
