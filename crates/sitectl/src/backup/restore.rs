//! `sitectl restore`.

use anyhow::{Context as _, ensure};
use async_nats::jetstream::Context;
use futures_util::TryStreamExt as _;
use resumes::{ObjectInfo, ResumeStore};
use serde_json::json;
use time::format_description::well_known::Rfc3339;

use super::{
    Connections, RestoreArgs,
    folder::{Contents, StreamCount, VerifiedBackup},
    jetstream,
    snapshot::{self, StreamInfo},
};
use crate::{broker, output::print_output};

/// Hint at the failure of a restore that was begun.
const PARTIAL_RESTORE_HINT: &str =
    "what is restored is a part; empty the broker and the bucket, and repeat it";

/// Brings back what the folder holds, once it is sure that the folder is whole and that nothing would be written over.
///
/// # Errors
///
/// If the backup is not whole, or something would be written over, before anything is done; or if a store fails, and
/// the message says whether a part is restored.
pub async fn restore(args: &RestoreArgs) -> anyhow::Result<()> {
    let connections = &args.connections;
    let mut folder = VerifiedBackup::open(&args.folder).await?;
    let context = jetstream(broker::client(&connections.nats).await?);
    let store = ResumeStore::new(&connections.store);
    ensure_free(&context, &folder.manifest.contents).await?;
    if args.broker_only {
        folder.manifest.contents.objects = 0;
    } else {
        ensure_empty(&store, connections).await?;
    }
    if !args.yes {
        return print_dry_run(args, &folder);
    }
    if !args.broker_only {
        store.ensure_bucket().await?;
    }
    restore_objects(&store, &folder)
        .await
        .context(PARTIAL_RESTORE_HINT)?;
    for StreamCount { stream, .. } in folder.manifest.contents.streams.iter().rev() {
        let restored = restore_stream(&context, stream, &folder, args.replicas).await;
        restored.with_context(|| format!("{PARTIAL_RESTORE_HINT}: stream {stream} cannot be restored"))?;
    }
    print_restored(args, &folder)
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

async fn ensure_empty(store: &ResumeStore, connections: &Connections) -> anyhow::Result<()> {
    ensure!(
        store.is_empty().await?,
        "The S3 bucket {} holds objects, and nothing is written over. Restore into an empty or a new one (setting \
         S3_BUCKET).",
        connections.store.s3_bucket
    );
    Ok(())
}

async fn restore_objects(store: &ResumeStore, folder: &VerifiedBackup) -> anyhow::Result<()> {
    for number in 1..=folder.manifest.contents.objects {
        let info: ObjectInfo = folder.json(&format!("objects/{number:08}.json"))?;
        let content = folder.path(&format!("objects/{number:08}.content"));
        store.restore(&info, &content).await?;
    }
    Ok(())
}

async fn restore_stream(
    context: &Context,
    stream: &str,
    folder: &VerifiedBackup,
    replicas: Option<usize>,
) -> anyhow::Result<()> {
    let mut info: StreamInfo = folder.json(&format!("streams/{stream}.json"))?;
    if let Some(replicas) = replicas {
        info.set_replicas(replicas);
    }
    let file = folder.path(&format!("streams/{stream}.snapshot"));
    snapshot::restore(context, stream, &info, &file).await?;
    snapshot::wait_until_restored(context, stream, &info).await
}

fn print_dry_run(args: &RestoreArgs, folder: &VerifiedBackup) -> anyhow::Result<()> {
    let taken = folder.manifest.taken.format(&Rfc3339)?;
    let contents = &folder.manifest.contents;
    let document = json!({ "taken": taken, "wouldRestore": contents });
    let heading = format!("Nothing was restored; repeat it with --yes. Would restore, as of {taken}:");
    print_contents(args, contents, &document, heading)
}

fn print_restored(args: &RestoreArgs, folder: &VerifiedBackup) -> anyhow::Result<()> {
    let taken = folder.manifest.taken.format(&Rfc3339)?;
    let contents = &folder.manifest.contents;
    let document = json!({ "taken": taken, "restored": contents });
    let heading = format!("Restored, as of {taken}:");
    print_contents(args, contents, &document, heading)
}

fn print_contents(
    args: &RestoreArgs,
    contents: &Contents,
    document: &serde_json::Value,
    heading: String,
) -> anyhow::Result<()> {
    let lines = contents.lines(&args.connections.store.s3_bucket);
    print_output(
        args.connections.json,
        document,
        std::iter::once(heading).chain(lines),
    )
}
