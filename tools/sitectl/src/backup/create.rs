//! `sitectl backup`.

use std::{
    fs::File,
    io::{Seek as _, Write as _},
};

use age::{stream::StreamWriter, x25519::Recipient};
use anyhow::Context as _;
use async_nats::jetstream::Context;
use base16ct::lower::encode_string;
use futures_util::TryStreamExt as _;
use resumes::ResumeStore;
use serde_json::json;
use sha2::{Digest as _, Sha256};
use site_events::SITE_STREAM;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::{
    BackupArgs,
    encryption::encrypted_file,
    jetstream,
    repository::{Manifest, Repository, StreamCount},
    snapshot,
};
use crate::{broker, output::print_output};

/// Added to errors in saving streams, résumés or the manifest: files without a manifest are no backup.
const NO_BACKUP: &str = "there is no backup; repeat it";

/// Writes all streams and objects, then the manifest, and removes expired backups.
///
/// # Errors
///
/// If a store cannot be read, the broker has no stream `SITE`, or the bucket of backups fails.
pub async fn backup(args: &BackupArgs) -> anyhow::Result<()> {
    args.repeat.run(async || backup_once(args).await).await
}

async fn backup_once(args: &BackupArgs) -> anyhow::Result<()> {
    let client = broker::client(&args.common.nats).await?;
    let version = client.server_info().version;
    let context = jetstream(client);
    let store = ResumeStore::new(&args.store);
    store.check().await?;
    // Fails at another broker's address, instead of writing a backup without events.
    broker::stream(&context, SITE_STREAM).await?;
    let streams = streams(&context).await?;
    let bucket = args.bucket.bucket(args.store.s3_addressing);
    bucket.create_if_missing().await?;
    let mut backup = Backup {
        repository: Repository::open(bucket).await?,
        recipients: &args.backup_recipients,
        manifest: Manifest::begin(OffsetDateTime::now_utc(), version),
        sent_objects: 0,
        sent_bytes: 0,
    };
    for stream in streams {
        let saved = backup.save_stream(&context, &stream).await;
        saved.with_context(|| format!("{NO_BACKUP}: stream {stream} cannot be backed up"))?;
    }
    let saved = backup.save_objects(&store).await;
    saved.with_context(|| format!("{NO_BACKUP}: the S3 bucket cannot be backed up"))?;
    let written = backup.repository.write_manifest(&backup.manifest).await;
    written.context(NO_BACKUP)?;
    let removed = backup.repository.prune(args.backup_keep_days, &backup.manifest);
    let removed = removed.await;
    let removed = removed.context("the backup is complete, but expired ones cannot be removed")?;
    backup.print(args, &removed)
}

async fn streams(context: &Context) -> anyhow::Result<Vec<String>> {
    let names = context.streams().map_ok(|info| info.config.name);
    let names = names.try_collect::<Vec<String>>().await;
    let mut names = names.context("the broker's streams cannot be listed")?;
    names.sort_by_key(|name| (name != SITE_STREAM, name.clone()));
    Ok(names)
}

struct Backup<'a> {
    repository: Repository,
    recipients: &'a [Recipient],
    manifest: Manifest,
    /// Objects that earlier backups lack.
    sent_objects: u64,
    sent_bytes: u64,
}

impl Backup<'_> {
    async fn save_stream(&mut self, context: &Context, stream: &str) -> anyhow::Result<()> {
        let name = format!("{}/{}", self.manifest.name()?, snapshot::file_name(stream));
        let mut file = encrypted_file(self.recipients)?;
        let info = snapshot::download(context, stream, &mut file).await?;
        let messages = info.messages();
        self.send(name, file).await?;
        self.manifest.streams.insert(stream.to_owned(), info);
        let stream = stream.to_owned();
        let counted = &mut self.manifest.contents.streams;
        counted.push(StreamCount { stream, messages });
        Ok(())
    }

    async fn save_objects(&mut self, store: &ResumeStore) -> anyhow::Result<()> {
        for key in store.keys("").await? {
            self.save_object(store, &key).await?;
        }
        Ok(())
    }

    /// Skips an object that an erasure or a sweep deleted after the listing.
    async fn save_object(&mut self, store: &ResumeStore, key: &str) -> anyhow::Result<()> {
        let name = self.name_of_object(key);
        if let Some(bytes) = self.repository.bytes_of(&name) {
            self.manifest.files.insert(name, bytes);
        } else {
            let Some((info, content)) = store.object(key).await? else {
                return Ok(());
            };
            let mut file = encrypted_file(self.recipients)?;
            writeln!(file, "{}", serde_json::to_string(&info)?)?;
            file.write_all(&content)?;
            self.send(name, file).await?;
            self.sent_objects += 1;
        }
        self.manifest.contents.objects += 1;
        Ok(())
    }

    /// The name depends on the recipients, because new recipients need a new copy.
    fn name_of_object(&self, key: &str) -> String {
        let mut recipients: Vec<String> = self.recipients.iter().map(ToString::to_string).collect();
        recipients.sort();
        let hash = Sha256::digest(format!("{key}\n{}", recipients.join(",")));
        format!("objects/{}.age", encode_string(&hash))
    }

    async fn send(&mut self, name: String, file: StreamWriter<File>) -> anyhow::Result<()> {
        let mut file = file.finish()?;
        let bytes = file.stream_position()?;
        file.rewind()?;
        let file = tokio::fs::File::from_std(file);
        self.repository.bucket.put(&name, file).await?;
        self.sent_bytes += bytes;
        self.manifest.files.insert(name, bytes);
        Ok(())
    }

    fn print(&self, args: &BackupArgs, removed: &[String]) -> anyhow::Result<()> {
        let (manifest, objects, sent) = (&self.manifest, self.sent_objects, self.sent_bytes);
        let to = self.repository.named(&format!("{}/", manifest.name()?));
        let started = manifest.started.format(&Rfc3339)?;
        let (contents, bytes) = (&manifest.contents, manifest.bytes());
        let document = json!({
            "to": to, "taken": started, "bytes": bytes, "backedUp": contents,
            "sent": { "objects": objects, "bytes": sent }, "removed": removed,
        });
        let mut lines = vec![format!("Backed up to {to}, {bytes} bytes, as of {started}:")];
        lines.extend(contents.lines(&args.store.s3_bucket));
        lines.push(format!("sent: {sent} bytes, {objects} new objects"));
        lines.extend(removed.iter().map(|name| format!("removed: backup {name}")));
        print_output(args.common.json, &document, lines)
    }
}
