//! Résumés over gRPC: which files the service accepts, and which names and keys they get.

use site_service::status;
use testkit::measure::pdf;
use uuid::Uuid;

use crate::{MEGABYTE, Part, commit, resume, running};

fn application_with(file_name: &str, content: &[u8]) -> Vec<Part> {
    [resume(file_name, content), commit(Uuid::new_v4())].concat()
}

#[tokio::test]
async fn an_invalid_resume_file_is_refused_at_its_field() -> anyhow::Result<()> {
    let mut running = running().await?;
    let one = || resume("cv.pdf", &pdf(MEGABYTE));
    let several = [one(), one(), commit(Uuid::new_v4())].concat();
    for (parts, expected) in [
        (
            application_with("cv.pdf.exe", &pdf(1000)),
            "Send your résumé as a PDF, DOC or DOCX file whose name ends in .pdf, .doc or .docx.",
        ),
        (
            application_with("cv.docx", &pdf(1000)),
            "This file is called a DOCX, but it is none, or is damaged. Please save your résumé as a PDF, DOC or \
             DOCX file again.",
        ),
        (
            application_with("cv.pdf", b""),
            "This file is empty. Please choose your résumé again.",
        ),
        (
            several,
            "Send one résumé only. If you have several files, please make one of them.",
        ),
    ] {
        let refused = running.apply(parts).await.expect_err(expected);
        let violations = status::violations(&refused);
        assert_eq!(violations["resume"], expected);
        assert_eq!(violations.len(), 1, "{violations:?}");
    }
    running.ensure_nothing_is_left().await
}

#[tokio::test]
async fn a_file_name_is_in_the_event_not_the_key() -> anyhow::Result<()> {
    let mut running = running().await?;
    let names = [("x", 76), ("x", 251), ("ஆ", 83), ("🙂", 300)]
        .map(|(letter, length)| format!("{}.pdf", letter.repeat(length)));
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
        let attempt = key.strip_prefix(&format!("resumes/{person}/"));
        assert!(attempt.is_some_and(|id| id.parse::<Uuid>().is_ok()), "{key}");
        keys.retain(|stored| stored != key);
    }
    assert_eq!(keys, [""; 0], "what no event names");
    Ok(())
}

#[tokio::test]
async fn active_content_is_named_in_the_event() -> anyhow::Result<()> {
    let mut running = running().await?;
    let script = b"%PDF-1.7\n1 0 obj\n<< /S /JavaScript >>\nendobj\nstartxref\n0\n%%EOF\n";
    running.apply(application_with("cv.pdf", script)).await?;
    let events = running.nats.events().await?;
    let active = &events[0]["data"]["resume"]["activeContent"];
    assert_eq!(active.to_string(), "[\"javascript\"]");
    Ok(())
}
