//! `sitectl backup`.

use anyhow::Context as _;
use async_nats::jetstream::{Context, stream::StorageType};
use futures_util::TryStreamExt as _;
use resumes::ResumeStore;
use serde_json::json;
use site_events::SITE_STREAM;
use time::{OffsetDateTime, format_description::well_known::Rfc3339};

use super::{
    BackupArgs,
    folder::{BackupWriter, Contents, StreamCount},
    jetstream, snapshot,
};
use crate::{broker, output::print_output};

/// What a folder without a manifest is good for.
const NO_BACKUP: &str = "there is no backup; remove the folder and repeat it";

/// Writes all that is stored into the folder, and the manifest when all of it is there.
///
/// # Errors
///
/// If a store cannot be read, the broker has no stream `SITE`, or the folder is not empty or does not take it all.
pub async fn backup(args: &BackupArgs) -> anyhow::Result<()> {
    let connections = &args.connections;
    let client = broker::client(&connections.nats).await?;
    let version = client.server_info().version;
    let context = jetstream(client);
    let store = ResumeStore::new(&connections.store);
    store.check().await?;
    // A wrong address must not make empty backups night after night.
    broker::stream(&context, SITE_STREAM).await?;
    let (streams, left_out) = streams(&context).await?;
    let mut folder = BackupWriter::create(&args.folder)?;
    let taken = OffsetDateTime::now_utc();

    let mut counted = Vec::new();
    for stream in streams {
        let messages = backup_stream(&context, &stream, &mut folder).await;
        let messages = messages.with_context(|| format!("{NO_BACKUP}: stream {stream} cannot be read"))?;
        counted.push(StreamCount { stream, messages });
    }
    let objects = backup_objects(&store, &mut folder).await;
    let objects = objects.with_context(|| format!("{NO_BACKUP}: the S3 bucket cannot be read"))?;
    let contents = Contents {
        streams: counted,
        left_out,
        objects,
    };
    let (manifest, bytes) = folder
        .write_manifest(taken, version, contents)
        .await
        .context(NO_BACKUP)?;
    print_backup(args, &manifest.contents, taken, bytes)
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

async fn backup_stream(context: &Context, stream: &str, folder: &mut BackupWriter) -> anyhow::Result<u64> {
    let mut file = folder.file(format!("streams/{stream}.snapshot"))?;
    let info = snapshot::download(context, stream, &mut file).await?;
    folder.keep(file).await?;
    folder.keep_json(format!("streams/{stream}.json"), &info).await?;
    Ok(info.messages())
}

async fn backup_objects(store: &ResumeStore, folder: &mut BackupWriter) -> anyhow::Result<u64> {
    let mut number = 0;
    let mut keys = store.keys();
    while let Some(page) = keys.next().await? {
        for key in page {
            // Who is erased in this moment is not backed up.
            let Some(mut object) = store.open(&key).await? else {
                continue;
            };
            number += 1;
            let mut file = folder.file(format!("objects/{number:08}.content"))?;
            while let Some(piece) = object.next().await? {
                file.write(piece.as_ref()).await?;
            }
            folder.keep(file).await?;
            folder
                .keep_json(format!("objects/{number:08}.json"), &object.info)
                .await?;
        }
    }
    Ok(number)
}

fn print_backup(
    args: &BackupArgs,
    contents: &Contents,
    taken: OffsetDateTime,
    bytes: u64,
) -> anyhow::Result<()> {
    let (to, bucket) = (&args.folder, &args.connections.store.s3_bucket);
    let taken = taken.format(&Rfc3339)?;
    let document = json!({ "to": to, "taken": taken, "bytes": bytes, "backedUp": contents });
    let heading = format!("Backed up to {}, {bytes} bytes, as of {taken}:", to.display());
    let left_out = contents.left_out.iter();
    let left_out = left_out.map(|stream| format!("left out: stream {stream}, which lies in memory only"));
    let lines = std::iter::once(heading)
        .chain(contents.lines(bucket))
        .chain(left_out);
    print_output(args.connections.json, &document, lines)
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
