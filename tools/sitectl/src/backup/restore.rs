//! `sitectl restore`.

use anyhow::{Context as _, ensure};
use async_nats::jetstream::Context;
use futures_util::TryStreamExt as _;
use resumes::{ObjectInfo, ResumeStore};
use serde_json::json;
use time::format_description::well_known::Rfc3339;

use super::{
    RestoreArgs,
    encryption::Identities,
    jetstream,
    manifest::{Contents, FileChecksum, RunningChecksum, StreamCount},
    repository::Repository,
    snapshot::{self, StreamInfo},
    store::BackupStore,
    verified::{self, VerifiedBackup},
};
use crate::{broker, common_args::Mode, output::print_output, progress};

/// Hint at the failure of a restore that was begun.
const PARTIAL_RESTORE_HINT: &str =
    "what is restored is a part; empty the broker and the bucket, and repeat it";

/// Brings back what a backup holds, once it is sure that it is whole and that nothing would be written over; and then looks
/// whether it is there.
///
/// # Errors
///
/// If the backup is not whole, or something would be written over, before anything is done; or if a store fails, and
/// the message says whether a part is restored.
pub async fn restore(args: &RestoreArgs) -> anyhow::Result<()> {
    let mut backup = open(args).await?;
    let context = jetstream(broker::client(&args.common.nats).await?);
    let store = ResumeStore::new(&args.store);
    ensure_free(&context, &backup.manifest.contents).await?;
    if args.broker_only {
        backup.manifest.contents.objects = 0;
    } else {
        ensure_empty(&store, &args.store.s3_bucket).await?;
    }
    if args.mode.mode() == Mode::DryRun {
        return print_dry_run(args, &backup);
    }
    if !args.broker_only {
        store.ensure_bucket().await?;
        let restored = restore_objects(&store, &backup).await;
        restored.context(PARTIAL_RESTORE_HINT)?;
    }
    for StreamCount { stream, .. } in backup.manifest.contents.streams.iter().rev() {
        let restored = restore_stream(&context, stream, &backup, args.replicas).await;
        restored.with_context(|| format!("{PARTIAL_RESTORE_HINT}: stream {stream} cannot be restored"))?;
    }
    print_restored(args, &backup)
}

async fn open(args: &RestoreArgs) -> anyhow::Result<VerifiedBackup> {
    let identities = args.backup_identity.as_ref().map(Identities::parse).transpose()?;
    let (store, prefix) = match &args.folder {
        Some(folder) => (BackupStore::Folder(folder.clone()), String::new()),
        None => {
            let repository = Repository::open(args.bucket.bucket()?).await?;
            let name = repository.choose(args.from.as_deref())?;
            (repository.store(), format!("{name}/"))
        }
    };
    VerifiedBackup::open(store, prefix, identities).await
}

async fn ensure_free(context: &Context, contents: &Contents) -> anyhow::Result<()> {
    let names: Vec<String> = context
        .stream_names()
        .try_collect()
        .await
        .context("the broker's streams cannot be listed")?;
    let streams = contents.streams.iter().map(|counted| &counted.stream);
    let taken: Vec<&str> = streams
        .filter(|stream| names.contains(stream))
        .map(String::as_str)
        .collect();
    ensure!(
        taken.is_empty(),
        "The broker has streams of these names, and nothing is written over: {}. Restore into an empty broker, before \
         `sitectl setup`; where these may go, delete them first.",
        taken.join(", ")
    );
    Ok(())
}

async fn ensure_empty(store: &ResumeStore, bucket: &str) -> anyhow::Result<()> {
    ensure!(
        store.is_empty().await?,
        "The S3 bucket {bucket} holds objects, and nothing is written over. Restore into an empty or a new one (setting \
         S3_BUCKET)."
    );
    Ok(())
}

async fn restore_objects(store: &ResumeStore, backup: &VerifiedBackup) -> anyhow::Result<()> {
    let should = backup.manifest.contents.objects;
    let progress = progress::counted("objects", should)?;
    let mut count = 0;
    for (description, content) in backup.objects() {
        let info: ObjectInfo = verified::json(backup.decrypted(&description).await?).await?;
        let content = verified::bytes(backup.decrypted(&content).await?).await?;
        let mut checksum = RunningChecksum::default();
        checksum.update(&content);
        store.restore(&info, content).await?;
        let restored = stored_checksum(store, &info.key).await?;
        ensure!(
            restored == Some(checksum.finish()),
            "the bucket holds another object under {} than it was given",
            info.key
        );
        count += 1;
        progress.inc(1);
    }
    ensure!(
        count == should,
        "the backup names {should} objects and has {count}"
    );
    Ok(())
}

async fn stored_checksum(store: &ResumeStore, key: &str) -> anyhow::Result<Option<FileChecksum>> {
    let Some(mut object) = store.open(key).await? else {
        return Ok(None);
    };
    let mut checksum = RunningChecksum::default();
    while let Some(piece) = object.next().await? {
        checksum.update(piece.as_ref());
    }
    Ok(Some(checksum.finish()))
}

async fn restore_stream(
    context: &Context,
    stream: &str,
    backup: &VerifiedBackup,
    replicas: Option<usize>,
) -> anyhow::Result<()> {
    let info = backup.content(&format!("streams/{stream}.json")).await?;
    let mut info: StreamInfo = verified::json(info).await?;
    if let Some(replicas) = replicas {
        info.set_replicas(replicas);
    }
    let name = format!("streams/{stream}.snapshot");
    let progress = progress::bytes(format!("stream {stream}"), backup.bytes(&name))?;
    let snapshot = progress.wrap_async_read(backup.content(&name).await?);
    snapshot::restore(context, stream, &info, snapshot).await?;
    snapshot::wait_until_restored(context, stream, &info).await
}

fn print_dry_run(args: &RestoreArgs, backup: &VerifiedBackup) -> anyhow::Result<()> {
    let taken = backup.manifest.taken.format(&Rfc3339)?;
    let contents = &backup.manifest.contents;
    let document = json!({ "from": backup.named(), "taken": taken, "wouldRestore": contents });
    let heading = format!(
        "Nothing was restored; repeat it with --yes. Would restore {}, as of {taken}:",
        backup.named()
    );
    print_contents(args, contents, &document, heading)
}

fn print_restored(args: &RestoreArgs, backup: &VerifiedBackup) -> anyhow::Result<()> {
    let taken = backup.manifest.taken.format(&Rfc3339)?;
    let contents = &backup.manifest.contents;
    let document = json!({ "from": backup.named(), "taken": taken, "restored": contents });
    let heading = format!("Restored and checked {}, as of {taken}:", backup.named());
    print_contents(args, contents, &document, heading)
}

fn print_contents(
    args: &RestoreArgs,
    contents: &Contents,
    document: &serde_json::Value,
    heading: String,
) -> anyhow::Result<()> {
    let lines = contents.lines(&args.store.s3_bucket);
    print_output(args.common.json, document, std::iter::once(heading).chain(lines))
}
