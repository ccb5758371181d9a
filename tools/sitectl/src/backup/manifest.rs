//! The manifest of a backup, which is written last: without one there is no backup.

use std::collections::BTreeMap;

use anyhow::{Context as _, bail, ensure};
use base16ct::lower::encode_string;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use time::{OffsetDateTime, serde::rfc3339};
use tokio::io::AsyncReadExt as _;

use super::store::{BackupStore, Content};

/// Its name. It is never encrypted: it holds names, counts and checksums, by which the next backup knows what is there already.
pub const MANIFEST: &str = "manifest.json";
/// The form of a backup.
pub const FORMAT: u32 = 2;
const BUFFER_BYTES: usize = 128 * 1024;

/// What a backup is, and every file of it.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Manifest {
    /// The form of the backup.
    pub format: u32,
    /// When it was begun.
    #[serde(with = "rfc3339")]
    pub taken: OffsetDateTime,
    /// The version of `sitectl` that wrote it.
    pub sitectl: String,
    /// The version of the broker that it was taken from; an older one may be unable to take it.
    pub broker: String,
    /// What it holds.
    pub contents: Contents,
    /// Its files, as they are stored.
    pub files: BTreeMap<String, FileChecksum>,
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

/// Checksum of a file as it is stored: encrypted, where it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileChecksum {
    /// How large it is.
    pub bytes: u64,
    /// SHA-256 of it.
    pub sha256: String,
}

impl Manifest {
    /// Reads the manifest under a prefix.
    ///
    /// # Errors
    ///
    /// If there is none, or it is not of a form that we know.
    pub async fn read(store: &BackupStore, prefix: &str) -> anyhow::Result<Self> {
        let named = store.named(prefix);
        let Some(mut file) = store.open(&format!("{prefix}{MANIFEST}")).await? else {
            bail!(
                "{named} holds no whole backup: there is no {MANIFEST}, which is written when all else is there."
            );
        };
        let mut content = Vec::new();
        let read = file.read_to_end(&mut content).await;
        read.with_context(|| format!("{MANIFEST} in {named} cannot be read"))?;
        let manifest: Self = serde_json::from_slice(&content)
            .with_context(|| format!("{MANIFEST} in {named} is not one that `sitectl backup` wrote"))?;
        ensure!(
            (1..=FORMAT).contains(&manifest.format),
            "The backup in {named} has the form {}, this program knows {FORMAT}: use sitectl {} or newer.",
            manifest.format,
            manifest.sitectl
        );
        Ok(manifest)
    }

    /// How large it is, as it is stored.
    pub fn bytes(&self) -> u64 {
        self.files.values().map(|checksum| checksum.bytes).sum()
    }
}

impl Contents {
    /// A line for each place.
    pub fn lines(&self, bucket: &str) -> Vec<String> {
        let streams = self.streams.iter();
        let streams =
            streams.map(|StreamCount { stream, messages }| format!("stream {stream}: {messages} messages"));
        let objects = format!("S3 bucket {bucket}: {} objects", self.objects);
        streams.chain([objects]).collect()
    }
}

impl FileChecksum {
    /// That of a content, read to its end.
    ///
    /// # Errors
    ///
    /// If it cannot be read.
    pub async fn of(mut content: Content) -> std::io::Result<Self> {
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut hash = RunningChecksum::default();
        loop {
            let length = content.read(&mut buffer).await?;
            if length == 0 {
                return Ok(hash.finish());
            }
            hash.update(&buffer[..length]);
        }
    }
}

/// Checksum of what comes in pieces.
#[derive(Default)]
pub struct RunningChecksum {
    bytes: u64,
    hash: Sha256,
}

impl RunningChecksum {
    /// The next piece.
    pub fn update(&mut self, piece: &[u8]) {
        self.bytes += piece.len() as u64;
        self.hash.update(piece);
    }

    /// The checksum of all of them.
    pub fn finish(self) -> FileChecksum {
        FileChecksum {
            bytes: self.bytes,
            sha256: encode_string(&self.hash.finalize()),
        }
    }
}

/// SHA-256 of a text, as text.
pub fn sha256(text: &str) -> String {
    encode_string(&Sha256::digest(text))
}
