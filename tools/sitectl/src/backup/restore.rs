//! `sitectl restore`.

use anyhow::{Context as _, ensure};
use async_nats::jetstream::Context;
use futures_util::TryStreamExt as _;
use resumes::{ObjectInfo, ResumeStore};
use serde_json::json;
use time::format_description::well_known::Rfc3339;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncReadExt as _, BufReader, copy, sink};

use super::{
    RestoreArgs,
    encryption::{Identities, altered},
    jetstream,
    repository::{Manifest, Repository},
    snapshot,
};
use crate::{broker, output::print_output};

const PARTIAL_RESTORE_HINT: &str = "only a part is restored; empty the broker and the bucket, and repeat it";

/// Restores a backup and verifies the result, if the backup is complete and nothing would be overwritten.
///
/// # Errors
///
/// If the backup is incomplete, or the broker or the bucket is not empty (then nothing changes), or if a store
/// fails. The error says whether a part is restored.
pub async fn restore(args: &RestoreArgs) -> anyhow::Result<()> {
    let identities = Identities::parse(&args.backup_identity)?;
    let repository = Repository::open(args.bucket.bucket(args.store.s3_addressing)).await?;
    let manifest = repository.choose(args.from.as_deref()).await?;
    let mut backup = Backup {
        repository,
        manifest,
        identities,
    };
    backup.ensure_complete().await?;
    let context = jetstream(broker::client(&args.common.nats).await?);
    let store = ResumeStore::new(&args.store);
    ensure_empty(&context).await?;
    if args.broker_only {
        backup.manifest.contents.objects = 0;
    } else {
        ensure!(
            store.is_empty().await?,
            "The S3 bucket {} holds objects, and nothing is overwritten. Restore into an empty or new bucket (setting \
             S3_BUCKET).",
            args.store.s3_bucket
        );
    }
    if args.mode.yes {
        if !args.broker_only {
            store.ensure_bucket().await?;
            let restored = backup.restore_objects(&store).await;
            restored.context(PARTIAL_RESTORE_HINT)?;
        }
        for counted in backup.manifest.contents.streams.iter().rev() {
            let stream = &counted.stream;
            let restored = backup.restore_stream(&context, stream, args.replicas).await;
            restored
                .with_context(|| format!("{PARTIAL_RESTORE_HINT}: stream {stream} cannot be restored"))?;
        }
    }
    print_restored(args, &backup)
}

async fn ensure_empty(context: &Context) -> anyhow::Result<()> {
    let names = context.stream_names().try_collect::<Vec<String>>().await;
    let names = names.context("the broker's streams cannot be listed")?;
    ensure!(
        names.is_empty(),
        "The broker has streams, and nothing is overwritten: {}. Restore into an empty broker, before `sitectl setup`, or \
         delete these first.",
        names.join(", ")
    );
    Ok(())
}

struct Backup {
    repository: Repository,
    manifest: Manifest,
    identities: Identities,
}

impl Backup {
    fn named(&self) -> anyhow::Result<String> {
        Ok(self.repository.named(&format!("{}/", self.manifest.name()?)))
    }

    /// Decrypts every file once, to detect altered files.
    async fn ensure_complete(&self) -> anyhow::Result<()> {
        let named = self.named()?;
        for (name, bytes) in &self.manifest.files {
            ensure!(
                self.repository.bytes_of(name) == Some(*bytes),
                "The backup in {named} is incomplete: {name} is missing or truncated."
            );
            let mut content = self.open(name).await?;
            let read = copy(&mut content, &mut sink()).await;
            read.with_context(|| altered(name))?;
        }
        Ok(())
    }

    async fn open(&self, name: &str) -> anyhow::Result<impl AsyncRead + Unpin + use<>> {
        let encrypted = self.repository.bucket.open(name).await?;
        let encrypted = encrypted.with_context(|| format!("{name} of the backup is missing"))?;
        self.identities.decrypt(name, encrypted).await
    }

    async fn restore_objects(&self, store: &ResumeStore) -> anyhow::Result<()> {
        let files = self.manifest.files.keys();
        for name in files.filter(|name| name.starts_with("objects/")) {
            let mut file = BufReader::new(self.open(name).await?);
            let (mut description, mut content) = (Vec::new(), Vec::new());
            file.read_until(b'\n', &mut description).await?;
            file.read_to_end(&mut content).await?;
            let info: ObjectInfo = serde_json::from_slice(&description).with_context(|| altered(name))?;
            store.restore(&info, content).await?;
        }
        Ok(())
    }

    async fn restore_stream(
        &self,
        context: &Context,
        stream: &str,
        replicas: Option<usize>,
    ) -> anyhow::Result<()> {
        let info = self.manifest.streams.get(stream);
        let mut info = info.context("the manifest does not describe it")?.clone();
        if let Some(replicas) = replicas {
            info.set_replicas(replicas);
        }
        let name = format!("{}/{}", self.manifest.name()?, snapshot::file_name(stream));
        snapshot::restore(context, stream, &info, self.open(&name).await?).await?;
        snapshot::wait_until_restored(context, stream, &info).await
    }
}

fn print_restored(args: &RestoreArgs, backup: &Backup) -> anyhow::Result<()> {
    let (named, started) = (backup.named()?, backup.manifest.started.format(&Rfc3339)?);
    let (key, heading) = if args.mode.yes {
        ("restored", "Restored and checked")
    } else {
        (
            "wouldRestore",
            "Nothing was restored; repeat it with --yes. Would restore",
        )
    };
    let heading = format!("{heading} {named}, as of {started}:");
    let contents = &backup.manifest.contents;
    let document = json!({ "from": named, "taken": started, key: contents });
    let lines = contents.lines(&args.store.s3_bucket);
    print_output(args.common.json, &document, std::iter::once(heading).chain(lines))
}
