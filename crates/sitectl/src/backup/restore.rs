//! `sitectl restore`.

use anyhow::{Context as _, ensure};
use async_nats::jetstream::Context;
use futures_util::TryStreamExt as _;
use resumes::{ObjectInfo, ResumeStore};
use serde_json::json;
use time::format_description::well_known::Rfc3339;

use super::{
    Parts, RestoreSettings,
    folder::{Contents, Counted, WholeFolder},
    jetstream,
    snapshot::{self, StreamInfo},
};
use crate::{answer::answer, broker};

/// How to go on where a restore ended half-way.
const HALF: &str = "what is restored is a part; empty the broker and the bucket, and repeat it";

/// Brings back what the folder holds, once it is sure that the folder is whole and that nothing would be written over.
pub async fn restore(settings: &RestoreSettings) -> anyhow::Result<()> {
    let parts = &settings.parts;
    let folder = WholeFolder::open(&settings.folder).await?;
    let context = jetstream(broker::client(&parts.nats).await?);
    let store = ResumeStore::new(&parts.store);
    ensure_free(&context, &folder.manifest.contents).await?;
    ensure_empty(&store, parts).await?;
    if !settings.yes {
        return tell_what_would_be_restored(settings, &folder);
    }
    store.ensure_bucket().await?;
    bring_back_objects(&store, &folder).await.context(HALF)?;
    for Counted { stream, .. } in folder.manifest.contents.streams.iter().rev() {
        let restored = bring_back_stream(&context, stream, &folder, settings.replicas).await;
        restored.with_context(|| format!("{HALF}: stream {stream} cannot be restored"))?;
    }
    tell_what_was_restored(settings, &folder)
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

async fn ensure_empty(store: &ResumeStore, parts: &Parts) -> anyhow::Result<()> {
    ensure!(
        store.is_empty().await?,
        "The S3 bucket {} holds objects, and nothing is written over. Restore into an empty or a new one (setting \
         S3_BUCKET).",
        parts.store.s3_bucket
    );
    Ok(())
}

async fn bring_back_objects(store: &ResumeStore, folder: &WholeFolder) -> anyhow::Result<()> {
    for number in 1..=folder.manifest.contents.objects {
        let info: ObjectInfo = folder.json(&format!("objects/{number:08}.json"))?;
        let content = folder.path(&format!("objects/{number:08}.content"));
        store.restore(&info, &content).await?;
    }
    Ok(())
}

async fn bring_back_stream(
    context: &Context,
    stream: &str,
    folder: &WholeFolder,
    replicas: Option<usize>,
) -> anyhow::Result<()> {
    let mut info: StreamInfo = folder.json(&format!("streams/{stream}.json"))?;
    if let Some(replicas) = replicas {
        info.set_replicas(replicas);
    }
    let file = folder.path(&format!("streams/{stream}.snapshot"));
    snapshot::restore(context, stream, &info, &file).await?;
    snapshot::ensure_as_before(context, stream, &info).await
}

fn tell_what_would_be_restored(settings: &RestoreSettings, folder: &WholeFolder) -> anyhow::Result<()> {
    let taken = folder.manifest.taken.format(&Rfc3339)?;
    let contents = &folder.manifest.contents;
    let document = json!({ "taken": taken, "wouldRestore": contents });
    let heading = format!("Nothing was restored; repeat it with --yes. Would restore, as of {taken}:");
    tell(settings, contents, &document, heading)
}

fn tell_what_was_restored(settings: &RestoreSettings, folder: &WholeFolder) -> anyhow::Result<()> {
    let taken = folder.manifest.taken.format(&Rfc3339)?;
    let contents = &folder.manifest.contents;
    let document = json!({ "taken": taken, "restored": contents });
    let heading = format!("Restored, as of {taken}:");
    tell(settings, contents, &document, heading)
}

fn tell(
    settings: &RestoreSettings,
    contents: &Contents,
    document: &serde_json::Value,
    heading: String,
) -> anyhow::Result<()> {
    let lines = contents.lines(&settings.parts.store.s3_bucket);
    answer(
        settings.parts.json,
        document,
        std::iter::once(heading).chain(lines),
    )
}
