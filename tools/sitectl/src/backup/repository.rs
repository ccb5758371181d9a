//! The backups of a bucket.
//!
//! `<time>/manifest.json` and `<time>/streams/…` are a backup's own; `objects/…` are shared, because an object of the bucket of
//! résumés never changes: each is sent once, and stays as long as a backup names it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, ensure};
use resumes::{Bucket, ListedFile};
use serde::{Deserialize, Serialize};
use time::{
    Duration, OffsetDateTime, PrimitiveDateTime, format_description::StaticFormatDescription, serde::rfc3339,
};
use tokio::io::AsyncReadExt as _;

use super::snapshot::StreamInfo;

/// Format of a backup.
const FORMAT: u32 = 3;
const NAME: StaticFormatDescription =
    time::macros::format_description!("[year][month][day]T[hour][minute][second]Z");
const MANIFEST: &str = "manifest.json";
const OBJECTS: &str = "objects";
/// How long a file stays that no backup names: it may be a part of one that is being written.
const UNFINISHED_FOR: Duration = Duration::days(2);

/// Manifest of a backup. It is written last: without one there is no backup. It is not encrypted.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// Format of the backup.
    format: u32,
    /// When it was begun.
    #[serde(with = "rfc3339")]
    pub taken: OffsetDateTime,
    /// Version of `sitectl` that wrote it.
    sitectl: String,
    /// Version of the broker; an older one may be unable to take it.
    broker: String,
    /// What it holds.
    pub contents: Contents,
    /// Each stream as the broker described it.
    pub streams: BTreeMap<String, StreamInfo>,
    /// Its files and how large they are.
    pub files: BTreeMap<String, u64>,
}

/// What a backup holds.
#[derive(Default, Serialize, Deserialize)]
pub struct Contents {
    /// The streams, buckets of the broker among them, in the order in which they were taken.
    pub streams: Vec<StreamCount>,
    /// How many objects were in the S3 bucket.
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

impl Manifest {
    /// A manifest of nothing yet.
    pub fn begin(taken: OffsetDateTime, broker: String) -> Self {
        Self {
            format: FORMAT,
            taken,
            sitectl: env!("CARGO_PKG_VERSION").to_owned(),
            broker,
            contents: Contents::default(),
            streams: BTreeMap::new(),
            files: BTreeMap::new(),
        }
    }

    /// Name of the backup.
    ///
    /// # Errors
    ///
    /// If the time is none that a calendar knows.
    pub fn name(&self) -> anyhow::Result<String> {
        Ok(self.taken.to_offset(time::UtcOffset::UTC).format(NAME)?)
    }

    /// How large the backup is, as it is stored.
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

/// The backups of a bucket, as it was listed.
pub struct Repository {
    /// Where they are.
    pub bucket: Bucket,
    files: BTreeMap<String, ListedFile>,
}

impl Repository {
    /// Lists the bucket.
    ///
    /// # Errors
    ///
    /// If it cannot be listed.
    pub async fn open(bucket: Bucket) -> anyhow::Result<Self> {
        let files = bucket.list().await;
        let files =
            files.with_context(|| format!("the bucket of backups {} cannot be used", bucket.name()))?;
        // Whatever else lies there is not ours.
        let is_ours = |file: &ListedFile| {
            let folder = file.key.split_once('/').map(|(folder, _)| folder);
            folder.is_some_and(|folder| folder == OBJECTS || taken(folder).is_some())
        };
        let files = files.into_iter().filter(is_ours);
        let files = files.map(|file| (file.key.clone(), file)).collect();
        Ok(Self { bucket, files })
    }

    /// The bucket, or what is in it, for people.
    pub fn named(&self, name: &str) -> String {
        format!("s3://{}/{name}", self.bucket.name())
    }

    /// Size of a file; `None` where there is none of this name.
    pub fn bytes_of(&self, name: &str) -> Option<u64> {
        self.files.get(name).map(|file| file.bytes)
    }

    /// The names of the whole backups, oldest first.
    fn backups(&self) -> Vec<&str> {
        let names = self.files.keys().filter_map(|key| key.split_once('/'));
        let manifests = names.filter(|(_, file)| *file == MANIFEST);
        manifests.map(|(name, _)| name).collect()
    }

    /// Manifest of the backup of this name, or of the newest.
    ///
    /// # Errors
    ///
    /// If there is none, or it cannot be read.
    pub async fn choose(&self, name: Option<&str>) -> anyhow::Result<Manifest> {
        let backups = self.backups();
        let chosen = match name {
            None => backups.last(),
            Some(name) => backups.iter().find(|backup| **backup == name),
        };
        let chosen = chosen.with_context(|| {
            format!(
                "{} holds no whole backup{}; it has these: {}.",
                self.named(""),
                name.map_or_else(String::new, |name| format!(" {name}")),
                if backups.is_empty() {
                    "none".to_owned()
                } else {
                    backups.join(", ")
                }
            )
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

    /// Writes the manifest, which makes it a backup.
    ///
    /// # Errors
    ///
    /// If the bucket does not take it.
    pub async fn write_manifest(&self, manifest: &Manifest) -> anyhow::Result<()> {
        let name = format!("{}/{MANIFEST}", manifest.name()?);
        let content = serde_json::to_vec_pretty(manifest)?;
        Ok(self.bucket.put(&name, &*content).await?)
    }

    /// Removes backups that are older than this many days, what unfinished ones left, and objects that no backup names any more;
    /// `newest` came after the bucket was listed. Gives the names of the backups that were removed.
    ///
    /// # Errors
    ///
    /// If a manifest cannot be read, or a file is not removed.
    pub async fn prune(&self, keep_days: u16, newest: &Manifest) -> anyhow::Result<Vec<String>> {
        let oldest_kept = newest.taken - Duration::days(keep_days.into());
        let is_kept = |name: &&str| taken(name).is_none_or(|taken| taken >= oldest_kept);
        let (kept, expired): (Vec<&str>, Vec<&str>) = self.backups().into_iter().partition(is_kept);
        let mut needed: BTreeSet<String> = newest.files.keys().cloned().collect();
        for backup in kept {
            needed.extend(self.manifest(backup).await?.files.into_keys());
            needed.insert(format!("{backup}/{MANIFEST}"));
        }
        // Without its manifest it is no backup any more, whatever happens next.
        for backup in &expired {
            self.bucket.delete(&format!("{backup}/{MANIFEST}")).await?;
        }
        for file in self.files.values().filter(|file| !needed.contains(&file.key)) {
            let backup = file.key.split('/').next().unwrap_or_default();
            if expired.contains(&backup) || newest.taken - file.stored > UNFINISHED_FOR {
                self.bucket.delete(&file.key).await?;
            }
        }
        Ok(expired.into_iter().map(str::to_owned).collect())
    }
}

/// When a backup of this name was taken; `None` where it is no name of a backup.
fn taken(name: &str) -> Option<OffsetDateTime> {
    Some(PrimitiveDateTime::parse(name, NAME).ok()?.assume_utc())
}
