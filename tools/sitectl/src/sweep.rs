//! `sitectl sweep`: removes résumés that have no event: orphans of uploads that were cut off, and those of events that expired;
//! the addresses of people who left the newsletter; and events of checks.
//!
//! Whatever is asked of time is asked of the broker's clock, and nothing that an event or a dead letter names is removed.

use std::time::Duration;

use ::subscribers::{Retention, Subscriber, Subscribers};
use anyhow::Context as _;
use async_nats::{
    Client,
    jetstream::{
        self,
        stream::{self, Stream},
    },
};
use clap::Args;
use futures_util::{TryStreamExt as _, stream::select_all};
use resumes::{ResumeKey, ResumeStore, S3Settings, UploadRecord, UploadRecordError, UploadRecords};
use serde::Serialize;
use serde_json::json;
use site_broker::{RecordError, SUBSCRIBERS_BUCKET, StreamReader, UPLOADS_BUCKET};
use site_events::{DEAD_LETTERS_STREAM, SITE_STREAM, subjects};
use time::OffsetDateTime;
use visitor::PersonId;

use crate::{
    broker::{self, BucketReader},
    common_args::{CommonArgs, Mode, ModeArgs},
    output::print_output,
    progress::Progress,
};

/// What the sweep writes at a time, many times over.
const ROOM_BYTES: i64 = 64 * 1024;
const NO_TIME: &str = "the broker did not tell its time (setting NATS_URL); repeat it";

/// What the sweep needs to know.
#[derive(Args, Debug)]
pub struct SweepArgs {
    /// Minutes after which an upload without an event counts as cut off, and a check's form has been looked for
    #[arg(long, value_name = "MINUTES", default_value = "60", value_parser = minutes)]
    grace: Duration,
    #[command(flatten)]
    mode: ModeArgs,
    #[command(flatten)]
    common: CommonArgs,
    /// The bucket of résumés
    #[command(flatten)]
    store: S3Settings,
}

fn minutes(raw: &str) -> Result<Duration, std::num::ParseIntError> {
    raw.parse()
        .map(|minutes: u32| Duration::from_secs(u64::from(minutes) * 60))
}

/// What became, or would become, of what was looked at, in numbers.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Swept {
    /// Résumés of uploads that were cut off: removed.
    pub orphans: u64,
    /// Résumés of events that expired: removed.
    pub expired: u64,
    /// Uploads that were cut off after their event was stored: the résumé stays.
    pub kept: u64,
    /// Uploads that may be under way.
    pub under_way: u64,
    /// Addresses of people who left the newsletter: removed from their records.
    pub addresses: u64,
    /// Events of checks' forms: removed.
    pub synthetic: u64,
}

/// Removes the résumés of uploads that were cut off and of events that expired, and the addresses of people who left.
///
/// # Errors
///
/// If the broker or the store did not answer. What was removed by then nothing needed; repeating it goes on from there.
pub async fn sweep(args: &SweepArgs) -> anyhow::Result<()> {
    let (mode, grace) = (args.mode.mode(), args.grace);
    let client = broker::client(&args.common.nats).await?;
    let store = ResumeStore::new(&args.store);
    let mut swept = remove_orphans(client.clone(), store, grace, mode).await?;
    let now = broker::time(&client).await.context(NO_TIME)?;
    swept.addresses = forget_addresses(client.clone(), now, mode).await?;
    swept.synthetic = remove_synthetic(client, now, grace, mode).await?;
    print_swept(&swept, mode, args.common.json)
}

fn print_swept(swept: &Swept, mode: Mode, json: bool) -> anyhow::Result<()> {
    let (would, key) = match mode {
        Mode::Apply => ("", "swept"),
        Mode::DryRun => ("would be ", "wouldSweep"),
    };
    let mut lines = vec![
        format!("{would}removed: {} of uploads that were cut off", swept.orphans),
        format!("{would}removed: {} whose event expired", swept.expired),
        format!(
            "{would}kept: {} of uploads that were cut off after their event",
            swept.kept
        ),
        format!("left alone: {} uploads that may be under way", swept.under_way),
        format!(
            "{would}removed: {} addresses of people who left the newsletter",
            swept.addresses
        ),
        format!("{would}removed: {} events of checks", swept.synthetic),
    ];
    if mode == Mode::DryRun {
        lines.push("Nothing was removed; repeat it with --yes.".to_owned());
    }
    print_output(json, &json!({ key: swept }), lines)
}

/// Takes the address out of every record that needs none any more; gives of how many, or of how many it would. The newsletter service
/// does so itself when somebody leaves: these are records that it did not come to.
///
/// # Errors
///
/// If the broker does not answer; repeating it goes on from there. A record that is no subscriber's is left alone.
async fn forget_addresses(client: Client, now: OffsetDateTime, mode: Mode) -> anyhow::Result<u64> {
    let context = jetstream::new(client.clone());
    let bucket = BucketReader::open(&context, SUBSCRIBERS_BUCKET).await?;
    let subscribers = Subscribers::open(client).await?;
    let (mut forgotten, mut records) = (0, bucket.records());
    while let Some(message) = records.try_next().await? {
        // Neither is one that was deleted, nor one of which the newsletter service tells when it meets it.
        let known = serde_json::from_slice::<Subscriber>(&message.payload).ok();
        let Some((known, person)) = known.zip(broker::person_of(&message)) else {
            continue;
        };
        let swept = known.clone().swept(now);
        if swept == known {
            continue;
        }
        // The number of a bucket's message is the record's revision.
        let write = subscribers.write(&person, &swept, message.sequence, Retention::Forever);
        match mode.apply(write).await {
            Ok(_) => forgotten += 1,
            // They came back, or left, in this moment; the next sweep looks again.
            Err(RecordError::Conflict) => {}
            Err(error) => return Err(error).context("not every address was removed; repeat it"),
        }
    }
    Ok(forgotten)
}

