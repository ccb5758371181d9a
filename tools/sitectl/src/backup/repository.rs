//! The backups of a bucket.
//!
//! Each backup has `<time>/manifest.json` and `<time>/streams/…`. All backups share `objects/…`: a résumé never
//! changes, so it is sent once, and stays as long as a backup names it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, ensure};
use resumes::{Bucket, ListedFile};
use serde::{Deserialize, Serialize};
use time::{
    Duration, OffsetDateTime, PrimitiveDateTime, format_description::StaticFormatDescription, serde::rfc3339,
};
use tokio::io::AsyncReadExt as _;

use super::snapshot::StreamInfo;

const FORMAT: u32 = 3;
const NAME: StaticFormatDescription =
    time::macros::format_description!("[year][month][day]T[hour][minute][second]Z");
const MANIFEST: &str = "manifest.json";
const OBJECTS: &str = "objects";
/// Age at which a file without a backup is removed. A younger file may belong to a backup in progress.
const UNFINISHED_FOR: Duration = Duration::days(2);

/// Manifest of a backup, written last and unencrypted. Without it there is no backup.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    format: u32,
    #[serde(rename = "taken", with = "rfc3339")]
    pub started: OffsetDateTime,
    sitectl: String,
    /// Version of the broker. An older broker may be unable to restore the backup.
    broker: String,
    pub contents: Contents,
    pub streams: BTreeMap<String, StreamInfo>,
    /// Size of each file.
    pub files: BTreeMap<String, u64>,
}

/// Contents of a backup, as printed.
#[derive(Default, Serialize, Deserialize)]
pub struct Contents {
    /// Streams, including those behind buckets, in the order of the backup.
    pub streams: Vec<StreamCount>,
    pub objects: u64,
}

#[derive(Serialize, Deserialize)]
pub struct StreamCount {
    pub stream: String,
    pub messages: u64,
}

impl Manifest {
    pub fn begin(started: OffsetDateTime, broker: String) -> Self {
        Self {
            format: FORMAT,
            started,
            sitectl: env!("CARGO_PKG_VERSION").to_owned(),
            broker,
            contents: Contents::default(),
            streams: BTreeMap::new(),
            files: BTreeMap::new(),
        }
    }

    /// # Errors
    ///
    /// If the time cannot be formatted.
    pub fn name(&self) -> anyhow::Result<String> {
        Ok(self.started.to_offset(time::UtcOffset::UTC).format(NAME)?)
    }

    pub fn bytes(&self) -> u64 {
        self.files.values().sum()
    }
}

impl Contents {
    /// A line for each stream and one for the bucket.
    pub fn lines(&self, bucket: &str) -> Vec<String> {
        let streams = self.streams.iter();
        let streams =
            streams.map(|StreamCount { stream, messages }| format!("stream {stream}: {messages} messages"));
        let objects = format!("S3 bucket {bucket}: {} objects", self.objects);
        streams.chain([objects]).collect()
    }
}

pub struct Repository {
    pub bucket: Bucket,
    files: BTreeMap<String, ListedFile>,
}

impl Repository {
    /// # Errors
    ///
    /// If the bucket cannot be listed.
    pub async fn open(bucket: Bucket) -> anyhow::Result<Self> {
        let files = bucket.list().await;
        let files =
            files.with_context(|| format!("the bucket of backups {} cannot be used", bucket.name()))?;
        // Skips files of other programs.
        let is_ours = |file: &ListedFile| {
            let folder = file.key.split_once('/').map(|(folder, _)| folder);
            folder.is_some_and(|folder| folder == OBJECTS || start_of(folder).is_some())
        };
        let files = files.into_iter().filter(is_ours);
        let files = files.map(|file| (file.key.clone(), file)).collect();
        Ok(Self { bucket, files })
    }

    pub fn named(&self, name: &str) -> String {
        format!("s3://{}/{name}", self.bucket.name())
    }

