//! The careers service over gRPC, with a real broker and a real S3 API.

mod clamd;
mod resumes;
mod scans;
mod stopping;
mod unclear;

use std::{fs, path::Path, time::Duration};

use careers::{Service, Settings};
use clap::Parser;
use sha2::{Digest, Sha256};
use site_proto::careers::v1::{
    ApplicationForm, ApplyRequest, Commit, ResumeStart, apply_request::Part,
    careers_service_client::CareersServiceClient,
};
use site_service::{drain::CancellationToken, status};
use tempfile::TempDir;
use testkit::{
    ChildProcess, Nats, PERSON_KEY, S3, S3Fault, User, eventually, free_ports,
    measure::{open_files, pdf},
    pass_flags,
};
use tokio_util::sync::DropGuard;
use tonic::{Code, Status, transport::Channel};
use uuid::Uuid;
use visitor::PersonKey;

const SOON: Duration = Duration::from_secs(45);
const MEGABYTE: usize = 1_000_000;
const CHUNK: usize = 64 * 1024;

struct Running {
    nats: Nats,
    s3: S3,
    careers: CareersServiceClient<Channel>,
    spool: TempDir,
    _stop: DropGuard,
}

async fn running() -> anyhow::Result<Running> {
    running_with(&[]).await
}

fn default_flags(nats: &Nats, s3: &S3, spool: &Path, port: u16) -> Vec<String> {
    let flags = [
        format!("--listen=127.0.0.1:{port}"),
        format!("--person-key={PERSON_KEY}"),
        format!("--spool-dir={}", spool.display()),
    ];
    [flags.to_vec(), nats.flags(User::Careers), s3.flags()].concat()
}

fn settings(flags: Vec<String>) -> anyhow::Result<Settings> {
    Ok(Settings::try_parse_from(
        [vec!["careers".to_owned()], flags].concat(),
    )?)
}

