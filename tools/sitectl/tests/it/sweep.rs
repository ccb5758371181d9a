//! `sitectl sweep`.

use std::{fs, time::Duration};

use async_nats::jetstream;
use resumes::{ResumeKey, ResumeStore, UploadRecords};
use serde_json::{Value, json};
use site_broker::{RecordError, SUBSCRIBERS_BUCKET};
use site_events::event::{CareersApplied, Scan, StoredResume};
use testkit::{Nats, S3, User};
use time::{OffsetDateTime, format_description::well_known::Rfc3339};
use uuid::{NoContext, Timestamp, Uuid};
use visitor::{EmailAddress, PersonId};

use crate::tool::{message, person, publish, publish_of, told, told_json};

const EMAIL: &str = "asha@example.com";
const DAY: Duration = Duration::from_secs(24 * 60 * 60);

struct Site {
    nats: Nats,
    s3: S3,
    records: UploadRecords,
}

impl Site {
    async fn start() -> anyhow::Result<Self> {
        let (nats, s3) = (Nats::start().await?, S3::start().await?);
        let context = jetstream::new(nats.client(User::Operator).await?);
        let records = UploadRecords::open(&context).await?;
        Ok(Self { nats, s3, records })
    }

    fn flags(&self) -> Vec<String> {
        [self.nats.flags(User::Operator), self.s3.flags()].concat()
    }

    async fn store(&self, age: Duration) -> anyhow::Result<ResumeKey> {
        let key = key_of(age)?;
        let folder = tempfile::tempdir()?;
        let file = folder.path().join("cv.pdf");
        fs::write(&file, "%PDF-1.7")?;
        let store = ResumeStore::new(&self.s3.settings()?);
        store.put(&key, &file, "application/pdf").await?;
        Ok(key)
    }

    async fn publish_event_of(&self, key: &ResumeKey) -> anyhow::Result<()> {
        let applied = CareersApplied {
            name: "Asha Rao".to_owned(),
            email: EmailAddress::parse(EMAIL)?,
            phone: None,
            position: "AI Intern".to_owned(),
            experience: None,
            cover_letter: "I would like to.".to_owned(),
            resume: Some(StoredResume {
                key: key.to_string(),
                file_name: "cv.pdf".to_owned(),
                content_type: "application/pdf".to_owned(),
                size_bytes: 8,
                sha256: String::new(),
                scan: Scan::NotScanned,
                active_content: Vec::new(),
            }),
            attribution: None,
        };
        publish(&self.nats, EMAIL, applied).await.map(drop)
    }

    fn keys(&self) -> anyhow::Result<Vec<String>> {
        Ok(self.s3.objects()?.into_iter().map(|(key, _)| key).collect())
    }

    async fn records_left(&self) -> anyhow::Result<usize> {
        let messages = self.nats.messages("KV_uploads").await?;
        Ok(messages
            .iter()
            .filter(|message| !message.payload.is_empty())
            .count())
    }

    fn sweep(&self, grace: &str) -> anyhow::Result<Value> {
        let mut said = told_json(&["sweep", grace, "--yes"], &self.flags())?;
        Ok(said["swept"].take())
    }
}

