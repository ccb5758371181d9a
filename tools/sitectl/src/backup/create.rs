//! `sitectl backup`.

use anyhow::Context as _;
use async_nats::jetstream::{Context, stream::StorageType};
use futures_util::TryStreamExt as _;
use resumes::ResumeStore;
use serde_json::json;
use site_events::SITE_STREAM;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::{
    BackupArgs, jetstream,
    manifest::{Contents, Manifest, StreamCount},
    repository::Repository,
    snapshot,
    writer::BackupWriter,
};
use crate::{broker, output::print_output, progress};

/// What is good for nothing without a manifest.
const NO_BACKUP: &str = "there is no backup; repeat it, into a new folder where it went to one";

/// Writes all that is stored into the folder or the bucket, and the manifest when all of it is there; and then removes from the
/// bucket what is kept no longer.
///
/// # Errors
///
/// If a store cannot be read, the broker has no stream `SITE`, the folder is not empty, or it or the bucket does not take it all.
pub async fn backup(args: &BackupArgs) -> anyhow::Result<()> {
    let client = broker::client(&args.common.nats).await?;
    let version = client.server_info().version;
    let context = jetstream(client);
    let store = ResumeStore::new(&args.store);
    store.check().await?;
    // A wrong address must not make empty backups night after night.
    broker::stream(&context, SITE_STREAM).await?;
    let (streams, left_out) = streams(&context).await?;
    let taken = OffsetDateTime::now_utc();
    let recipients = args.backup_recipients.clone();
    let mut writer = match &args.folder {
        Some(folder) => BackupWriter::in_folder(folder, recipients)?,
        None => {
            let repository = Repository::open(args.bucket.bucket()?).await?;
            BackupWriter::in_repository(&repository, taken, recipients).await?
        }
    };

    let mut counted = Vec::new();
    for stream in streams {
        let messages = backup_stream(&context, &stream, &mut writer).await;
        let messages =
            messages.with_context(|| format!("{NO_BACKUP}: stream {stream} cannot be backed up"))?;
        counted.push(StreamCount { stream, messages });
    }
    let objects = backup_objects(&store, &mut writer).await;
    let objects = objects.with_context(|| format!("{NO_BACKUP}: the S3 bucket cannot be backed up"))?;
    let contents = Contents {
        streams: counted,
        left_out,
        objects,
    };
    let manifest = writer.write_manifest(taken, version, contents).await;
    let manifest = manifest.context(NO_BACKUP)?;
    let removed = match args.folder {
        Some(_) => Vec::new(),
        None => prune(args, taken).await?,
    };
    print_backup(args, &writer, &manifest, &removed)
}

/// Removes what is kept no longer, now that there is a newer one.
async fn prune(args: &BackupArgs, now: OffsetDateTime) -> anyhow::Result<Vec<String>> {
    let pruned = async {
        let repository = Repository::open(args.bucket.bucket()?).await?;
        repository.prune(args.retention, now).await
    };
    pruned
        .await
        .context("the backup is whole, but older ones cannot be removed")
}

/// The names of all streams, events first (see [`super`]), and of those that lie in memory only.
async fn streams(context: &Context) -> anyhow::Result<(Vec<String>, Vec<String>)> {
    let mut streams = Vec::new();
    let mut left_out = Vec::new();
    let mut infos = context.streams();
    while let Some(info) = infos
        .try_next()
        .await
        .context("the broker's streams cannot be listed")?
    {
        match info.config.storage {
            StorageType::File => streams.push(info.config.name),
            StorageType::Memory => left_out.push(info.config.name),
        }
    }
    streams.sort_by(|a, b| (a != SITE_STREAM, a).cmp(&(b != SITE_STREAM, b)));
    left_out.sort();
    Ok((streams, left_out))
}

async fn backup_stream(context: &Context, stream: &str, writer: &mut BackupWriter) -> anyhow::Result<u64> {
    let mut file = writer.file(&format!("streams/{stream}.snapshot"))?;
    let info = snapshot::download(context, stream, &mut file).await?;
    writer.keep(file).await?;
    let file = writer.file(&format!("streams/{stream}.json"))?;
    writer.keep_json(file, &info).await?;
    Ok(info.messages())
}

async fn backup_objects(store: &ResumeStore, writer: &mut BackupWriter) -> anyhow::Result<u64> {
    let progress = progress::objects(store).await?;
    let mut number = 0;
    let mut keys = store.keys();
    while let Some(page) = keys.next().await? {
        for key in page {
            progress.inc(1);
            if writer.reuse(&key) || backup_object(store, &key, writer).await? {
                number += 1;
            }
        }
    }
    Ok(number)
}

/// Says whether the object was still there: who is erased in this moment is not backed up.
async fn backup_object(store: &ResumeStore, key: &str, writer: &mut BackupWriter) -> anyhow::Result<bool> {
    let Some(mut object) = store.open(key).await? else {
        return Ok(false);
    };
    let [mut content, description] = writer.object(key)?;
    while let Some(piece) = object.next().await? {
        content.write(piece.as_ref()).await?;
    }
    writer.keep(content).await?;
    writer.keep_json(description, &object.info).await?;
    writer.sent.objects += 1;
    Ok(true)
}

fn print_backup(
    args: &BackupArgs,
    writer: &BackupWriter,
    manifest: &Manifest,
    removed: &[String],
) -> anyhow::Result<()> {
    let (to, bucket) = (writer.named(), &args.store.s3_bucket);
    let taken = manifest.taken.format(&Rfc3339)?;
    let (contents, sent, bytes) = (&manifest.contents, &writer.sent, manifest.bytes());
    let document = json!({
        "to": to, "taken": taken, "bytes": bytes, "backedUp": contents, "sent": sent, "removed": removed,
    });
    let heading = format!("Backed up to {to}, {bytes} bytes, as of {taken}:");
    let left_out = contents.left_out.iter();
    let left_out = left_out.map(|stream| format!("left out: stream {stream}, which lies in memory only"));
    let there = format!(
        "sent: {} bytes, {} objects that were not there",
        sent.bytes, sent.objects
    );
    let removed = removed.iter().map(|name| format!("removed: backup {name}"));
    let lines = std::iter::once(heading)
        .chain(contents.lines(bucket))
        .chain(left_out)
        .chain([there])
        .chain(removed);
    print_output(args.common.json, &document, lines)
}
