//! The folder of a backup, and its manifest, which is written last: a folder without one is no backup.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::ErrorKind,
    path::{Path, PathBuf},
};

use anyhow::{Context as _, bail, ensure};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use time::{OffsetDateTime, serde::rfc3339};
use tokio::{
    fs::File,
    io::{AsyncReadExt as _, AsyncWriteExt as _},
};

use crate::private_folder;

const MANIFEST: &str = "manifest.json";
/// The form of the folder. A change that an older `sitectl` cannot read makes it 2.
const FORMAT: u32 = 1;
const BUFFER_BYTES: usize = 128 * 1024;

/// What a backup is, and every file of it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    format: u32,
    /// When it was begun.
    #[serde(with = "rfc3339")]
    pub taken: OffsetDateTime,
    /// The version of `sitectl` that wrote it.
    sitectl: String,
    /// The version of the broker that it was taken from; an older one may be unable to take it.
    pub broker: String,
    /// What it holds.
    pub contents: Contents,
    files: BTreeMap<String, FileChecksum>,
}

/// What a backup holds.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Contents {
    /// The streams, buckets of the broker among them, in the order in which they were taken.
    pub streams: Vec<StreamCount>,
    /// Streams that the broker holds in memory only: it makes no snapshots of these.
    pub left_out: Vec<String>,
    /// How many objects lay in the S3 bucket.
    pub objects: u64,
}

/// A stream and how much it holds.
#[derive(Serialize, Deserialize)]
pub struct StreamCount {
    /// Its name.
    pub stream: String,
    /// How many messages.
    pub messages: u64,
}

/// Checksum of a file when it was written.
#[derive(PartialEq, Eq, Serialize, Deserialize)]
struct FileChecksum {
    bytes: u64,
    sha256: String,
}

/// A backup that is being written.
pub struct BackupWriter {
    root: PathBuf,
    files: BTreeMap<String, FileChecksum>,
}

impl BackupWriter {
    /// Makes the folder.
    ///
    /// # Errors
    ///
    /// If something lies in it already, or it cannot be made.
    pub fn create(root: &Path) -> anyhow::Result<Self> {
        private_folder::ensure_new_or_empty(root)?;
        for folder in [root, &root.join("streams"), &root.join("objects")] {
            private_folder::create(folder)?;
        }
        Ok(Self {
            root: root.to_owned(),
            files: BTreeMap::new(),
        })
    }

    /// Begins a file.
    ///
    /// # Errors
    ///
    /// If there is one of this name, or it cannot be made.
    pub fn file(&self, name: String) -> anyhow::Result<NewFile> {
        let path = self.root.join(&name);
        Ok(NewFile {
            file: File::from_std(private_folder::create_file(&path)?),
            name,
            path,
            bytes: 0,
            hash: Sha256::new(),
        })
    }

    /// Ends a file: it is on the disk, and will stand in the manifest.
    ///
    /// # Errors
    ///
    /// If the disk does not take what is left of it.
    pub async fn keep(&mut self, file: NewFile) -> anyhow::Result<()> {
        let (name, checksum) = file.end().await?;
        self.files.insert(name, checksum);
        Ok(())
    }

    /// Writes a small file.
    ///
    /// # Errors
    ///
    /// If there is one of this name, or the disk does not take it.
    pub async fn keep_json(&mut self, name: String, content: &impl Serialize) -> anyhow::Result<()> {
        let mut file = self.file(name)?;
        file.write(&serde_json::to_vec_pretty(content)?).await?;
        self.keep(file).await
    }

    /// Writes the manifest, which makes the folder a backup; gives how many bytes it holds.
    ///
    /// # Errors
    ///
    /// If the disk does not take it.
    pub async fn write_manifest(
        self,
        taken: OffsetDateTime,
        broker: String,
        contents: Contents,
    ) -> anyhow::Result<(Manifest, u64)> {
        let manifest = Manifest {
            format: FORMAT,
            taken,
            sitectl: env!("CARGO_PKG_VERSION").to_owned(),
            broker,
            contents,
            files: self.files,
        };
        let unsealed = Self {
            root: self.root,
            files: BTreeMap::new(),
        };
        let mut file = unsealed.file(MANIFEST.to_owned())?;
        file.write(&serde_json::to_vec_pretty(&manifest)?).await?;
        file.end().await?;
        let bytes = manifest.files.values().map(|checksum| checksum.bytes).sum();
        Ok((manifest, bytes))
    }
}

