//! The backups that a bucket holds, and how long.
//!
//! `<time>/manifest.json` and `<time>/streams/…` are a backup's own; `objects/…` are shared, because what lies in the bucket
//! of résumés never changes: each is sent once, and stays as long as a backup names it.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::Context as _;
use clap::Args;
use resumes::{Bucket, ListedFile};
use time::{Duration, OffsetDateTime, PrimitiveDateTime, format_description::StaticFormatDescription};

use super::{
    manifest::{FileChecksum, MANIFEST, Manifest},
    store::BackupStore,
};

const NAME: StaticFormatDescription =
    time::macros::format_description!("[year][month][day]T[hour][minute][second]Z");
const OBJECTS: &str = "objects/";
/// How long what no backup names is left alone: it may be a part of one that is being written.
const UNFINISHED_FOR: Duration = Duration::days(2);

/// How long backups are kept in the bucket.
#[derive(Args, Debug, Clone, Copy)]
pub struct Retention {
    /// Days after which a backup in the bucket is removed, and with it objects that no other names
    #[arg(long, env = "BACKUP_KEEP_DAYS", default_value_t = 30, value_parser = clap::value_parser!(u16).range(1..))]
    backup_keep_days: u16,
    /// Backups that stay however old they are
    #[arg(long, env = "BACKUP_KEEP_AT_LEAST", default_value_t = 7, value_parser = clap::value_parser!(u16).range(1..))]
    backup_keep_at_least: u16,
}

/// A bucket of backups, as it was listed.
pub struct Repository {
    bucket: Bucket,
    files: BTreeMap<String, ListedFile>,
}

impl Repository {
    /// Lists the bucket.
    ///
    /// # Errors
    ///
    /// If the store does not list it.
    pub async fn open(bucket: Bucket) -> anyhow::Result<Self> {
        let listed = bucket.list("").await;
        let listed =
            listed.with_context(|| format!("the bucket of backups {} cannot be used", bucket.name()))?;
        let files = listed.into_iter().map(|file| (file.key.clone(), file)).collect();
        Ok(Self { bucket, files })
    }

    /// What a backup of this time is called.
    ///
    /// # Errors
    ///
    /// If the time is none that a calendar knows.
    pub fn name_of(taken: OffsetDateTime) -> anyhow::Result<String> {
        Ok(taken.to_offset(time::UtcOffset::UTC).format(NAME)?)
    }

    /// Where its files lie.
    pub fn store(&self) -> BackupStore {
        BackupStore::Bucket(self.bucket.clone())
    }

    /// The names of the whole backups, oldest first.
    pub fn backups(&self) -> Vec<&str> {
        let names = self.files.keys().filter_map(|key| key.strip_suffix(MANIFEST));
        let names = names.filter_map(|name| name.strip_suffix('/'));
        names.filter(|name| taken(name).is_some()).collect()
    }

    /// The backup of this name, or the newest.
    ///
    /// # Errors
    ///
    /// If there is none.
    pub fn choose(&self, name: Option<&str>) -> anyhow::Result<&str> {
        let backups = self.backups();
        let chosen = match name {
            None => backups.last().copied(),
            Some(name) => backups.iter().copied().find(|backup| *backup == name),
        };
        chosen.with_context(|| {
            format!(
                "The bucket {} holds no whole backup{}; it has these: {}.",
                self.bucket.name(),
                name.map_or_else(String::new, |name| format!(" {name}")),
                if backups.is_empty() {
                    "none".to_owned()
                } else {
                    backups.join(", ")
                }
            )
        })
    }

    /// Whether anything of a backup is there.
    pub fn has_files_under(&self, prefix: &str) -> bool {
        self.files
            .range(prefix.to_owned()..)
            .next()
            .is_some_and(|(key, _)| key.starts_with(prefix))
    }

    /// The objects that backups name, as far as they are there.
    ///
    /// # Errors
    ///
    /// If a manifest cannot be read.
    pub async fn objects(&self) -> anyhow::Result<BTreeMap<String, FileChecksum>> {
        let mut objects = BTreeMap::new();
        for name in self.backups() {
            let manifest = self.manifest(name).await?;
            let is_there = |(name, checksum): &(String, FileChecksum)| {
                name.starts_with(OBJECTS)
                    && self
                        .files
                        .get(name)
                        .is_some_and(|file| file.bytes == checksum.bytes)
            };
            objects.extend(manifest.files.into_iter().filter(is_there));
        }
        Ok(objects)
    }

    async fn manifest(&self, name: &str) -> anyhow::Result<Manifest> {
        Manifest::read(&self.store(), &format!("{name}/")).await
    }

    /// Removes backups that are too old, what broken-off ones left, and objects that no backup names any more. Gives the names
    /// of the backups that were removed.
    ///
    /// # Errors
    ///
    /// If a manifest cannot be read, or the store does not remove a file.
    pub async fn prune(&self, retention: Retention, now: OffsetDateTime) -> anyhow::Result<Vec<String>> {
        let backups = self.backups();
        let expired = retention.expired(&backups, now);
        let mut needed: BTreeSet<String> = BTreeSet::new();
        for name in backups.iter().filter(|name| !expired.contains(name)) {
            needed.extend(self.manifest(name).await?.files.into_keys());
            needed.insert(format!("{name}/{MANIFEST}"));
        }
        // Without its manifest it is no backup any more, whatever happens next.
        for name in &expired {
            self.bucket.delete(&format!("{name}/{MANIFEST}")).await?;
        }
        for file in self.files.values().filter(|file| !needed.contains(&file.key)) {
            let backup = file.key.split('/').next().unwrap_or_default();
            let is_ours = file.key.starts_with(OBJECTS) || taken(backup).is_some();
            if is_ours && (expired.contains(&backup) || now - file.stored > UNFINISHED_FOR) {
                self.bucket.delete(&file.key).await?;
            }
        }
        Ok(expired.into_iter().map(str::to_owned).collect())
    }
}

impl Retention {
    /// Which of these backups, oldest first, are to be removed: never the newest.
    fn expired<'a>(self, backups: &[&'a str], now: OffsetDateTime) -> Vec<&'a str> {
        let oldest_kept = now - Duration::days(self.backup_keep_days.into());
        let removable = backups.len().saturating_sub(self.backup_keep_at_least.into());
        let old = backups[..removable].iter().copied();
        old.filter(|name| taken(name).is_some_and(|taken| taken < oldest_kept))
            .collect()
    }
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
            .map(|days| Repository::name_of(NOW - Duration::days(*days)));
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
        assert_eq!(expired(30, 3, &[40, 31, 30, 1])?, 1);
        assert_eq!(expired(30, 7, &[40, 31, 30, 1])?, 0);
        Ok(())
    }

    #[test]
    fn the_newest_stays_however_old_it_is() -> anyhow::Result<()> {
        assert_eq!(expired(1, 1, &[400])?, 0);
        assert_eq!(expired(1, 1, &[400, 300])?, 1);
        assert_eq!(expired(1, 1, &[])?, 0);
        Ok(())
    }
}
