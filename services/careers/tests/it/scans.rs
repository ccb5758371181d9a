//! Virus scans: each outcome, and résumés that cannot be scanned.

use std::time::Duration;

use site_proto::careers::v1::ApplicationForm;
use site_service::status;
use testkit::measure::pdf;
use tokio::{net::TcpListener, time::timeout};
use tonic::Code;
use uuid::Uuid;

use crate::{MEGABYTE, Running, application, clamd::Clamd, commit_of, resume, running, running_with};

/// Twice the timeout of a scan.
const PATIENCE: Duration = Duration::from_secs(30);
const LARGEST: usize = 10 * 1024 * 1024;

async fn scanned_by(address: &str) -> anyhow::Result<Running> {
    running_with(&[format!("--clamd={address}")]).await
}

fn infected(bytes: usize) -> Vec<u8> {
    let end = b"\nstartxref\n0\n%%EOF\n".to_vec();
    [pdf(bytes - end.len()), Clamd::VIRUS.into(), end].concat()
}

impl Running {
    async fn scan_of(&mut self, file: &[u8]) -> anyhow::Result<String> {
        let id = self.apply(application(file, Uuid::new_v4())).await?;
        let events = self.nats.events().await?;
        let event = events.iter().find(|event| event["id"] == id.as_str());
        let scan = event.and_then(|event| event["data"]["resume"]["scan"].as_str());
        Ok(scan.unwrap_or("no event").to_owned())
    }
}

#[tokio::test]
async fn an_infected_resume_is_refused_at_its_field() -> anyhow::Result<()> {
    let clamd = Clamd::start("").await?;
    let mut running = scanned_by(&clamd.address()).await?;
    // The virus is at the end of the largest file, so the scanner must get all of it.
    let file = infected(LARGEST - Clamd::VIRUS.len());
    let sent = application(&file, Uuid::new_v4());
    let refused = running.apply(sent).await.expect_err("it holds a virus");
    assert_eq!(refused.code(), Code::InvalidArgument);
    let violations = status::violations(&refused);
    let sentence = "A virus was found in this file. Please choose another one.";
    assert_eq!(violations["resume"], sentence);
    assert_eq!(violations.len(), 1);

    let nameless = commit_of(ApplicationForm::default(), Uuid::new_v4());
    let nameless = [resume("cv.pdf", &infected(MEGABYTE)), nameless].concat();
    let refused = running.apply(nameless).await.expect_err("all fields are empty");
    let violations = status::violations(&refused);
    assert!(violations.contains_key("name") && !violations.contains_key("resume"));
    running.ensure_nothing_is_left().await?;
    assert_eq!(running.scan_of(&pdf(LARGEST)).await?, "clean");
    assert_eq!(running.s3.objects()?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn without_a_scanner_resumes_are_accepted_unscanned() -> anyhow::Result<()> {
    let mut unscanned = running().await?;
    assert_eq!(unscanned.scan_of(&infected(MEGABYTE)).await?, "not-scanned");
    let clamd = Clamd::start("").await?;
    let mut running = scanned_by(&clamd.address()).await?;
    assert_eq!(running.scan_of(&pdf(MEGABYTE)).await?, "clean");
    clamd.kill().await?;
    assert_eq!(running.scan_of(&infected(MEGABYTE)).await?, "not-scanned");
    Ok(())
}

#[tokio::test]
async fn a_silent_scanner_times_out() -> anyhow::Result<()> {
    // The system accepts connections to this port, but nothing reads or answers.
    let silent = TcpListener::bind("127.0.0.1:0").await?;
    let mut running = scanned_by(&silent.local_addr()?.to_string()).await?;
    let file = pdf(5 * MEGABYTE);
    let scan = timeout(PATIENCE, running.scan_of(&file)).await??;
    assert_eq!(scan, "not-scanned");
    Ok(())
}

#[tokio::test]
async fn a_resume_above_the_scanners_limit_stays_unscanned() -> anyhow::Result<()> {
    let clamd = Clamd::start(&format!("StreamMaxLength {MEGABYTE}")).await?;
    let mut running = scanned_by(&clamd.address()).await?;
    assert_eq!(running.scan_of(&pdf(MEGABYTE / 2)).await?, "clean");
    assert_eq!(running.scan_of(&infected(5 * MEGABYTE)).await?, "not-scanned");
    Ok(())
}