/// Removes the events of checks' forms after this grace period.
async fn remove_synthetic(
    client: Client,
    now: OffsetDateTime,
    grace: Duration,
    mode: Mode,
) -> anyhow::Result<u64> {
    let site = broker::reader(&jetstream::new(client), SITE_STREAM).await?;
    let [events, _] = subjects::events_of(PersonId::synthetic().as_str());
    let mut removed = 0;
    let mut messages = site.under(&events);
    while let Some(message) = messages.try_next().await? {
        if message.time + grace < now {
            mode.apply(broker::secure_delete(site.stream(), message.sequence))
                .await?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// Removes the résumés of uploads that have no event after this grace period, and of events that expired.
///
/// # Errors
///
/// If the broker or the store did not answer. What was removed by then had no event; repeating it goes on from there.
pub async fn remove_orphans(
    client: Client,
    store: ResumeStore,
    grace: Duration,
    mode: Mode,
) -> anyhow::Result<Swept> {
    let now = broker::time(&client).await;
    let context = jetstream::new(client);
    let uploads = BucketReader::open(&context, UPLOADS_BUCKET).await?;
    let usual = uploads.stream().cached_info().config.clone();
    let sweep = Sweep {
        mode,
        now: now.context(NO_TIME)?,
        records: UploadRecords::open(&context).await?,
        uploads,
        site: broker::reader(&context, SITE_STREAM).await?,
        dead_letters: broker::reader(&context, DEAD_LETTERS_STREAM).await?,
        store,
    };
    let raised = mode.apply(make_room(&context, sweep.uploads.stream())).await?;
    let swept = sweep.run(grace).await;
    if raised == Some(true) {
        let lowered = context.update_stream(&usual).await;
        lowered.context("the share of bucket uploads stays raised; `sitectl setup` lowers it")?;
    }
    swept
}

/// Raises the share of upload records if there is no room for what the sweep writes: three brokers refuse that in a full bucket
/// although it leaves less there, and nothing could empty it any more.
async fn make_room(context: &jetstream::Context, uploads: &Stream) -> anyhow::Result<bool> {
    let info = uploads.cached_info();
    let needed = i64::try_from(info.state.bytes)? + ROOM_BYTES;
    if needed <= info.config.max_bytes {
        return Ok(false);
    }
    let raised = stream::Config {
        max_bytes: needed,
        ..info.config.clone()
    };
    let raising = context.update_stream(&raised).await;
    raising.context("bucket uploads is full, and its share cannot be raised (setting STREAM_STORAGE_MB)")?;
    Ok(true)
}

struct Sweep {
    mode: Mode,
    now: OffsetDateTime,
    records: UploadRecords,
    uploads: BucketReader,
    site: StreamReader,
    dead_letters: StreamReader,
    store: ResumeStore,
}

impl Sweep {
    async fn run(&self, grace: Duration) -> anyhow::Result<Swept> {
        let mut swept = Swept::default();
        self.uploads(grace, &mut swept).await?;
        self.expired(grace, &mut swept).await?;
        Ok(swept)
    }

    /// The uploads that left a record.
    async fn uploads(&self, grace: Duration, swept: &mut Swept) -> anyhow::Result<()> {
        let mut records = self.uploads.records();
        while let Some(message) = records.try_next().await? {
            let Some(record) = self.records.record_of(&message) else {
                continue;
            };
            if message.time + grace > self.now {
                swept.under_way += 1;
                continue;
            }
            // An upload that goes on after all is not to notice who only looked.
            match self.mode.apply(self.records.claim(&record)).await {
                Ok(claimed) => self.claimed(&claimed.unwrap_or(record), swept).await?,
                Err(UploadRecordError::Conflict) => swept.under_way += 1,
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    /// From the claim on, an upload that goes on after all stores its résumé again.
    async fn claimed(&self, record: &UploadRecord, swept: &mut Swept) -> anyhow::Result<()> {
        if self.is_referenced(&record.key).await? {
            swept.kept += 1;
        } else {
            self.mode.apply(self.store.delete(&record.key)).await?;
            swept.orphans += 1;
        }
        self.mode.apply(self.records.end(record)).await?;
        Ok(())
    }

    /// Résumés that were stored before any event that is still kept. `grace` goes to uploads of that moment.
    ///
    /// How old one is, only the clock of its careers service has said. So what has a record is left alone here: its event may
    /// be stored any moment. The record is removed after that, so that it is asked for before the event is.
    async fn expired(&self, grace: Duration, swept: &mut Swept) -> anyhow::Result<()> {
        let max_age = self.site.stream().cached_info().config.max_age;
        if max_age.is_zero() {
            return Ok(());
        }
        let mut progress = Progress::new("objects", None);
        let mut keys = self.store.keys();
        while let Some(page) = keys.next().await? {
            for key in page.into_iter().map(ResumeKey::known) {
                progress.inc(1);
                let is_old = key.uploaded().is_some_and(|at| at + max_age + grace < self.now);
                if is_old && !self.records.is_provisional(&key).await? && !self.is_referenced(&key).await? {
                    self.mode.apply(self.store.delete(&key)).await?;
                    swept.expired += 1;
                }
            }
        }
        Ok(())
    }

    /// Whether an event, a replay or a dead letter of the person names the résumé.
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
