//! `sitectl sweep`: removes résumés whose upload was interrupted or whose event expired, addresses of former
//! subscribers, and events of synthetic checks.
//!
//! Ages are by the broker's clock. A résumé that an event or a dead letter names is never removed.

use std::time::Duration;

use ::subscribers::Subscribers;
use anyhow::Context as _;
use async_nats::{Client, jetstream};
use clap::Args;
use futures_util::{TryStreamExt as _, stream::select_all};
use resumes::{ResumeKey, ResumeStore, S3Settings, UploadRecord, UploadRecords};
use serde::Serialize;
use serde_json::json;
use site_broker::{RecordError, StreamReader, UPLOADS_BUCKET};
use site_events::{DEAD_LETTERS_STREAM, SITE_STREAM, subjects};
use time::OffsetDateTime;
use visitor::PersonId;

use crate::{
    broker,
    common_args::{CommonArgs, Mode, Repeat},
    output::print_output,
};

/// Arguments of `sitectl sweep`.
#[derive(Args, Debug)]
pub struct SweepArgs {
    /// Minutes after which an upload without an event counts as interrupted, and a synthetic check as finished
    #[arg(long, value_name = "MINUTES", default_value_t = 60)]
    grace: u32,
    #[command(flatten)]
    repeat: Repeat,
    #[command(flatten)]
    mode: Mode,
    #[command(flatten)]
    common: CommonArgs,
    #[command(flatten)]
    store: S3Settings,
}

/// Counts of a sweep or dry run.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Swept {
    /// Removed résumés of interrupted uploads.
    pub orphans: u64,
    /// Removed résumés of expired events.
    pub expired: u64,
    /// Uploads interrupted after their event was stored: the résumé stays.
    pub kept: u64,
    /// Uploads that may be in progress.
    pub under_way: u64,
    /// Addresses removed from records of former subscribers.
    pub addresses: u64,
    /// Removed events of synthetic checks.
    pub synthetic: u64,
}

/// Removes unneeded data, and prints the counts.
///
/// # Errors
///
/// As [`remove_unneeded`].
pub async fn sweep(args: &SweepArgs) -> anyhow::Result<()> {
    args.repeat.run(async || sweep_once(args).await).await
}

async fn sweep_once(args: &SweepArgs) -> anyhow::Result<()> {
    let mode = args.mode;
    let client = broker::client(&args.common.nats).await?;
    let store = ResumeStore::new(&args.store);
    let grace = Duration::from_secs(u64::from(args.grace) * 60);
    let swept = remove_unneeded(client, store, grace, mode).await?;
    let (would, key) = if mode.yes {
        ("", "swept")
    } else {
        ("would be ", "wouldSweep")
    };
    let of = |done: &str, count: u64, what: &str| format!("{would}{done}: {count} {what}");
    let mut lines = vec![
        of("removed", swept.orphans, "of interrupted uploads"),
        of("removed", swept.expired, "whose event expired"),
        of("kept", swept.kept, "of uploads interrupted after their event"),
        of("left alone", swept.under_way, "uploads that may be in progress"),
        of("removed", swept.addresses, "addresses of former subscribers"),
        of("removed", swept.synthetic, "events of synthetic checks"),
    ];
    if !mode.yes {
        lines.push("Nothing was removed; repeat it with --yes.".to_owned());
    }
    print_output(args.common.json, &json!({ key: swept }), lines)
}

/// Removes unneeded data. Uploads and synthetic checks younger than `grace` stay.
///
/// # Errors
///
/// If the broker or the store is unavailable. The sweep can be repeated.
pub async fn remove_unneeded(
    client: Client,
    store: ResumeStore,
    grace: Duration,
    mode: Mode,
) -> anyhow::Result<Swept> {
    let now = broker::time(&client).await;
    let context = jetstream::new(client.clone());
    let sweep = Sweep {
        mode,
        grace,
        now: now.context("the broker did not return its time (setting NATS_URL); repeat it")?,
        records: UploadRecords::open(&context).await?,
        uploads: broker::bucket(&context, UPLOADS_BUCKET).await?,
        site: broker::reader(&context, SITE_STREAM).await?,
        dead_letters: broker::reader(&context, DEAD_LETTERS_STREAM).await?,
        subscribers: Subscribers::open(client).await?,
        store,
    };
    let mut swept = Swept::default();
    sweep.uploads(&mut swept).await?;
    sweep.expired(&mut swept).await?;
    sweep.addresses(&mut swept).await?;
    sweep.synthetic(&mut swept).await?;
    Ok(swept)
}