async fn running_with(more: &[String]) -> anyhow::Result<Running> {
    let (nats, s3, spool) = (Nats::start().await?, S3::start().await?, TempDir::new()?);
    let flags = default_flags(&nats, &s3, spool.path(), 0);
    let service = Service::build(settings([&flags[..], more].concat())?).await?;
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

/// The service in its own process.
struct Process {
    careers: ChildProcess,
    port: u16,
    _logs: TempDir,
}

async fn running_process(more: &[&str]) -> anyhow::Result<(Running, Process)> {
    let (nats, s3, spool) = (Nats::start().await?, S3::start().await?, TempDir::new()?);
    let (logs, [port]) = (TempDir::new()?, free_ports()?);
    let mut command = tokio::process::Command::new(env!("CARGO_BIN_EXE_careers"));
    pass_flags(
        command.as_std_mut(),
        &default_flags(&nats, &s3, spool.path(), port),
    );
    command.args(more);
    let mut careers = ChildProcess::start("careers", logs.path(), command)?;
    careers.listens(port, SOON).await?;
    let running = Running {
        careers: CareersServiceClient::connect(format!("http://127.0.0.1:{port}")).await?,
        nats,
        s3,
        spool,
        _stop: CancellationToken::new().drop_guard(),
    };
    let process = Process {
        careers,
        port,
        _logs: logs,
    };
    Ok((running, process))
}

impl Running {
    async fn apply(&mut self, parts: Vec<Part>) -> Result<String, Status> {
        let parts = parts.into_iter().map(|part| ApplyRequest { part: Some(part) });
        let answer = self.careers.apply(tokio_stream::iter(parts)).await?;
        Ok(answer.into_inner().event_id)
    }

    async fn refusal_of(&mut self, parts: Vec<Part>) -> Option<Code> {
        self.apply(parts).await.err().map(|status| status.code())
    }

    async fn ensure_nothing_is_left(&self) -> anyhow::Result<()> {
        assert!(self.nats.events().await?.is_empty());
        eventually("the bucket is empty", SOON, async || {
            self.s3.objects().ok()?.is_empty().then_some(())
        })
        .await?;
        self.ensure_spool_is_empty().await
    }

    async fn ensure_no_record_is_left(&self) -> anyhow::Result<()> {
        let records = self.nats.upload_records().await?;
        assert!(records.is_empty(), "{records:?}");
        Ok(())
    }

    /// Sends an application, and cancels the call once the résumé is stored.
    async fn apply_until_stored(&self) -> anyhow::Result<()> {
        let parts = application(&pdf(MEGABYTE), Uuid::new_v4());
        let parts = parts.into_iter().map(|part| ApplyRequest { part: Some(part) });
        let mut careers = self.careers.clone();
        tokio::select! {
            answer = careers.apply(tokio_stream::iter(parts)) => anyhow::bail!("it is answered: {answer:?}"),
            stored = eventually("a résumé is stored", SOON, async || {
                (!self.s3.objects().ok()?.is_empty()).then_some(())
            }) => stored,
        }
    }

    async fn ensure_spool_is_empty(&self) -> anyhow::Result<()> {
        eventually("the spool is empty", SOON, async || {
            let has_files = fs::read_dir(self.spool.path()).ok()?.next().is_some();
            (!has_files && open_files(self.spool.path()).is_empty()).then_some(())
        })
        .await
    }
}

fn form() -> ApplicationForm {
    ApplicationForm {
        name: "Zoë Müller".into(),
        email: "zoe@example.org".into(),
        position: "Backend Intern".into(),
        cover_letter: "I would like to.".into(),
        ..ApplicationForm::default()
    }
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

fn commit_of(form: ApplicationForm, key: Uuid) -> Vec<Part> {
    vec![Part::Commit(Commit {
        form: Some(form),
        idempotency_key: key.to_string(),
    })]
}

fn commit(key: Uuid) -> Vec<Part> {
    commit_of(form(), key)
}

fn application(content: &[u8], key: Uuid) -> Vec<Part> {
    [resume("Résumé (final).pdf", content), commit(key)].concat()
}

#[tokio::test]
async fn a_resume_is_stored_byte_for_byte_before_the_answer() -> anyhow::Result<()> {
    let mut running = running().await?;
    let file = pdf(5 * MEGABYTE);
    let id = running.apply(application(&file, Uuid::new_v4())).await?;
    let events = running.nats.events().await?;
    let objects = running.s3.objects()?;
    let ([event], [(key, stored)]) = (&events[..], &objects[..]) else {
        anyhow::bail!("not one event and one object: {events:?}");
    };
    assert_eq!(event["id"], id);
    assert_eq!(event["type"], "site.careers.applied.v1");
    let told = &event["data"]["resume"];
    assert_eq!(told["key"], key.as_str());
    assert_eq!(told["size"], file.len());
    assert_eq!(told["contentType"], "application/pdf");
    let sha256 = base16ct::lower::encode_string(&Sha256::digest(&file));
    assert_eq!(told["sha256"], sha256);
    assert!(*stored == file, "other bytes were stored");
    let person = event["subject"].as_str().unwrap_or_default();
    assert!(key.starts_with(&format!("resumes/{person}/")), "{key}");
    running.ensure_no_record_is_left().await
}

#[tokio::test]
async fn an_application_needs_no_resume_and_then_no_scanner() -> anyhow::Result<()> {
    // Nothing listens on port 9, "discard" (RFC 863).
    let mut running = running_with(&["--clamd=127.0.0.1:9".to_owned()]).await?;
    running.apply(commit(Uuid::new_v4())).await?;
    let events = running.nats.events().await?;
    assert!(events[0]["data"]["resume"].is_null(), "{events:?}");
    Ok(())
}

#[tokio::test]
async fn a_different_person_key_fails_the_start() -> anyhow::Result<()> {
    let (nats, s3, spool) = (Nats::start().await?, S3::start().await?, TempDir::new()?);
    let mut settings = settings(default_flags(&nats, &s3, spool.path(), 0))?;
    settings.person.person_key = PersonKey::new("another key for tests, of thirty-two bytes")?;
    let refused = Service::build(settings).await.err();
    assert_eq!(
        refused.map(|error| error.to_string()).as_deref(),
        Some("The setting PERSON_KEY is wrong: this installation was set up with another key.")
    );
    Ok(())
}

#[tokio::test]
async fn a_stream_that_ends_without_the_commit_leaves_nothing_behind() -> anyhow::Result<()> {
    let mut running = running().await?;
    let cut = resume("cv.pdf", &pdf(MEGABYTE));
    let refused = running.apply(cut).await;
    assert!(refused.is_err());
    running.ensure_nothing_is_left().await
}

#[tokio::test]
async fn a_caller_that_disconnects_leaves_nothing_behind() -> anyhow::Result<()> {
    let mut running = running().await?;
    let parts = resume("cv.pdf", &pdf(MEGABYTE));
    let parts = parts.into_iter().map(|part| ApplyRequest { part: Some(part) });
    // The stream stays open after its last part, as on a dead connection.
    let hanging = futures_util::StreamExt::chain(tokio_stream::iter(parts), tokio_stream::pending());
    let spool = running.spool.path();
    tokio::select! {
        answer = running.careers.apply(hanging) => anyhow::bail!("it is answered: {answer:?}"),
        arrived = eventually("some of the résumé arrives", SOON, async || {
            let file = open_files(spool).pop()?;
            (fs::metadata(file).ok()?.len() > 0).then_some(())
        }) => arrived?,
    }
    running.ensure_nothing_is_left().await
}

#[tokio::test]
async fn a_disconnect_during_the_publish_keeps_event_and_resume_together() -> anyhow::Result<()> {
    let running = running().await?;
    running.s3.fault(S3Fault::HoldAnswers);
    running.apply_until_stored().await?;
    running.nats.servers[0].freeze().await?;
    running.s3.fault(S3Fault::None);
    running.nats.servers[0].thaw()?;
    running.ensure_spool_is_empty().await?;
    let event = eventually("the event is stored", SOON, async || {
        running.nats.events().await.ok()?.pop()
    })
    .await?;
    let objects = running.s3.objects()?;
    let keys: Vec<&str> = objects.iter().map(|(key, _)| key.as_str()).collect();
    let named = event["data"]["resume"]["key"].as_str().unwrap_or_default();
    assert_eq!(keys, [named]);
    Ok(())
}

#[tokio::test]
async fn a_kill_during_an_upload_leaves_only_its_record() -> anyhow::Result<()> {
    let (running, process) = running_process(&[]).await?;
    running.s3.fault(S3Fault::HoldAnswers);
    running.apply_until_stored().await?;
    process.careers.kill().await?;
    running.s3.fault(S3Fault::None);
    let records = running.nats.upload_records().await?;
    assert_eq!(records, [running.s3.objects()?.remove(0).0]);
    running.ensure_spool_is_empty().await
}

#[tokio::test]
async fn more_than_ten_mebibytes_are_too_large() -> anyhow::Result<()> {
    let mut running = running().await?;
    let largest = 10 * 1024 * 1024;
    let too_large = application(&pdf(largest + 1), Uuid::new_v4());
    assert_eq!(running.refusal_of(too_large).await, Some(Code::OutOfRange));
    running.ensure_nothing_is_left().await?;
    running.apply(application(&pdf(largest), Uuid::new_v4())).await?;
    Ok(())
}

#[tokio::test]
async fn all_violations_of_an_application_are_named_at_once() -> anyhow::Result<()> {
    let mut running = running().await?;
    let form = ApplicationForm {
        email: "zoe".into(),
        ..ApplicationForm::default()
    };
    let wrong = [
        resume("cv.pdf", b"MZ this is a program"),
        commit_of(form, Uuid::new_v4()),
    ];
    let refused = running.apply(wrong.concat()).await.expect_err("much is wrong");
    let violations = status::violations(&refused);
    let names: Vec<&String> = violations.keys().collect();
    assert_eq!(names, ["coverLetter", "email", "name", "position", "resume"]);
    running.ensure_nothing_is_left().await
}

#[tokio::test]
async fn a_duplicate_application_leaves_its_resume_to_the_sweep() -> anyhow::Result<()> {
    let mut running = running().await?;
    let (file, key) = (pdf(MEGABYTE), Uuid::new_v4());
    let first = running.apply(application(&file, key)).await?;
    let second = running.apply(application(&file, key)).await?;
    assert_eq!(first, second);
    let [event] = &running.nats.events().await?[..] else {
        anyhow::bail!("it is stored twice");
    };
    let records = running.nats.upload_records().await?;
    for (object, content) in running.s3.objects()? {
        let is_named = event["data"]["resume"]["key"] == object.as_str();
        assert!(is_named != records.contains(&object), "{object} of {records:?}");
        assert!(content == file, "other bytes were stored");
    }
    Ok(())
}

#[tokio::test]
async fn a_key_is_bound_to_its_person_and_resume() -> anyhow::Result<()> {
    let mut running = running().await?;
    let (file, key) = (pdf(MEGABYTE), Uuid::new_v4());
    running.apply(application(&file, key)).await?;
    for other in [application(&pdf(MEGABYTE + 1), key), commit(key)] {
        assert_eq!(running.refusal_of(other).await, Some(Code::AlreadyExists));
    }
    assert_eq!(running.nats.events().await?.len(), 1);
    let form = ApplicationForm {
        email: "asha@example.org".into(),
        ..form()
    };
    let other = [resume("cv.pdf", &file), commit_of(form, key)].concat();
    running.apply(other).await?;
    assert_eq!(running.nats.events().await?.len(), 2);
    Ok(())
}

#[tokio::test]
async fn without_the_store_nothing_is_accepted_until_it_is_back() -> anyhow::Result<()> {
    let mut running = running().await?;
    running.s3.stop().await?;
    let application = || application(&pdf(MEGABYTE), Uuid::new_v4());
    assert_eq!(running.refusal_of(application()).await, Some(Code::Unavailable));
    running.s3.resume_from_disk().await?;
    running.ensure_nothing_is_left().await?;
    running.apply(application()).await?;
    assert_eq!(running.s3.objects()?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn without_the_broker_no_object_is_left_behind() -> anyhow::Result<()> {
    let mut running = running().await?;
    running.nats.stop().await?;
    let application = application(&pdf(MEGABYTE), Uuid::new_v4());
    assert_eq!(running.refusal_of(application).await, Some(Code::Unavailable));
    running.nats.resume_from_disk().await?;
    running.ensure_nothing_is_left().await
}