fn key_of(age: Duration) -> anyhow::Result<ResumeKey> {
    let uploaded = u64::try_from((OffsetDateTime::now_utc() - age).unix_timestamp())?;
    let attempt = Uuid::new_v7(Timestamp::from_unix(NoContext, uploaded, 0));
    Ok(ResumeKey::new(&person(EMAIL)?, attempt))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_was_cut_off_leaves_nothing_once_it_is_swept() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let orphan = site.store(Duration::ZERO).await?;
    site.records.begin(&orphan).await?;

    assert_eq!(
        site.sweep("--grace=60")?,
        json!({ "orphans": 0, "expired": 0, "kept": 0, "underWay": 1, "addresses": 0, "synthetic": 0 })
    );
    assert_eq!(
        (site.keys()?, site.records_left().await?),
        (vec![orphan.to_string()], 1)
    );

    assert_eq!(
        site.sweep("--grace=0")?,
        json!({ "orphans": 1, "expired": 0, "kept": 0, "underWay": 0, "addresses": 0, "synthetic": 0 })
    );
    assert_eq!((site.keys()?, site.records_left().await?), (Vec::new(), 0));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sweep_that_is_not_told_to_removes_nothing_and_says_what_it_would() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let (orphan, expired) = (site.store(Duration::ZERO).await?, site.store(366 * DAY).await?);
    let record = site.records.begin(&orphan).await?;
    let form = message("Synthetic check", "check@example.com")?;
    publish_of(&site.nats, &PersonId::synthetic(), form).await?;
    let context = jetstream::new(site.nats.client(User::Operator).await?);
    let bucket = context.get_key_value(SUBSCRIBERS_BUCKET).await?;
    let long_ago = (OffsetDateTime::now_utc() - 40 * DAY).format(&Rfc3339)?;
    let left = json!({
        "email": EMAIL, "subscription": Uuid::new_v4(), "requested": long_ago, "state": "unsubscribed", "since": long_ago,
    });
    bucket
        .put(person(EMAIL)?.as_str(), left.to_string().into())
        .await?;

    let would =
        json!({ "orphans": 1, "expired": 1, "kept": 0, "underWay": 0, "addresses": 1, "synthetic": 1 });
    let said = told_json(&["sweep", "--grace=0"], &site.flags())?;
    assert_eq!(said, json!({ "wouldSweep": would }));
    let said = told(&["sweep", "--grace=0"], &site.flags())?;
    assert!(
        said.contains("would be removed: 1 whose event expired") && said.contains("repeat it with --yes"),
        "{said}"
    );
    let mut keys = vec![orphan.to_string(), expired.to_string()];
    keys.sort();
    assert_eq!(site.keys()?, keys);
    let kept = bucket.get(person(EMAIL)?.as_str()).await?;
    assert!(String::from_utf8_lossy(&kept.unwrap_or_default()).contains(EMAIL));
    assert_eq!(site.nats.events().await?.len(), 1);
    assert_eq!(site.sweep("--grace=0")?, would);
    assert!(!site.records.is_provisional(&record.key).await?);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_does_not_notice_who_only_looked() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let record = site.records.begin(&site.store(Duration::ZERO).await?).await?;
    told(&["sweep", "--grace=0"], &site.flags())?;
    site.records.end(&record).await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resume_that_an_event_names_stays_whatever_its_record_says() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let [named, newer] = [
        site.store(Duration::ZERO).await?,
        site.store(Duration::ZERO).await?,
    ];
    site.records.begin(&named).await?;
    site.publish_event_of(&named).await?;
    site.publish_event_of(&newer).await?;

    assert_eq!(site.sweep("--grace=0")?["kept"], 1);
    let mut keys = vec![named.to_string(), newer.to_string()];
    keys.sort();
    assert_eq!((site.keys()?, site.records_left().await?), (keys, 0));
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resume_goes_when_its_event_has_expired_and_not_before() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let (_expired, named) = (site.store(366 * DAY).await?, site.store(400 * DAY).await?);
    let younger = site.store(364 * DAY).await?;
    site.publish_event_of(&named).await?;

    let said = told(&["sweep", "--yes"], &site.flags())?;
    assert!(said.contains("removed: 1 whose event expired"), "{said}");
    let mut keys = vec![named.to_string(), younger.to_string()];
    keys.sort();
    assert_eq!(site.keys()?, keys);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_under_way_stays_whatever_the_clock_said_that_named_it() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let under_way = site.store(400 * DAY).await?;
    let record = site.records.begin(&under_way).await?;

    assert_eq!(
        site.sweep("--grace=60")?,
        json!({ "orphans": 0, "expired": 0, "kept": 0, "underWay": 1, "addresses": 0, "synthetic": 0 })
    );
    site.publish_event_of(&under_way).await?;
    site.records.end(&record).await?;
    assert_eq!(site.sweep("--grace=60")?["expired"], 0);
    assert_eq!(site.keys()?, [under_way.to_string()]);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_upload_that_goes_on_after_its_sweep_hears_of_it() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let record = site.records.begin(&site.store(Duration::ZERO).await?).await?;
    site.sweep("--grace=0")?;
    let ended = site.records.end(&record).await;
    assert!(matches!(ended, Err(RecordError::Conflict)), "{ended:?}");
    assert!(!site.records.is_provisional(&record.key).await?);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_addresses_of_people_who_left_are_removed_and_they_stay_known() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let context = jetstream::new(site.nats.client(User::Operator).await?);
    let bucket = context.get_key_value(SUBSCRIBERS_BUCKET).await?;
    let ago = |age: Duration| (OffsetDateTime::now_utc() - age).format(&Rfc3339);
    let (long_ago, now) = (ago(40 * DAY)?, ago(Duration::ZERO)?);
    for (email, more) in [
        (
            "left@example.com",
            json!({ "state": "unsubscribed", "since": long_ago }),
        ),
        (
            "leaves@example.com",
            json!({ "state": "unsubscribed", "since": now }),
        ),
        (
            "typed@example.com",
            json!({ "state": "pending", "mailed": long_ago, "ended": long_ago }),
        ),
        (
            "stays@example.com",
            json!({ "state": "confirmed", "since": long_ago }),
        ),
    ] {
        let mut record = json!({ "email": email, "subscription": Uuid::new_v4(), "requested": long_ago });
        for (name, value) in more.as_object().into_iter().flatten() {
            record[name] = value.clone();
        }
        bucket
            .put(person(email)?.as_str(), record.to_string().into())
            .await?;
    }
    bucket
        .put(person(EMAIL)?.as_str(), "no subscriber's".into())
        .await?;

    assert_eq!(site.sweep("--grace=60")?["addresses"], 2);
    for (email, state, is_kept) in [
        ("left@example.com", "unsubscribed", false),
        ("leaves@example.com", "unsubscribed", true),
        ("typed@example.com", "unsubscribed", false),
        ("stays@example.com", "confirmed", true),
    ] {
        let record = bucket.get(person(email)?.as_str()).await?.unwrap_or_default();
        let record: Value = serde_json::from_slice(&record)?;
        assert_eq!(record["state"], state, "{record}");
        assert_eq!(record.to_string().contains(email), is_kept, "{record}");
    }
    assert_eq!(site.sweep("--grace=60")?["addresses"], 0);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_event_of_a_check_goes_after_the_grace_period_and_no_other() -> anyhow::Result<()> {
    let site = Site::start().await?;
    let visitors = publish(&site.nats, EMAIL, message("Asha Rao", EMAIL)?).await?;
    let form = message("Synthetic check", "check@example.com")?;
    publish_of(&site.nats, &PersonId::synthetic(), form).await?;

    assert_eq!(site.sweep("--grace=60")?["synthetic"], 0);
    assert_eq!(site.nats.events().await?.len(), 2);
    assert_eq!(site.sweep("--grace=0")?["synthetic"], 1);
    let left: Vec<Value> = site
        .nats
        .events()
        .await?
        .iter()
        .map(|event| event["id"].clone())
        .collect();
    assert_eq!(left, [visitors.to_string()]);
    Ok(())
}
