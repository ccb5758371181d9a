//! Résumés whose event may or may not be stored, and résumés that a sweep removes before their event is stored.

use std::{collections::BTreeSet, time::Duration};

use resumes::{ResumeStore, UploadRecords};
use site_proto::careers::v1::ApplyRequest;
use site_service::nats;
use testkit::{S3Fault, User, eventually, measure::pdf};
use tokio::task::JoinHandle;
use tonic::{Code, Status};
use uuid::Uuid;

use crate::{MEGABYTE, Running, SOON, application, running};

/// Longer than the timeout of the first ack, so that the event is sent again. Shorter than the publish's timeout.
const SENT_TWICE: Duration = Duration::from_secs(3);

impl Running {
    async fn resumes_are_stored(&self, count: usize) -> anyhow::Result<()> {
        eventually("résumés are stored", SOON, async || {
            (self.s3.objects().ok()?.len() == count).then_some(())
        })
        .await
    }

    fn applying(&self, file: &[u8], key: Uuid) -> JoinHandle<Result<(), Status>> {
        let mut careers = self.careers.clone();
        let parts = application(file, key).into_iter();
        let parts = tokio_stream::iter(parts.map(|part| ApplyRequest { part: Some(part) }));
        tokio::spawn(async move { careers.apply(parts).await.map(drop) })
    }
}

#[tokio::test]
async fn an_event_published_twice_keeps_its_resume() -> anyhow::Result<()> {
    const APPLICATIONS: usize = 8;
    let running = running().await?;
    running.s3.fault(S3Fault::HoldAnswers);
    let file = pdf(10_000);
    let applying: Vec<_> = (0..APPLICATIONS)
        .map(|_| running.applying(&file, Uuid::new_v4()))
        .collect();
    running.resumes_are_stored(APPLICATIONS).await?;
    running.nats.servers[0].freeze().await?;
    running.s3.fault(S3Fault::None);
    tokio::time::sleep(SENT_TWICE).await;
    running.nats.servers[0].thaw()?;
    let mut answers = Vec::new();
    for applying in applying {
        answers.push(applying.await?);
    }
    let objects = running.s3.objects()?;
    let keys: BTreeSet<&str> = objects.iter().map(|(key, _)| key.as_str()).collect();
    let events = running.nats.events().await?;
    for event in &events {
        let key = event["data"]["resume"]["key"].as_str().unwrap_or_default();
        assert!(keys.contains(key), "{key} is lost: {answers:?}");
    }
    Ok(())
}

#[tokio::test]
async fn an_unacknowledged_event_leaves_its_resume_to_the_sweep() -> anyhow::Result<()> {
    let mut running = running().await?;
    running.s3.fault(S3Fault::HoldAnswers);
    let applying = running.applying(&pdf(MEGABYTE), Uuid::new_v4());
    running.resumes_are_stored(1).await?;
    running.nats.servers[0].freeze().await?;
    running.s3.fault(S3Fault::None);
    let refused = applying.await?;
    running.nats.servers[0].thaw()?;
    assert_eq!(refused.map_err(|status| status.code()), Err(Code::Unavailable));
    let objects = running.s3.objects()?;
    assert_eq!(objects.len(), 1, "it was removed, and its event may be stored");
    let records = running.nats.upload_records().await?;
    assert_eq!(records, [objects[0].0.as_str()], "no sweep would find it");
    // After it is thawed, the broker serves new applications.
    running.apply(application(&pdf(MEGABYTE), Uuid::new_v4())).await?;
    Ok(())
}

#[tokio::test]
async fn a_resume_swept_before_its_event_is_stored_again() -> anyhow::Result<()> {
    is_stored_again_after(Sweep::Ends).await?;
    is_stored_again_after(Sweep::Dies).await
}

#[derive(PartialEq)]
enum Sweep {
    Ends,
    Dies,
}

async fn is_stored_again_after(sweep: Sweep) -> anyhow::Result<()> {
    let running = running().await?;
    running.s3.fault(S3Fault::HoldAnswers);
    let file = pdf(MEGABYTE);
    let applying = running.applying(&file, Uuid::new_v4());
    running.resumes_are_stored(1).await?;

    // Acts as a sweep that considers the upload abandoned.
    let context = nats::jetstream(running.nats.client(User::Operator).await?);
    let records = UploadRecords::open(&context).await?;
    let stored = context.get_stream("KV_uploads").await?.get_raw_message(1).await?;
    let record = records.record_of(&stored).expect("the upload's record");
    let claimed = records.claim(&record).await?;
    let store = ResumeStore::new(&running.s3.settings()?);
    let deleting = tokio::spawn(async move { store.delete(&claimed.key).await.map(|()| claimed) });
    eventually("it is swept", SOON, async || {
        running.s3.objects().ok()?.is_empty().then_some(())
    })
    .await?;
    running.s3.fault(S3Fault::None);
    let claimed = deleting.await??;
    if sweep == Sweep::Ends {
        records.end(&claimed).await?;
    }

    applying.await??;
    let (events, objects) = (running.nats.events().await?, running.s3.objects()?);
    let [(key, content)] = &objects[..] else {
        anyhow::bail!("one object, not {}", objects.len());
    };
    assert_eq!(events[0]["data"]["resume"]["key"], key.as_str());
    assert!(*content == file, "other bytes were stored");
    Ok(())
}
