//! The careers service over gRPC, on a real broker and a real S3 API.

mod scans;

use std::time::Duration;

use careers::{Service, Settings};
use clap::Parser;
use sha2::{Digest, Sha256};
use site_proto::careers::v1::{
    ApplyRequest, Commit, Field, FieldName, ResumeStart, apply_request::Part,
    careers_service_client::CareersServiceClient,
};
use site_service::{drain::CancellationToken, status};
use testkit::{Nats, S3, User, eventually, measure::pdf};
use tokio_util::sync::DropGuard;
use tonic::{Code, Status, transport::Channel};
use uuid::Uuid;

const MEGABYTE: usize = 1_000_000;
const CHUNK: usize = 64 * 1024;

struct Running {
    nats: Nats,
    s3: S3,
    careers: CareersServiceClient<Channel>,
    spool: tempfile::TempDir,
    _stop: DropGuard,
}

async fn running() -> anyhow::Result<Running> {
    running_with(&[]).await
}

/// Runs with these flags on top of the usual ones.
async fn running_with(more: &[String]) -> anyhow::Result<Running> {
    let (nats, s3) = (Nats::start().await?, S3::start().await?);
    let spool = tempfile::TempDir::new()?;
    let default_flags = [
        "careers".to_owned(),
        "--listen=127.0.0.1:0".to_owned(),
        "--person-key=a key for tests, of thirty-two bytes".to_owned(),
        format!("--spool-dir={}", spool.path().display()),
    ];
    let flags = default_flags
        .into_iter()
        .chain(nats.flags(User::Careers))
        .chain(s3.flags())
        .chain(more.iter().cloned());
    let service = Service::build(Settings::try_parse_from(flags)?).await?;
    let address = format!("http://127.0.0.1:{}", service.port());
    let stop = CancellationToken::new();
    tokio::spawn(service.run(stop.clone()));
    Ok(Running {
        nats,
        s3,
        careers: CareersServiceClient::connect(address).await?,
        spool,
        _stop: stop.drop_guard(),
    })
}

impl Running {
    async fn apply(&mut self, parts: Vec<Part>) -> Result<String, Status> {
        let parts = parts.into_iter().map(|part| ApplyRequest { part: Some(part) });
        let answer = self.careers.apply(tokio_stream::iter(parts)).await?;
        Ok(answer.into_inner().event_id)
    }

    /// Whatever was uploaded is gone again, and no event tells of it.
    async fn ensure_nothing_is_left(&self) -> anyhow::Result<()> {
        assert!(self.nats.events().await?.is_empty());
        eventually("the bucket is empty", Duration::from_secs(45), async || {
            self.s3.objects().ok()?.is_empty().then_some(())
        })
        .await?;
        self.ensure_spool_is_empty().await
    }

    async fn ensure_spool_is_empty(&self) -> anyhow::Result<()> {
        eventually("the spool is empty", Duration::from_secs(45), async || {
            std::fs::read_dir(self.spool.path())
                .ok()?
                .next()
                .is_none()
                .then_some(())
        })
        .await
    }
}

fn field(name: FieldName, value: &str) -> Part {
    Part::Field(Field {
        name: name.into(),
        value: value.into(),
    })
}

fn fields() -> Vec<Part> {
    vec![
        field(FieldName::Name, "Zoë Müller"),
        field(FieldName::Email, "zoe@example.org"),
        field(FieldName::Position, "Backend Intern"),
        field(FieldName::CoverLetter, "I would like to."),
    ]
}

fn resume(file_name: &str, content: &[u8]) -> Vec<Part> {
    let start = Part::ResumeStart(ResumeStart {
        file_name: file_name.into(),
    });
    let chunks = content
        .chunks(CHUNK)
        .map(|chunk| Part::ResumeChunk(chunk.to_vec().into()));
    std::iter::once(start).chain(chunks).collect()
}

fn commit(key: Uuid) -> Vec<Part> {
    vec![Part::Commit(Commit {
        idempotency_key: key.to_string(),
    })]
}

fn application(content: &[u8], key: Uuid) -> Vec<Part> {
    [resume("Résumé (final).pdf", content), fields(), commit(key)].concat()
}

