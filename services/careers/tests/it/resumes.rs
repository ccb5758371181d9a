//! Which files are accepted, their names and keys, and the cost of inspecting them.

use futures_util::future::try_join_all;
use site_proto::careers::v1::careers_service_client::CareersServiceClient;
use site_service::{drain::CancellationToken, status};
use tempfile::TempDir;
use testkit::{
    ChildProcess, Nats, S3,
    measure::{pdf, resident_bytes, threads},
};
use tokio::net::TcpListener;
use tonic::Status;
use uuid::Uuid;

use crate::{
    MEGABYTE, Running, commit,
    crafted::{crowded_archive, docx},
    default_flags, fields, process, resume, running,
};

/// Nearly as many as the gateway admits at once.
const AT_ONCE: usize = 8;
const LARGEST: usize = 10 * 1024 * 1024;
/// Memory for the inspections: they run one by one, with a few buffers each.
const LOOKS_BYTES: u64 = 16 * 1024 * 1024;

fn sentence(refused: Result<String, Status>) -> Option<String> {
    let mut violations = status::violations(&refused.err()?);
    let sentence = violations.remove("resume");
    sentence.filter(|_| violations.is_empty())
}

fn application_with(file_name: &str, content: &[u8]) -> Vec<site_proto::careers::v1::apply_request::Part> {
    [fields(), resume(file_name, content), commit(Uuid::new_v4())].concat()
}

#[tokio::test]
async fn two_resumes_are_refused_at_their_field_and_leave_nothing_behind() -> anyhow::Result<()> {
    let mut running = running().await?;
    let one = || resume("cv.pdf", &pdf(MEGABYTE));
    let several = [fields(), one(), one(), commit(Uuid::new_v4())].concat();
    assert_eq!(
        sentence(running.apply(several).await).as_deref(),
        Some("Send one résumé only. If you have several files, please make one of them.")
    );
    running.ensure_nothing_is_left().await
}

#[tokio::test]
async fn a_file_that_is_not_what_its_name_says_is_refused_at_its_field() -> anyhow::Result<()> {
    let mut running = running().await?;
    let ending = "Send your résumé as a PDF, DOC or DOCX file whose name ends in .pdf, .doc or .docx.";
    let content = |kind: &str| {
        format!(
            "This file is called a {kind}, but it is none, or is damaged. Please save your résumé as a PDF, DOC or \
             DOCX file again."
        )
    };
    let script = [b"@echo off\r\nrem ", &pdf(1000)[..]].concat();
    for (file_name, file, expected) in [
        ("run.bat", script.clone(), ending.to_owned()),
        ("cv.html", pdf(1000), ending.to_owned()),
        ("cv.svg", pdf(1000), ending.to_owned()),
        ("a.lnk", pdf(1000), ending.to_owned()),
        ("cv.pdf.exe", pdf(1000), ending.to_owned()),
        ("cv", pdf(1000), ending.to_owned()),
        ("", pdf(1000), ending.to_owned()),
        ("cv.pdf", script, content("PDF")),
        ("cv.pdf", b"%PDF-1.4".into(), content("PDF")),
        ("cv.doc", pdf(1000), content("DOC")),
        ("cv.docx", pdf(1000), content("DOCX")),
        (
            "cv.pdf",
            Vec::new(),
            "This file is empty. Please choose your résumé again.".to_owned(),
        ),
    ] {
        let refused = running.apply(application_with(file_name, &file)).await;
        assert_eq!(sentence(refused), Some(expected), "{file_name}");
    }
    running.ensure_nothing_is_left().await
}

#[tokio::test]
async fn a_name_of_any_length_is_kept_in_the_event_and_out_of_the_key() -> anyhow::Result<()> {
    let mut running = running().await?;
    let names = [
        format!("{}.pdf", "x".repeat(76)),
        format!("{}.PDF", "x".repeat(251)),
        format!("{}.pdf", "ஆ".repeat(83)),
        format!("{}.pdf", "🙂".repeat(300)),
    ];
    for name in &names {
        running.apply(application_with(name, &pdf(1000))).await?;
    }
    let events = running.nats.events().await?;
    let mut keys: Vec<String> = running.s3.objects()?.into_iter().map(|(key, _)| key).collect();
    assert_eq!((events.len(), keys.len()), (names.len(), names.len()));
    for (name, event) in names.iter().zip(&events) {
        let resume = &event["data"]["resume"];
        let told = resume["fileName"].as_str().unwrap_or_default();
        assert!(name.ends_with(told) && told.chars().count() >= 80, "{told}");
        let key = resume["key"].as_str().unwrap_or_default();
        let person = event["subject"].as_str().unwrap_or_default();
        let attempt = key
            .strip_prefix(&format!("resumes/{person}/"))
            .unwrap_or_default();
        assert!(attempt.parse::<Uuid>().is_ok(), "{key}");
        keys.retain(|stored| stored != key);
    }
    assert_eq!(keys, [""; 0], "what no event names");
    Ok(())
}

