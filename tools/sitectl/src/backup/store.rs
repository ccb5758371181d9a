//! Where a backup's files lie: in a folder, or in a bucket.

use std::{
    collections::BTreeMap,
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail};
use resumes::{Bucket, Upload};
use tokio::{
    fs::File,
    io::{AsyncRead, AsyncWriteExt as _},
};

use crate::private_folder;

/// What a file's content is read from.
pub type Content = Box<dyn AsyncRead + Unpin>;

/// Where a backup's files lie, by names with slashes.
#[derive(Clone)]
pub enum BackupStore {
    /// A folder, of one backup.
    Folder(PathBuf),
    /// A bucket, of many.
    Bucket(Bucket),
}

impl BackupStore {
    /// Begins a file.
    ///
    /// # Errors
    ///
    /// If there is one of this name, or it cannot be made.
    pub fn create(&self, name: &str) -> anyhow::Result<NewStoredFile> {
        match self {
            Self::Folder(root) => {
                let path = root.join(name);
                let file = File::from_std(private_folder::create_file(&path)?);
                Ok(NewStoredFile::File { file, path })
            }
            Self::Bucket(bucket) => Ok(NewStoredFile::Upload(bucket.upload(name.to_owned()))),
        }
    }

    /// What a file holds; `None` where there is none.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub async fn open(&self, name: &str) -> anyhow::Result<Option<Content>> {
        match self {
            Self::Folder(root) => match File::open(root.join(name)).await {
                Ok(file) => Ok(Some(Box::new(file))),
                Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
                Err(error) => bail!("{} cannot be read: {error}.", root.join(name).display()),
            },
            Self::Bucket(bucket) => {
                let content = bucket.open(name).await;
                let content = content.with_context(|| format!("{name} cannot be read"))?;
                Ok(content.map(|content| -> Content { Box::new(content) }))
            }
        }
    }

    /// The files that belong to nothing but the backup under this prefix, and how large each is.
    ///
    /// # Errors
    ///
    /// If they cannot be listed.
    pub async fn files(&self, prefix: &str) -> anyhow::Result<BTreeMap<String, u64>> {
        let mut files = BTreeMap::new();
        match self {
            Self::Folder(root) => collect(root, "", &mut files)?,
            Self::Bucket(bucket) => {
                let listed = bucket.list(prefix).await?.into_iter();
                files.extend(listed.map(|file| (file.key, file.bytes)));
            }
        }
        Ok(files)
    }

    /// How people are told of it.
    pub fn named(&self, prefix: &str) -> String {
        match self {
            Self::Folder(root) => root.display().to_string(),
            Self::Bucket(bucket) => format!("s3://{}/{prefix}", bucket.name()),
        }
    }
}

fn collect(root: &Path, below: &str, files: &mut BTreeMap<String, u64>) -> anyhow::Result<()> {
    let folder = root.join(below);
    let entries = fs::read_dir(&folder);
    let entries = entries.with_context(|| format!("{} cannot be read", folder.display()))?;
    for entry in entries {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        let name = if below.is_empty() {
            name
        } else {
            format!("{below}/{name}")
        };
        if entry.file_type()?.is_dir() {
            collect(root, &name, files)?;
        } else {
            files.insert(name, entry.metadata()?.len());
        }
    }
    Ok(())
}

/// A file that is being written.
pub enum NewStoredFile {
    /// In a folder.
    File {
        /// The file.
        file: File,
        /// Where it lies.
        path: PathBuf,
    },
    /// In a bucket.
    Upload(Upload),
}

impl NewStoredFile {
    /// Adds to it.
    ///
    /// # Errors
    ///
    /// If the disk or the bucket does not take it.
    pub async fn write(&mut self, content: &[u8]) -> anyhow::Result<()> {
        match self {
            Self::File { file, path } => {
                let written = file.write_all(content).await;
                written.with_context(|| private_folder::cannot_be_written(path))
            }
            Self::Upload(upload) => Ok(upload.write(content).await?),
        }
    }

    /// Ends it: it is stored for good.
    ///
    /// # Errors
    ///
    /// If the disk or the bucket does not take what is left of it.
    pub async fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::File { mut file, path } => {
                let flushed = file.flush().await;
                flushed.with_context(|| private_folder::cannot_be_written(&path))?;
                let synced = file.sync_all().await;
                synced.with_context(|| private_folder::cannot_be_written(&path))
            }
            Self::Upload(upload) => Ok(upload.finish().await?),
        }
    }
}