#[tokio::test]
async fn a_resume_is_stored_byte_for_byte_before_the_answer() -> anyhow::Result<()> {
    let mut running = running().await?;
    let file = pdf(5 * MEGABYTE);
    let id = running.apply(application(&file, Uuid::new_v4())).await?;
    let events = running.nats.events().await?;
    let objects = running.s3.objects()?;
    let ([event], [(key, stored)]) = (&events[..], &objects[..]) else {
        anyhow::bail!(
            "one event and one object, not {} and {}",
            events.len(),
            objects.len()
        );
    };
    assert_eq!(event["id"], id);
    assert_eq!(event["type"], "site.careers.applied.v1");
    let told = &event["data"]["resume"];
    assert_eq!(told["key"], key.as_str());
    assert_eq!(told["size"], file.len());
    assert_eq!(told["contentType"], "application/pdf");
    assert_eq!(told["sha256"], hex(&Sha256::digest(&file)));
    assert!(*stored == file, "other bytes were stored");
    let person = event["subject"].as_str().unwrap_or_default();
    assert!(key.starts_with(&format!("resumes/{person}/")), "{key}");
    Ok(())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[tokio::test]
async fn an_application_needs_no_resume() -> anyhow::Result<()> {
    let mut running = running().await?;
    running.apply([fields(), commit(Uuid::new_v4())].concat()).await?;
    let events = running.nats.events().await?;
    assert!(events[0]["data"]["resume"].is_null(), "{events:?}");
    Ok(())
}

#[tokio::test]
async fn a_stream_that_ends_without_the_commit_leaves_nothing_behind() -> anyhow::Result<()> {
    let mut running = running().await?;
    let cut = [fields(), resume("cv.pdf", &pdf(MEGABYTE))].concat();
    let refused = running.apply(cut).await;
    assert!(refused.is_err());
    running.ensure_nothing_is_left().await
}

#[tokio::test]
async fn a_caller_that_goes_away_leaves_nothing_behind() -> anyhow::Result<()> {
    let mut running = running().await?;
    let parts = [fields(), resume("cv.pdf", &pdf(MEGABYTE))].concat();
    let parts = parts.into_iter().map(|part| ApplyRequest { part: Some(part) });
    // The stream stays open behind its last part, as on a line that went dead.
    let hanging = futures_util::StreamExt::chain(tokio_stream::iter(parts), tokio_stream::pending());
    let spool = running.spool.path();
    tokio::select! {
        answer = running.careers.apply(hanging) => anyhow::bail!("it is answered: {answer:?}"),
        arrived = eventually("some of the résumé arrives", Duration::from_secs(45), async || {
            let file = std::fs::read_dir(spool).ok()?.next()?.ok()?;
            (file.metadata().ok()?.len() > 0).then_some(())
        }) => arrived?,
    }
    running.ensure_nothing_is_left().await
}

#[tokio::test]
async fn a_caller_that_goes_away_during_the_publish_does_not_part_the_event_from_its_resume()
-> anyhow::Result<()> {
    let running = running().await?;
    running.nats.freeze().await?;
    let parts = application(&pdf(MEGABYTE), Uuid::new_v4());
    let parts = parts.into_iter().map(|part| ApplyRequest { part: Some(part) });
    let mut careers = running.careers.clone();
    tokio::select! {
        answer = careers.apply(tokio_stream::iter(parts)) => anyhow::bail!("it is answered: {answer:?}"),
        stored = eventually("the résumé is stored", Duration::from_secs(45), async || {
            (!running.s3.objects().ok()?.is_empty()).then_some(())
        }) => stored?,
    }
    running.nats.thaw()?;
    running.ensure_spool_is_empty().await?;
    let events = eventually("the event is stored", Duration::from_secs(45), async || {
        running
            .nats
            .events()
            .await
            .ok()
            .filter(|events| !events.is_empty())
    })
    .await?;
    let objects = running.s3.objects()?;
    let keys: Vec<&str> = objects.iter().map(|(key, _)| key.as_str()).collect();
    assert_eq!(
        keys,
        [events[0]["data"]["resume"]["key"].as_str().unwrap_or_default()]
    );
    Ok(())
}

#[tokio::test]
async fn more_than_ten_mebibytes_are_too_large() -> anyhow::Result<()> {
    let mut running = running().await?;
    let largest = 10 * 1024 * 1024;
    let refused = running
        .apply(application(&pdf(largest + 1), Uuid::new_v4()))
        .await;
    assert_eq!(refused.map_err(|status| status.code()), Err(Code::OutOfRange));
    running.ensure_nothing_is_left().await?;
    running.apply(application(&pdf(largest), Uuid::new_v4())).await?;
    Ok(())
}

#[tokio::test]
async fn a_file_is_judged_by_its_content_and_all_mistakes_are_named_at_once() -> anyhow::Result<()> {
    let mut running = running().await?;
    let wrong = [
        resume("cv.pdf", b"MZ this is a program"),
        vec![field(FieldName::Email, "zoe")],
        commit(Uuid::new_v4()),
    ];
    let refused = running.apply(wrong.concat()).await.expect_err("much is wrong");
    let violations = status::violations(&refused);
    let names: Vec<&String> = violations.keys().collect();
    assert_eq!(names, ["coverLetter", "email", "name", "position", "resume"]);
    running.ensure_nothing_is_left().await
}

#[tokio::test]
async fn a_repeated_submission_has_one_event_and_one_object() -> anyhow::Result<()> {
    let mut running = running().await?;
    let (file, key) = (pdf(MEGABYTE), Uuid::new_v4());
    let first = running.apply(application(&file, key)).await?;
    let second = running.apply(application(&file, key)).await?;
    assert_eq!(first, second);
    assert_eq!(running.nats.events().await?.len(), 1);
    let stored = running.nats.events().await?[0]["data"]["resume"]["key"].clone();
    eventually(
        "the second object is removed",
        Duration::from_secs(45),
        async || {
            let objects = running.s3.objects().ok()?;
            (objects.len() == 1 && stored == objects[0].0.as_str()).then_some(())
        },
    )
    .await
}

#[tokio::test]
async fn while_the_store_is_away_nothing_is_accepted_and_afterwards_all_is_well() -> anyhow::Result<()> {
    let mut running = running().await?;
    running.s3.stop().await?;
    let refused = running.apply(application(&pdf(MEGABYTE), Uuid::new_v4())).await;
    assert_eq!(refused.map_err(|status| status.code()), Err(Code::Unavailable));
    running.s3.resume_from_disk().await?;
    running.ensure_nothing_is_left().await?;
    running.apply(application(&pdf(MEGABYTE), Uuid::new_v4())).await?;
    assert_eq!(running.s3.objects()?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn while_the_broker_is_away_no_object_stays_without_its_event() -> anyhow::Result<()> {
    let mut running = running().await?;
    running.nats.stop().await?;
    let refused = running.apply(application(&pdf(MEGABYTE), Uuid::new_v4())).await;
    assert_eq!(refused.map_err(|status| status.code()), Err(Code::Unavailable));
    running.nats.resume_from_disk().await?;
    running.ensure_nothing_is_left().await
}
