//! Where backups are kept: a folder, or a bucket.

use std::{
    fs,
    path::{Path, PathBuf},
};

use anyhow::Context as _;
use resumes::{Bucket, ListedFile, Upload};
use tokio::{
    fs::File,
    io::{AsyncRead, AsyncWriteExt as _},
};

use crate::private_folder;

/// Ending of a file in a folder that is not whole yet.
const UNFINISHED: &str = ".part";

/// Content of a file.
pub type Content = Box<dyn AsyncRead + Unpin>;

/// Where backups are kept, in files whose names have slashes.
pub enum Place {
    /// Only its owner may read what is written.
    Folder(PathBuf),
    /// A bucket for backups alone.
    Bucket(Bucket),
}

impl Place {
    /// All files in the folders that `is_ours` takes.
    ///
    /// # Errors
    ///
    /// If they cannot be listed.
    pub async fn list(&self, is_ours: impl Fn(&str) -> bool) -> anyhow::Result<Vec<ListedFile>> {
        match self {
            Self::Folder(root) => {
                let files = files_below(root, is_ours);
                files.with_context(|| format!("the folder of backups {} cannot be used", root.display()))
            }
            Self::Bucket(bucket) => {
                let files = bucket.list("").await;
                let mut files = files
                    .with_context(|| format!("the bucket of backups {} cannot be used", bucket.name()))?;
                files.retain(|file| {
                    file.key
                        .split_once('/')
                        .is_some_and(|(folder, _)| is_ours(folder))
                });
                Ok(files)
            }
        }
    }

    /// Opens a file.
    ///
    /// # Errors
    ///
    /// If it is missing, or cannot be read.
    pub async fn open(&self, name: &str) -> anyhow::Result<Content> {
        let cannot_be_read = || format!("{name} of the backup cannot be read");
        match self {
            Self::Folder(root) => {
                let file = File::open(root.join(name)).await;
                Ok(Box::new(file.with_context(cannot_be_read)?))
            }
            Self::Bucket(bucket) => {
                let file = bucket.open(name).await.with_context(cannot_be_read)?;
                Ok(Box::new(file.with_context(cannot_be_read)?))
            }
        }
    }

    /// Begins a file, which is there once it is finished.
    ///
    /// # Errors
    ///
    /// If it cannot be made.
    pub fn create(&self, name: &str) -> anyhow::Result<NewFile> {
        match self {
            Self::Folder(root) => {
                let path = root.join(name);
                let folder = path.parent().unwrap_or(root);
                private_folder::create(folder)?;
                let unfinished = unfinished(&path);
                // A backup that was killed may have left it.
                if unfinished.exists() {
                    fs::remove_file(&unfinished)?;
                }
                let file = private_folder::create_file(&unfinished)?;
                Ok(NewFile::File(File::from_std(file), path))
            }
            Self::Bucket(bucket) => Ok(NewFile::Upload(bucket.upload(name.to_owned()))),
        }
    }

    /// Removes a file.
    ///
    /// # Errors
    ///
    /// If it is not removed.
    pub async fn delete(&self, name: &str) -> anyhow::Result<()> {
        match self {
            Self::Folder(root) => {
                let path = root.join(name);
                fs::remove_file(&path).with_context(|| format!("{name} cannot be removed"))?;
                for folder in path.ancestors().skip(1).take_while(|folder| *folder != *root) {
                    // One that holds more stays.
                    if fs::remove_dir(folder).is_err() {
                        break;
                    }
                }
                Ok(())
            }
            Self::Bucket(bucket) => Ok(bucket.delete(name).await?),
        }
    }

    /// Name of the place, or of what is in it, for people.
    pub fn named(&self, name: &str) -> String {
        match self {
            Self::Folder(root) => root.join(name).display().to_string(),
            Self::Bucket(bucket) => format!("s3://{}/{name}", bucket.name()),
        }
    }
}

fn files_below(root: &Path, is_ours: impl Fn(&str) -> bool) -> anyhow::Result<Vec<ListedFile>> {
    let (mut files, mut folders) = (Vec::new(), vec![root.to_owned()]);
    folders.retain(|root| root.exists());
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let (path, metadata) = (entry.path(), entry.metadata()?);
            let key = path.strip_prefix(root)?.display().to_string();
            if metadata.is_file() {
                files.push(ListedFile {
                    key,
                    bytes: metadata.len(),
                    stored: metadata.modified()?.into(),
                });
            } else if folder != root || is_ours(&key) {
                folders.push(path);
            }
        }
    }
    files.retain(|file| file.key.contains('/'));
    Ok(files)
}

fn unfinished(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(UNFINISHED);
    name.into()
}

/// A file that is being written.
pub enum NewFile {
    /// In a folder, and its name once it is whole.
    File(File, PathBuf),
    /// In a bucket.
    Upload(Upload),
}

impl NewFile {
    /// Adds to it.
    ///
    /// # Errors
    ///
    /// If the disk or the bucket does not take it.
    pub async fn write(&mut self, content: &[u8]) -> anyhow::Result<()> {
        match self {
            Self::File(file, path) => {
                let written = file.write_all(content).await;
                written.with_context(|| private_folder::cannot_be_written(path))
            }
            Self::Upload(upload) => Ok(upload.write(content).await?),
        }
    }

    /// Stores it for good.
    ///
    /// # Errors
    ///
    /// If the disk or the bucket does not take it.
    pub async fn finish(self) -> anyhow::Result<()> {
        match self {
            Self::File(mut file, path) => {
                let finished = async {
                    file.flush().await?;
                    file.sync_all().await?;
                    tokio::fs::rename(unfinished(&path), &path).await
                };
                let finished = finished.await;
                finished.with_context(|| private_folder::cannot_be_written(&path))
            }
            Self::Upload(upload) => Ok(upload.finish().await?),
        }
    }
}
