//! The backups of a folder or a bucket.
//!
//! `<time>/manifest.json` and `<time>/streams/…` are a backup's own; `objects/…` are shared, because an object of the bucket of
//! résumés never changes: each is sent once, and stays as long as a backup names it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, ensure};
use clap::Args;
use resumes::ListedFile;
use serde::{Deserialize, Serialize};
use time::{
    Duration, OffsetDateTime, PrimitiveDateTime, format_description::StaticFormatDescription, serde::rfc3339,
};
use tokio::io::AsyncReadExt as _;

use super::{place::Place, snapshot::StreamInfo};

/// Format of a backup.
const FORMAT: u32 = 3;
const NAME: StaticFormatDescription =
    time::macros::format_description!("[year][month][day]T[hour][minute][second]Z");
const MANIFEST: &str = "manifest.json";
const OBJECTS: &str = "objects";
/// How long a file stays that no backup names: it may be a part of one that is being written.
const UNFINISHED_FOR: Duration = Duration::days(2);

/// Retention of backups.
#[derive(Args, Debug, Clone, Copy)]
pub struct Retention {
    /// Days after which a backup is removed, and with it objects that no other names
    #[arg(long, env = "BACKUP_KEEP_DAYS", default_value_t = 30, value_parser = clap::value_parser!(u16).range(1..))]
    backup_keep_days: u16,
    /// Backups that stay however old they are
    #[arg(long, env = "BACKUP_KEEP_AT_LEAST", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..))]
    backup_keep_at_least: u16,
}

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
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
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
            contents: Contents {
                streams: Vec::new(),
                objects: 0,
            },
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
        name_of(self.taken)
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

/// The backups of a place, as it was listed.
pub struct Repository {
    /// Where they are.
    pub place: Place,
    files: BTreeMap<String, ListedFile>,
}

impl Repository {
    /// Lists the place.
    ///
    /// # Errors
    ///
    /// If it cannot be listed.
    pub async fn open(place: Place) -> anyhow::Result<Self> {
        let files = place
            .list(|folder| folder == OBJECTS || taken(folder).is_some())
            .await?;
        let files = files.into_iter().map(|file| (file.key.clone(), file)).collect();
        Ok(Self { place, files })
    }

    /// Size of a file; `None` where there is none of this name.
    pub fn bytes_of(&self, name: &str) -> Option<u64> {
        self.files.get(name).map(|file| file.bytes)
    }

    /// The names of the whole backups, oldest first.
    fn backups(&self) -> Vec<&str> {
        let names = self.files.keys().filter_map(|key| key.split_once('/'));
        names
            .filter_map(|(name, file)| (file == MANIFEST).then_some(name))
            .collect()
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
                self.place.named(""),
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
        let read = self.place.open(&name).await?.read_to_end(&mut content).await;
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
    /// If the disk or the bucket does not take it.
    pub async fn write_manifest(&self, manifest: &Manifest) -> anyhow::Result<()> {
        let name = format!("{}/{MANIFEST}", manifest.name()?);
        let mut file = self.place.create(&name)?;
        file.write(&serde_json::to_vec_pretty(manifest)?).await?;
        file.finish().await
    }

    /// Removes backups that are too old, what unfinished ones left, and objects that no backup names any more; `newest` came after
    /// the place was listed. Gives the names of the backups that were removed.
    ///
    /// # Errors
    ///
    /// If a manifest cannot be read, or a file is not removed.
    pub async fn prune(&self, retention: Retention, newest: &Manifest) -> anyhow::Result<Vec<String>> {
        let backups = self.backups();
        let expired = retention.expired(&backups, newest.taken);
        let mut needed: BTreeSet<String> = newest.files.keys().cloned().collect();
        for backup in backups.iter().filter(|backup| !expired.contains(backup)) {
            needed.extend(self.manifest(backup).await?.files.into_keys());
            needed.insert(format!("{backup}/{MANIFEST}"));
        }
        let unneeded = self.files.values().filter(|file| !needed.contains(&file.key));
        // Without its manifest it is no backup any more, whatever happens next.
        let (manifests, rest): (Vec<_>, Vec<_>) = unneeded.partition(|file| file.key.ends_with(MANIFEST));
        for file in manifests.into_iter().chain(rest) {
            let backup = file.key.split('/').next().unwrap_or_default();
            if expired.contains(&backup) || newest.taken - file.stored > UNFINISHED_FOR {
                self.place.delete(&file.key).await?;
            }
        }
        Ok(expired.into_iter().map(str::to_owned).collect())
    }
}

impl Retention {
    /// Which of these backups, oldest first, are to be removed beside a newer one.
    fn expired<'a>(self, backups: &[&'a str], now: OffsetDateTime) -> Vec<&'a str> {
        let oldest_kept = now - Duration::days(self.backup_keep_days.into());
        let removable = (backups.len() + 1).saturating_sub(self.backup_keep_at_least.into());
        let old = backups.iter().take(removable).copied();
        old.filter(|name| taken(name).is_some_and(|taken| taken < oldest_kept))
            .collect()
    }
}

fn name_of(taken: OffsetDateTime) -> anyhow::Result<String> {
    Ok(taken.to_offset(time::UtcOffset::UTC).format(NAME)?)
}

/// When a backup of this name was taken; `None` where it is no name of a backup.
fn taken(name: &str) -> Option<OffsetDateTime> {
    Some(PrimitiveDateTime::parse(name, NAME).ok()?.assume_utc())
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;

    const NOW: OffsetDateTime = datetime!(2026-11-25 02:17 UTC);

    fn expired(keep_days: u16, keep_at_least: u16, ages_in_days: &[i64]) -> anyhow::Result<usize> {
        let names = ages_in_days
            .iter()
            .map(|days| name_of(NOW - Duration::days(*days)));
        let names = names.collect::<anyhow::Result<Vec<_>>>()?;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let retention = Retention {
            backup_keep_days: keep_days,
            backup_keep_at_least: keep_at_least,
        };
        let expired = retention.expired(&names, NOW);
        assert_eq!(names[..expired.len()], expired[..], "the oldest go first");
        Ok(expired.len())
    }

    #[test]
    fn a_backup_goes_once_it_is_too_old_and_enough_newer_ones_are_there() -> anyhow::Result<()> {
        assert_eq!(expired(30, 1, &[40, 31, 30, 1])?, 2);
        assert_eq!(expired(30, 4, &[40, 31, 30, 1])?, 1);
        assert_eq!(expired(30, 7, &[40, 31, 30, 1])?, 0);
        assert_eq!(expired(1, 1, &[])?, 0);
        Ok(())
    }
}