struct Sweep {
    mode: Mode,
    grace: Duration,
    now: OffsetDateTime,
    records: UploadRecords,
    uploads: StreamReader,
    site: StreamReader,
    dead_letters: StreamReader,
    subscribers: Subscribers,
    store: ResumeStore,
}

impl Sweep {
    async fn uploads(&self, swept: &mut Swept) -> anyhow::Result<()> {
        let mut records = self.uploads.all();
        while let Some(message) = records.try_next().await? {
            let Some(record) = self.records.record_of(&message) else {
                continue;
            };
            if message.time + self.grace > self.now {
                swept.under_way += 1;
                continue;
            }
            // A dry run must not disturb an upload that continues.
            match self.mode.apply(self.records.claim(&record)).await {
                Ok(claimed) => self.remove_orphan(&claimed.unwrap_or(record), swept).await?,
                Err(RecordError::Conflict) => swept.under_way += 1,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// The record must be claimed, so that a continuing upload stores its résumé again.
    async fn remove_orphan(&self, record: &UploadRecord, swept: &mut Swept) -> anyhow::Result<()> {
        if self.is_referenced(&record.key).await? {
            swept.kept += 1;
        } else {
            self.mode.apply(self.store.delete(&record.key)).await?;
            swept.orphans += 1;
        }
        self.mode.apply(self.records.end(record)).await?;
        Ok(())
    }

    /// Removes résumés older than every stored event.
    ///
    /// A résumé's age is by the clock of a careers service, which may be wrong. So a résumé with an upload
    /// record stays. Careers removes the record after storing the event, so the record is checked
    /// before events.
    async fn expired(&self, swept: &mut Swept) -> anyhow::Result<()> {
        let max_age = self.site.stream().cached_info().config.max_age;
        if max_age.is_zero() {
            return Ok(());
        }
        for key in self.store.keys("").await?.into_iter().map(ResumeKey::known) {
            let is_old = key
                .uploaded()
                .is_some_and(|at| at + max_age + self.grace < self.now);
            if is_old && !self.records.is_provisional(&key).await? && !self.is_referenced(&key).await? {
                self.mode.apply(self.store.delete(&key)).await?;
                swept.expired += 1;
            }
        }
        Ok(())
    }

    /// Removes addresses that the newsletter service failed to remove when their subscribers left. Skips unreadable
    /// records.
    async fn addresses(&self, swept: &mut Swept) -> anyhow::Result<()> {
        let mut records = self.subscribers.since(1);
        while let Some(message) = records.try_next().await? {
            let Ok(Some((person, known))) = self.subscribers.record_of(&message) else {
                continue;
            };
            let needed = known.clone().swept(self.now);
            if needed == known {
                continue;
            }
            // A record's revision is the sequence of its message.
            let write = self.subscribers.write(&person, &needed, message.sequence, None);
            match self.mode.apply(write).await {
                Ok(_) => swept.addresses += 1,
                // The subscriber changed the record meanwhile.
                Err(RecordError::Conflict) => {}
                Err(error) => return Err(error).context("not every address was removed; repeat it"),
            }
        }
        Ok(())
    }

    async fn synthetic(&self, swept: &mut Swept) -> anyhow::Result<()> {
        let [events, _] = subjects::events_of(PersonId::synthetic().as_str());
        let mut messages = self.site.under(&events);
        while let Some(message) = messages.try_next().await? {
            if message.time + self.grace < self.now {
                let deleting = broker::secure_delete(self.site.stream(), message.sequence);
                self.mode.apply(deleting).await?;
                swept.synthetic += 1;
            }
        }
        Ok(())
    }

    /// Whether an event, a replay or a dead letter names the résumé.
    async fn is_referenced(&self, key: &ResumeKey) -> anyhow::Result<bool> {
        let Some(person) = key.person() else {
            return Ok(true);
        };
        let [events, replays] = subjects::events_of(person.as_str());
        let dead_letters = subjects::dead_letters_of(person.as_str());
        let under = [
            self.site.under(&events),
            self.site.under(&replays),
            self.dead_letters.under(&dead_letters),
        ];
        let mut messages = select_all(under);
        while let Some(message) = messages.try_next().await? {
            if broker::content(&message)["data"]["resume"]["key"] == key.as_str() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
