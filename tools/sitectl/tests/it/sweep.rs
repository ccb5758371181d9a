//! `sitectl sweep`.

use std::time::Duration;

use async_nats::jetstream::kv::Store;
use resumes::{ResumeKey, UploadRecords};
use serde_json::{Value, json};
use site_broker::{RecordError, SUBSCRIBERS_BUCKET};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::{NoContext, Timestamp, Uuid};
use visitor::PersonId;

use crate::{
    site::{Site, application, message, person, stored_resume},
    tool::{assert_says, told, told_json},
};

const EMAIL: &str = "asha@example.com";
const STAYS: &str = "stays@example.com";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

struct Swept {
    site: Site,
    records: UploadRecords,
}

impl Swept {
    async fn start() -> anyhow::Result<Self> {
        let site = Site::start().await?;
        Ok(Self {
            records: UploadRecords::open(&site.jetstream().await?).await?,
            site,
        })
    }

    async fn store(&self, age: Duration) -> anyhow::Result<ResumeKey> {
        let uploaded = u64::try_from((OffsetDateTime::now_utc() - age).unix_timestamp())?;
        let attempt = Uuid::new_v7(Timestamp::from_unix(NoContext, uploaded, 0));
        let key = ResumeKey::new(&person(EMAIL)?, attempt);
        self.site.store_resume(&key, "%PDF-1.7").await?;
        Ok(key)
    }

    async fn publish_event_of(&self, key: &ResumeKey) -> anyhow::Result<()> {
        let application = application("Asha Rao", EMAIL, Some(stored_resume(key)))?;
        self.site.publish(EMAIL, application).await.map(drop)
    }

    /// Fails unless exactly these résumés and this number of upload records are stored.
    async fn ensure_left(&self, keys: &[&ResumeKey], records: usize) -> anyhow::Result<()> {
        let mut expected: Vec<String> = keys.iter().map(ToString::to_string).collect();
        expected.sort();
        let left: Vec<String> = self.site.s3.objects()?.into_iter().map(|(key, _)| key).collect();
        assert_eq!(left, expected);
        assert_eq!(self.site.nats.upload_records().await?.len(), records);
        Ok(())
    }

    fn sweep(&self, grace: &str) -> anyhow::Result<Value> {
        let mut said = told_json(&["sweep", grace, "--yes"], &self.site.flags)?;
        Ok(said["swept"].take())
    }
}

/// Stores other data that a sweep removes: the event of a check, and the address of a former subscriber.
async fn leave_leftovers(site: &Site) -> anyhow::Result<Store> {
    site.publish(EMAIL, message("Asha Rao", EMAIL)?).await?;
    let form = message("Synthetic check", "check@example.com")?;
    site.publish_of(&PersonId::synthetic(), form).await?;
    let long_ago = (OffsetDateTime::now_utc() - 40 * DAY).format(&Rfc3339)?;
    let bucket = site.jetstream().await?.get_key_value(SUBSCRIBERS_BUCKET).await?;
    for (email, state) in [(EMAIL, "unsubscribed"), (STAYS, "confirmed")] {
        let record = json!({
            "email": email, "subscription": Uuid::new_v4(), "requested": long_ago, "state": state, "since": long_ago,
        });
        bucket
            .put(person(email)?.as_str(), record.to_string().into())
            .await?;
    }
    bucket
        .put(person("nobody@example.com")?.as_str(), "no subscriber's".into())
        .await?;
    Ok(bucket)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_requires_yes_and_respects_the_grace_period() -> anyhow::Result<()> {
    let swept = Swept::start().await?;
    let (orphan, expired) = (swept.store(Duration::ZERO).await?, swept.store(366 * DAY).await?);
    let record = swept.records.begin(&orphan).await?;
    let subscribers = leave_leftovers(&swept.site).await?;
    let young =
        json!({ "orphans": 0, "expired": 1, "kept": 0, "underWay": 1, "addresses": 1, "synthetic": 0 });
    let would = told_json(&["sweep", "--grace=60"], &swept.site.flags)?;
    assert_eq!(would, json!({ "wouldSweep": young }));
    let old = json!({ "orphans": 1, "expired": 1, "kept": 0, "underWay": 0, "addresses": 1, "synthetic": 1 });
    let would = told_json(&["sweep", "--grace=0"], &swept.site.flags)?;
    assert_eq!(would, json!({ "wouldSweep": old }));
    let said = told(&["sweep", "--grace=0"], &swept.site.flags)?;
    assert_says(
        &said,
        &["would be removed: 1 whose event expired", "repeat it with --yes"],
    );
    swept.ensure_left(&[&orphan, &expired], 1).await?;
    let record_of = async |email: &str| {
        let record = subscribers.get(person(email)?.as_str()).await?;
        anyhow::Ok(serde_json::from_slice::<Value>(&record.unwrap_or_default())?)
    };
    assert_eq!(record_of(EMAIL).await?["email"], EMAIL);
    assert_eq!(swept.site.nats.events().await?.len(), 2);

    assert_eq!(swept.sweep("--grace=0")?, old);
    swept.ensure_left(&[], 0).await?;
    let left = record_of(EMAIL).await?;
    assert_eq!(left["state"], "unsubscribed", "they stay known");
    assert!(!left.to_string().contains(EMAIL), "{left}");
    assert_eq!(record_of(STAYS).await?["email"], STAYS);
    let events = swept.site.nats.events().await?;
    assert_eq!(events.len(), 1);
    assert_eq!(events[0]["data"]["email"], EMAIL);
    // The interrupted upload continues, and gets a conflict.
    let ended = swept.records.end(&record).await;
    assert!(matches!(ended, Err(RecordError::Conflict)), "{ended:?}");
    assert!(!swept.records.is_provisional(&record.key).await?);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resume_with_an_event_stays() -> anyhow::Result<()> {
    let swept = Swept::start().await?;
    let [named, newer] = [
        swept.store(Duration::ZERO).await?,
        swept.store(Duration::ZERO).await?,
    ];
    swept.records.begin(&named).await?;
    swept.publish_event_of(&named).await?;
    swept.publish_event_of(&newer).await?;
    // This upload looks old, because the clock of its service is wrong.
    let under_way = swept.store(400 * DAY).await?;
    let record = swept.records.begin(&under_way).await?;
    let all = [&named, &newer, &under_way];

    // An upload in progress does not notice a dry run.
    told(&["sweep", "--grace=0"], &swept.site.flags)?;
    let report = swept.sweep("--grace=60")?;
    assert_eq!((&report["underWay"], &report["expired"]), (&json!(2), &json!(0)));
    swept.publish_event_of(&under_way).await?;
    swept.records.end(&record).await?;
    assert_eq!(swept.sweep("--grace=60")?["expired"], 0);
    swept.ensure_left(&all, 1).await?;
    assert_eq!(swept.sweep("--grace=0")?["kept"], 1);
    swept.ensure_left(&all, 0).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resume_is_removed_after_its_event_has_expired() -> anyhow::Result<()> {
    let swept = Swept::start().await?;
    let (_expired, named) = (swept.store(366 * DAY).await?, swept.store(400 * DAY).await?);
    let younger = swept.store(364 * DAY).await?;
    swept.publish_event_of(&named).await?;

    let said = told(&["sweep", "--yes"], &swept.site.flags)?;
    assert_says(&said, &["removed: 1 whose event expired"]);
    swept.ensure_left(&[&named, &younger], 0).await
}