/// A file that is being written.
pub struct NewFile {
    name: String,
    path: PathBuf,
    file: File,
    bytes: u64,
    hash: Sha256,
}

impl NewFile {
    /// Adds to it.
    ///
    /// # Errors
    ///
    /// If the disk does not take it.
    pub async fn write(&mut self, content: &[u8]) -> anyhow::Result<()> {
        self.hash.update(content);
        self.bytes += content.len() as u64;
        let written = self.file.write_all(content).await;
        written.with_context(|| private_folder::cannot_be_written(&self.path))
    }

    async fn end(mut self) -> anyhow::Result<(String, FileChecksum)> {
        let flushed = self.file.flush().await;
        flushed.with_context(|| private_folder::cannot_be_written(&self.path))?;
        let synced = self.file.sync_all().await;
        synced.with_context(|| private_folder::cannot_be_written(&self.path))?;
        let checksum = FileChecksum {
            bytes: self.bytes,
            sha256: hex(self.hash),
        };
        Ok((self.name, checksum))
    }
}

/// Verified backup: every file of it is there, and is what was written.
pub struct VerifiedBackup {
    root: PathBuf,
    /// What it says of itself.
    pub manifest: Manifest,
}

impl VerifiedBackup {
    /// Reads all of it once.
    ///
    /// # Errors
    ///
    /// If there is no manifest of the form that we know, or a file is missing, altered or not part of it.
    pub async fn open(root: &Path) -> anyhow::Result<Self> {
        let manifest = read_manifest(root)?;
        let mut found = BTreeSet::new();
        names(root, "", &mut found)?;
        found.remove(MANIFEST);
        let named = root.display();
        for (name, checksum) in &manifest.files {
            ensure!(
                found.remove(name),
                "The backup in {named} is incomplete: {name} is missing."
            );
            let is_so = FileChecksum::of(&root.join(name)).await?;
            ensure!(
                is_so == *checksum,
                "The backup in {named} was altered: {name} is not what was written."
            );
        }
        if let Some(name) = found.first() {
            bail!("The backup in {named} was altered: {name} is not part of it.");
        }
        Ok(Self {
            root: root.to_owned(),
            manifest,
        })
    }

    /// Where a file of it lies.
    pub fn path(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    /// A small file of it.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or holds something else.
    pub fn json<T: for<'a> Deserialize<'a>>(&self, name: &str) -> anyhow::Result<T> {
        let content = fs::read(self.path(name));
        let content = content.with_context(|| format!("{name} of the backup cannot be read"))?;
        serde_json::from_slice(&content).with_context(|| format!("{name} of the backup cannot be understood"))
    }
}

fn read_manifest(root: &Path) -> anyhow::Result<Manifest> {
    let named = root.display();
    let content = match fs::read(root.join(MANIFEST)) {
        Ok(content) => content,
        Err(error) if error.kind() == ErrorKind::NotFound => bail!(
            "The folder {named} holds no whole backup: there is no {MANIFEST}, which is written when all else is there."
        ),
        Err(error) => bail!("{MANIFEST} in {named} cannot be read: {error}."),
    };
    let manifest: Manifest = serde_json::from_slice(&content)
        .with_context(|| format!("{MANIFEST} in {named} is not one that `sitectl backup` wrote"))?;
    ensure!(
        manifest.format == FORMAT,
        "The backup in {named} has the form {}, this program knows {FORMAT}: use sitectl {} or newer.",
        manifest.format,
        manifest.sitectl
    );
    Ok(manifest)
}

/// The names of all files below, as the manifest has them.
fn names(root: &Path, below: &str, found: &mut BTreeSet<String>) -> anyhow::Result<()> {
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
            names(root, &name, found)?;
        } else {
            found.insert(name);
        }
    }
    Ok(())
}

impl FileChecksum {
    async fn of(path: &Path) -> anyhow::Result<Self> {
        let unreadable = || format!("{} cannot be read", path.display());
        let mut file = File::open(path).await.with_context(unreadable)?;
        let mut buffer = vec![0; BUFFER_BYTES];
        let (mut bytes, mut hash) = (0, Sha256::new());
        loop {
            let length = file.read(&mut buffer).await.with_context(unreadable)?;
            if length == 0 {
                break;
            }
            hash.update(&buffer[..length]);
            bytes += length as u64;
        }
        Ok(Self {
            bytes,
            sha256: hex(hash),
        })
    }
}

fn hex(hash: Sha256) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