    /// Size of a file; `None` if it does not exist.
    pub fn bytes_of(&self, name: &str) -> Option<u64> {
        self.files.get(name).map(|file| file.bytes)
    }

    /// Names of complete backups, oldest first.
    fn backups(&self) -> Vec<&str> {
        let names = self.files.keys().filter_map(|key| key.split_once('/'));
        let manifests = names.filter(|(_, file)| *file == MANIFEST);
        manifests.map(|(name, _)| name).collect()
    }

    /// # Errors
    ///
    /// If the backup does not exist, or cannot be read.
    pub async fn choose(&self, name: Option<&str>) -> anyhow::Result<Manifest> {
        let backups = self.backups();
        let chosen = match name {
            None => backups.last(),
            Some(name) => backups.iter().find(|backup| **backup == name),
        };
        let chosen = chosen.with_context(|| {
            let wanted = name.map(|name| format!(" {name}")).unwrap_or_default();
            let (bucket, found) = (self.named(""), backups.join(", "));
            format!("{bucket} has no complete backup{wanted}; it has these: [{found}].")
        })?;
        self.manifest(chosen).await
    }

    async fn manifest(&self, backup: &str) -> anyhow::Result<Manifest> {
        let name = format!("{backup}/{MANIFEST}");
        let mut content = Vec::new();
        let file = self.bucket.open(&name).await?;
        let mut file = file.with_context(|| format!("{name} is missing"))?;
        let read = file.read_to_end(&mut content).await;
        read.with_context(|| format!("{name} cannot be read"))?;
        let manifest: Manifest = serde_json::from_slice(&content)
            .with_context(|| format!("{name} is not a manifest that this program knows"))?;
        ensure!(
            manifest.format == FORMAT,
            "The backup {backup} has the format {}, this program knows {FORMAT}: use sitectl {}.",
            manifest.format,
            manifest.sitectl
        );
        Ok(manifest)
    }

    /// Writes the manifest, which completes the backup.
    ///
    /// # Errors
    ///
    /// If the bucket does not store it.
    pub async fn write_manifest(&self, manifest: &Manifest) -> anyhow::Result<()> {
        let name = format!("{}/{MANIFEST}", manifest.name()?);
        let content = serde_json::to_vec_pretty(manifest)?;
        Ok(self.bucket.put(&name, &*content).await?)
    }

    /// Removes expired backups, files of unfinished ones, and unneeded objects. `newest` is not in the listing yet.
    /// Returns the names of removed backups.
    ///
    /// # Errors
    ///
    /// If a manifest cannot be read, or a file is not removed.
    pub async fn prune(&self, keep_days: u16, newest: &Manifest) -> anyhow::Result<Vec<String>> {
        let oldest_kept = newest.started - Duration::days(keep_days.into());
        let is_kept = |name: &&str| start_of(name).is_none_or(|start| start >= oldest_kept);
        let (kept, expired): (Vec<&str>, Vec<&str>) = self.backups().into_iter().partition(is_kept);
        let mut needed: BTreeSet<String> = newest.files.keys().cloned().collect();
        for backup in kept {
            needed.extend(self.manifest(backup).await?.files.into_keys());
            needed.insert(format!("{backup}/{MANIFEST}"));
        }
        // The manifest is removed first, so an interruption leaves no partial backup.
        for backup in &expired {
            self.bucket.delete(&format!("{backup}/{MANIFEST}")).await?;
        }
        for file in self.files.values().filter(|file| !needed.contains(&file.key)) {
            let backup = file.key.split('/').next().unwrap_or_default();
            if expired.contains(&backup) || newest.started - file.stored > UNFINISHED_FOR {
                self.bucket.delete(&file.key).await?;
            }
        }
        Ok(expired.into_iter().map(str::to_owned).collect())
    }
}

/// Start of a backup by its name; `None` for another name.
fn start_of(name: &str) -> Option<OffsetDateTime> {
    Some(PrimitiveDateTime::parse(name, NAME).ok()?.assume_utc())
}
