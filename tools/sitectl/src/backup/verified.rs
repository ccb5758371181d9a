//! A backup that is whole.

use anyhow::{Context as _, bail, ensure};
use serde::de::DeserializeOwned;
use tokio::io::AsyncReadExt as _;

use super::{
    encryption::{ENDING, Identities},
    manifest::{FileChecksum, MANIFEST, Manifest},
    store::{BackupStore, Content},
};
use crate::progress;

/// Verified backup: every file of it is there, is what was written, and can be read.
pub struct VerifiedBackup {
    store: BackupStore,
    prefix: String,
    identities: Option<Identities>,
    /// What it says of itself.
    pub manifest: Manifest,
}

impl VerifiedBackup {
    /// Reads all of it once.
    ///
    /// # Errors
    ///
    /// If there is no manifest of a form that we know, a file is missing, altered or not part of it, or it is encrypted for
    /// somebody else.
    pub async fn open(
        store: BackupStore,
        prefix: String,
        identities: Option<Identities>,
    ) -> anyhow::Result<Self> {
        let manifest = Manifest::read(&store, &prefix).await?;
        let backup = Self {
            store,
            prefix,
            identities,
            manifest,
        };
        backup.ensure_readable().await?;
        backup.ensure_whole().await?;
        Ok(backup)
    }

    /// How people are told of it.
    pub fn named(&self) -> String {
        self.store.named(&self.prefix)
    }

    async fn ensure_readable(&self) -> anyhow::Result<()> {
        let mut names = self.manifest.files.keys();
        if let Some(encrypted) = names.find(|name| name.ends_with(ENDING)) {
            self.decrypted(encrypted).await?;
        }
        Ok(())
    }

    async fn ensure_whole(&self) -> anyhow::Result<()> {
        let named = self.named();
        let mut found = self.store.files(&self.prefix).await?;
        found.remove(&format!("{}{MANIFEST}", self.prefix));
        let progress = progress::bytes("checked", self.manifest.bytes())?;
        for (name, checksum) in &self.manifest.files {
            found.remove(name);
            let Some(content) = self.store.open(name).await? else {
                bail!("The backup in {named} is incomplete: {name} is missing.");
            };
            let is_so = FileChecksum::of(Box::new(progress.wrap_async_read(content))).await;
            let is_so = is_so.with_context(|| format!("{name} cannot be read"))?;
            ensure!(
                is_so == *checksum,
                "The backup in {named} was altered: {name} is not what was written."
            );
        }
        if let Some(name) = found.keys().next() {
            bail!("The backup in {named} was altered: {name} is not part of it.");
        }
        Ok(())
    }

    /// The objects of the S3 bucket: the name of each one's description, and of its content.
    pub fn objects(&self) -> impl Iterator<Item = (String, String)> {
        let names = self
            .manifest
            .files
            .keys()
            .filter(|name| name.starts_with("objects/"));
        names.filter_map(|name| {
            let (before, ending) = name.rsplit_once(".json")?;
            Some((name.clone(), format!("{before}.content{ending}")))
        })
    }

    /// How large a file of this backup alone is, as it is stored.
    pub fn bytes(&self, name: &str) -> u64 {
        let name = format!("{}{name}", self.prefix);
        let encrypted = format!("{name}{ENDING}");
        let files = &self.manifest.files;
        let checksum = files.get(&encrypted).or_else(|| files.get(&name));
        checksum.map_or(0, |checksum| checksum.bytes)
    }

    /// What a file of this backup alone holds.
    ///
    /// # Errors
    ///
    /// If it is not there, or cannot be read.
    pub async fn content(&self, name: &str) -> anyhow::Result<Content> {
        let name = format!("{}{name}", self.prefix);
        let encrypted = format!("{name}{ENDING}");
        if self.manifest.files.contains_key(&encrypted) {
            self.decrypted(&encrypted).await
        } else {
            self.decrypted(&name).await
        }
    }

    /// The same of a file by its full name, as [`Self::objects`] gives it.
    ///
    /// # Errors
    ///
    /// If it is not there, or cannot be read.
    pub async fn decrypted(&self, name: &str) -> anyhow::Result<Content> {
        let content = self.store.open(name).await?;
        let content = content.with_context(|| format!("{name} of the backup is missing"))?;
        if !name.ends_with(ENDING) {
            return Ok(content);
        }
        let identities = self.identities.as_ref();
        let identities = identities.context(
            "The backup is encrypted, and nothing that decrypts it is named (setting BACKUP_IDENTITY_FILE).",
        )?;
        let decrypted = identities.decrypt(content).await;
        decrypted.with_context(|| {
            format!("{name} cannot be decrypted with what the setting BACKUP_IDENTITY_FILE names")
        })
    }
}

/// What a small file holds.
///
/// # Errors
///
/// If it cannot be read, or holds something else.
pub async fn json<T: DeserializeOwned>(content: Content) -> anyhow::Result<T> {
    let content = bytes(content).await?;
    serde_json::from_slice(&content).context("a file of the backup cannot be understood")
}

/// All that a file holds.
///
/// # Errors
///
/// If it cannot be read.
pub async fn bytes(mut content: Content) -> anyhow::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let read = content.read_to_end(&mut bytes).await;
    read.context("a file of the backup cannot be read")?;
    Ok(bytes)
}