async fn site() -> anyhow::Result<(Running, ChildProcess, TempDir)> {
    let (nats, s3, spool) = (Nats::start().await?, S3::start().await?, TempDir::new()?);
    let logs = TempDir::new()?;
    let port = TcpListener::bind("127.0.0.1:0").await?.local_addr()?.port();
    let careers = process(&default_flags(&nats, &s3, spool.path(), port), logs.path(), port).await?;
    let running = Running {
        careers: CareersServiceClient::connect(format!("http://127.0.0.1:{port}")).await?,
        nats,
        s3,
        spool,
        _stop: CancellationToken::new().drop_guard(),
    };
    Ok((running, careers, logs))
}

#[tokio::test]
async fn a_docx_is_taken() -> anyhow::Result<()> {
    let mut running = running().await?;
    running.apply(application_with("cv.docx", &docx())).await?;
    let events = running.nats.events().await?;
    let content_type = "application/vnd.openxmlformats-officedocument.wordprocessingml.document";
    assert_eq!(events[0]["data"]["resume"]["contentType"], content_type);
    Ok(())
}

#[tokio::test]
async fn what_of_a_resume_can_do_something_by_itself_is_in_its_event() -> anyhow::Result<()> {
    let mut running = running().await?;
    let script = b"%PDF-1.7\n1 0 obj\n<< /S /JavaScript >>\nendobj\nstartxref\n0\n%%EOF\n";
    running.apply(application_with("cv.pdf", script)).await?;
    let events = running.nats.events().await?;
    let active = &events[0]["data"]["resume"]["activeContent"];
    assert_eq!(active.to_string(), "[\"javascript\"]");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn crowded_archives_are_refused_soon_and_in_the_memory_of_honest_files() -> anyhow::Result<()> {
    let (running, careers, _logs) = site().await?;
    let send = |file_name: &'static str, content: Vec<u8>| {
        let parts = application_with(file_name, &content).into_iter();
        let parts = parts.map(|part| site_proto::careers::v1::ApplyRequest { part: Some(part) });
        let mut careers = running.careers.clone();
        async move { careers.apply(tokio_stream::iter(parts)).await }
    };
    try_join_all((0..AT_ONCE).map(|_| send("cv.pdf", pdf(LARGEST)))).await?;
    let honest = resident_bytes(&careers, "VmHWM")?;

    let crowded = crowded_archive();
    assert!(crowded.len() < LARGEST, "{}", crowded.len());
    let answers = (0..AT_ONCE).map(|_| send("cv.docx", crowded.clone()));
    for answer in futures_util::future::join_all(answers).await {
        assert_eq!(
            sentence(answer.map(|answer| answer.into_inner().event_id)).as_deref(),
            Some(
                "This file is made of more parts than a résumé needs. Please save it as a PDF, and send that."
            )
        );
    }
    let peak = resident_bytes(&careers, "VmHWM")?;
    assert!(
        peak < honest + LOOKS_BYTES,
        "{honest} bytes with honest files, {peak} with crowded ones"
    );
    Ok(())
}

#[tokio::test]
async fn however_many_resumes_arrive_few_threads_work_on_files() -> anyhow::Result<()> {
    const FILE_THREADS: usize = 8;
    let (running, careers, _logs) = site().await?;
    let before = threads(&careers)?;
    let applied = (0..8 * FILE_THREADS).map(|_| {
        let parts = application_with("cv.pdf", &pdf(MEGABYTE)).into_iter();
        let parts = parts.map(|part| site_proto::careers::v1::ApplyRequest { part: Some(part) });
        let mut careers = running.careers.clone();
        async move { careers.apply(tokio_stream::iter(parts)).await }
    });
    try_join_all(applied).await?;
    let added = threads(&careers)?.saturating_sub(before);
    assert!(added <= FILE_THREADS, "{added} threads more than at rest");
    Ok(())
}
