//! A backup that is being written.

use std::{collections::BTreeMap, path::Path};

use age::x25519::Recipient;
use anyhow::ensure;
use serde::Serialize;
use time::OffsetDateTime;

use super::{
    encryption::{self, Encryption},
    manifest::{Contents, FORMAT, FileChecksum, MANIFEST, Manifest, RunningChecksum, sha256},
    repository::Repository,
    store::{BackupStore, NewStoredFile},
};
use crate::private_folder;

/// A backup that is being written.
pub struct BackupWriter {
    store: BackupStore,
    /// What the names of its own files begin with.
    prefix: String,
    recipients: Vec<Recipient>,
    /// Objects that earlier backups in the same place brought there.
    known: BTreeMap<String, FileChecksum>,
    files: BTreeMap<String, FileChecksum>,
    /// What was written, and not there already.
    pub sent: Sent,
}

/// How much was written.
#[derive(Default, Serialize)]
pub struct Sent {
    /// Objects of the S3 bucket.
    pub objects: u64,
    /// All that was written, as it is stored.
    pub bytes: u64,
}

impl BackupWriter {
    /// Makes the folder.
    ///
    /// # Errors
    ///
    /// If something lies in it already, or it cannot be made.
    pub fn in_folder(root: &Path, recipients: Vec<Recipient>) -> anyhow::Result<Self> {
        private_folder::ensure_new_or_empty(root)?;
        for folder in [root, &root.join("streams"), &root.join("objects")] {
            private_folder::create(folder)?;
        }
        Ok(Self {
            store: BackupStore::Folder(root.to_owned()),
            prefix: String::new(),
            recipients,
            known: BTreeMap::new(),
            files: BTreeMap::new(),
            sent: Sent::default(),
        })
    }

    /// Begins one beside those that a bucket holds, which keep the objects that they brought there.
    ///
    /// # Errors
    ///
    /// If one of that second is there, or a manifest cannot be read.
    pub async fn in_repository(
        repository: &Repository,
        taken: OffsetDateTime,
        recipients: Vec<Recipient>,
    ) -> anyhow::Result<Self> {
        let prefix = format!("{}/", Repository::name_of(taken)?);
        ensure!(
            !repository.has_files_under(&prefix),
            "There is a backup of this second already, whole or not: repeat it."
        );
        Ok(Self {
            store: repository.store(),
            prefix,
            recipients,
            known: repository.objects().await?,
            files: BTreeMap::new(),
            sent: Sent::default(),
        })
    }

    /// How people are told of it.
    pub fn named(&self) -> String {
        self.store.named(&self.prefix)
    }

    /// Begins a file of this backup alone.
    ///
    /// # Errors
    ///
    /// If there is one of this name, or it cannot be made.
    pub fn file(&self, name: &str) -> anyhow::Result<NewFile> {
        self.create(format!("{}{name}", self.prefix))
    }

    /// Begins the two files of an object, its content and its description, which later backups in the same place share.
    ///
    /// # Errors
    ///
    /// If there are some of this name, or they cannot be made.
    pub fn object(&self, key: &str) -> anyhow::Result<[NewFile; 2]> {
        let [content, description] = self.object_names(key);
        Ok([self.create(content)?, self.create(description)?])
    }

    /// Other recipients make another name, so that what was encrypted for former ones only is sent again.
    fn object_names(&self, key: &str) -> [String; 2] {
        let mut recipients: Vec<String> = self.recipients.iter().map(ToString::to_string).collect();
        recipients.sort();
        let name = sha256(&format!("{key}\n{}", recipients.join(",")));
        ["content", "json"].map(|ending| format!("objects/{name}.{ending}"))
    }

    fn create(&self, name: String) -> anyhow::Result<NewFile> {
        let name = self.stored_name(name);
        let encryption = (!self.recipients.is_empty()).then(|| Encryption::begin(&self.recipients));
        Ok(NewFile {
            file: self.store.create(&name)?,
            name,
            encryption: encryption.transpose()?,
            checksum: RunningChecksum::default(),
        })
    }

    fn stored_name(&self, name: String) -> String {
        if self.recipients.is_empty() {
            name
        } else {
            name + encryption::ENDING
        }
    }

    /// Makes the files of an object that an earlier backup brought here a part of this one, too; says whether they are there.
    pub fn reuse(&mut self, key: &str) -> bool {
        let found = self.object_names(key).map(|name| {
            let (name, checksum) = self.known.get_key_value(&self.stored_name(name))?;
            Some((name.clone(), checksum.clone()))
        });
        let [Some(content), Some(description)] = found else {
            return false;
        };
        self.files.extend([content, description]);
        true
    }

    /// Ends a file: it is stored for good, and will stand in the manifest.
    ///
    /// # Errors
    ///
    /// If the disk or the bucket does not take what is left of it.
    pub async fn keep(&mut self, file: NewFile) -> anyhow::Result<()> {
        let (name, checksum) = file.finish().await?;
        self.sent.bytes += checksum.bytes;
        self.files.insert(name, checksum);
        Ok(())
    }

    /// The same of a small file.
    ///
    /// # Errors
    ///
    /// If the disk or the bucket does not take it.
    pub async fn keep_json(&mut self, mut file: NewFile, content: &impl Serialize) -> anyhow::Result<()> {
        file.write(&serde_json::to_vec_pretty(content)?).await?;
        self.keep(file).await
    }

    /// Writes the manifest, which makes it a backup.
    ///
    /// # Errors
    ///
    /// If the disk or the bucket does not take it.
    pub async fn write_manifest(
        &self,
        taken: OffsetDateTime,
        broker: String,
        contents: Contents,
    ) -> anyhow::Result<Manifest> {
        let manifest = Manifest {
            format: FORMAT,
            taken,
            sitectl: env!("CARGO_PKG_VERSION").to_owned(),
            broker,
            contents,
            files: self.files.clone(),
        };
        let mut file = self.store.create(&format!("{}{MANIFEST}", self.prefix))?;
        file.write(&serde_json::to_vec_pretty(&manifest)?).await?;
        file.finish().await?;
        Ok(manifest)
    }
}

/// A file that is being written.
pub struct NewFile {
    name: String,
    file: NewStoredFile,
    encryption: Option<Encryption>,
    checksum: RunningChecksum,
}

impl NewFile {
    /// Adds to it.
    ///
    /// # Errors
    ///
    /// If the disk or the bucket does not take it.
    pub async fn write(&mut self, content: &[u8]) -> anyhow::Result<()> {
        match &mut self.encryption {
            Some(encryption) => {
                let encrypted = encryption.write(content)?;
                self.store(&encrypted).await
            }
            None => self.store(content).await,
        }
    }

    async fn store(&mut self, stored: &[u8]) -> anyhow::Result<()> {
        self.checksum.update(stored);
        self.file.write(stored).await
    }

    async fn finish(mut self) -> anyhow::Result<(String, FileChecksum)> {
        if let Some(encryption) = self.encryption.take() {
            self.store(&encryption.finish()?).await?;
        }
        self.file.finish().await?;
        Ok((self.name, self.checksum.finish()))
    }
}
