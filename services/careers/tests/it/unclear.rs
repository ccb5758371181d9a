//! What becomes of a résumé where it is not clear whether its event is stored, or a sweep came between.

use std::time::Duration;

use resumes::{ResumeStore, UploadRecords};
use site_service::nats;
use testkit::{S3Fault, User, eventually, measure::pdf};
use tonic::Code;
use uuid::Uuid;

use crate::{MEGABYTE, Running, application, running};

const SOON: Duration = Duration::from_secs(45);

impl Running {
    async fn resume_is_stored(&self) -> anyhow::Result<()> {
        eventually("a résumé is stored", SOON, async || {
            (!self.s3.objects().ok()?.is_empty()).then_some(())
        })
        .await
    }
}

#[tokio::test]
async fn where_the_event_is_not_acknowledged_the_resume_and_its_record_are_left_to_the_sweep()
-> anyhow::Result<()> {
    let mut running = running().await?;
    running.s3.fault(S3Fault::HoldAnswers);
    let mut careers = running.careers.clone();
    let parts = application(&pdf(MEGABYTE), Uuid::new_v4());
    let parts = parts
        .into_iter()
        .map(|part| site_proto::careers::v1::ApplyRequest { part: Some(part) });
    let applying = tokio::spawn(async move { careers.apply(tokio_stream::iter(parts)).await.map(drop) });
    running.resume_is_stored().await?;
    running.nats.freeze().await?;
    running.s3.fault(S3Fault::None);
    let refused = applying.await?;
    running.nats.thaw()?;
    assert_eq!(refused.map_err(|status| status.code()), Err(Code::Unavailable));
    let objects = running.s3.objects()?;
    assert_eq!(objects.len(), 1, "it was removed, and its event may be stored");
    let records = running.nats.messages("KV_uploads").await?;
    let keys: Vec<_> = records.iter().map(|record| record.payload.to_vec()).collect();
    assert_eq!(keys, [objects[0].0.as_bytes()], "no sweep would find it");
    // The broker goes on where it stood.
    running.apply(application(&pdf(MEGABYTE), Uuid::new_v4())).await?;
    Ok(())
}

#[tokio::test]
async fn a_resume_that_was_swept_before_its_event_was_stored_is_stored_again() -> anyhow::Result<()> {
    is_stored_again_after(Sweep::Ends).await
}

#[tokio::test]
async fn a_resume_is_stored_again_where_its_sweep_died_after_it_had_removed_it() -> anyhow::Result<()> {
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
    let mut applicant = running.careers.clone();
    let file = pdf(MEGABYTE);
    let parts = application(&file, Uuid::new_v4());
    let parts = parts
        .into_iter()
        .map(|part| site_proto::careers::v1::ApplyRequest { part: Some(part) });
    let applying = tokio::spawn(async move { applicant.apply(tokio_stream::iter(parts)).await.map(drop) });
    running.resume_is_stored().await?;

    // As a sweep does that takes it for one that was cut off.
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
