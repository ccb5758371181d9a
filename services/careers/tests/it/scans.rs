//! Outcomes of a virus scan, and résumés that cannot be scanned.

use std::time::Duration;

use site_service::status;
use testkit::measure::pdf;
use tokio::{net::TcpListener, time::timeout};
use tonic::Code;
use uuid::Uuid;

use crate::{MEGABYTE, Running, application, clamd::Clamd, commit, fields, resume, running, running_with};

const DEFAULT_SCAN: Duration = Duration::from_secs(15);
/// Nothing listens on port 9, "discard" (RFC 863).
const NOBODY: &str = "127.0.0.1:9";

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
async fn a_resume_in_which_nothing_is_found_is_called_clean() -> anyhow::Result<()> {
    let clamd = Clamd::start().await?;
    let mut running = scanned_by(&clamd.address()).await?;
    assert_eq!(running.scan_of(&pdf(5 * MEGABYTE)).await?, "clean");
    assert_eq!(running.s3.objects()?.len(), 1);
    Ok(())
}

#[tokio::test]
async fn the_largest_resume_is_scanned_to_its_end() -> anyhow::Result<()> {
    let clamd = Clamd::start().await?;
    let mut running = scanned_by(&clamd.address()).await?;
    let largest = 10 * 1024 * 1024;
    assert_eq!(running.scan_of(&pdf(largest)).await?, "clean");
    let file = infected(largest - Clamd::VIRUS.len());
    let refused = running.apply(application(&file, Uuid::new_v4())).await;
    assert_eq!(
        refused.map_err(|status| status.code()),
        Err(Code::InvalidArgument)
    );
    Ok(())
}

#[tokio::test]
async fn an_infected_resume_is_refused_at_its_field_and_leaves_nothing_behind() -> anyhow::Result<()> {
    let clamd = Clamd::start().await?;
    let mut running = scanned_by(&clamd.address()).await?;
    let sent = application(&infected(MEGABYTE), Uuid::new_v4());
    let refused = running.apply(sent).await.expect_err("it holds a virus");
    assert_eq!(refused.code(), Code::InvalidArgument);
    let violations = status::violations(&refused);
    assert_eq!(
        violations["resume"],
        "A virus was found in this file. Please choose another one."
    );
    assert_eq!(violations.len(), 1);
    running.ensure_nothing_is_left().await
}

#[tokio::test]
async fn the_same_file_without_a_scanner_is_taken_unscanned() -> anyhow::Result<()> {
    let mut running = running().await?;
    assert_eq!(running.scan_of(&infected(MEGABYTE)).await?, "not-scanned");
    Ok(())
}

#[tokio::test]
async fn without_a_resume_there_is_nothing_to_scan() -> anyhow::Result<()> {
    let mut running = scanned_by(NOBODY).await?;
    running.apply([fields(), commit(Uuid::new_v4())].concat()).await?;
    assert!(running.nats.events().await?[0]["data"]["resume"].is_null());
    Ok(())
}

#[tokio::test]
async fn where_the_scanner_was_killed_resumes_are_taken_unscanned() -> anyhow::Result<()> {
    let clamd = Clamd::start().await?;
    let mut running = scanned_by(&clamd.address()).await?;
    assert_eq!(running.scan_of(&pdf(MEGABYTE)).await?, "clean");
    clamd.kill().await?;
    assert_eq!(running.scan_of(&infected(MEGABYTE)).await?, "not-scanned");
    Ok(())
}

#[tokio::test]
async fn a_scanner_that_says_nothing_holds_nobody_up() -> anyhow::Result<()> {
    // The system accepts connections, and nothing reads them.
    let silent = TcpListener::bind("127.0.0.1:0").await?;
    let address = silent.local_addr()?;
    let limited = [format!("--clamd={address}"), "--clamd-seconds=1".to_owned()];
    let mut running = running_with(&limited).await?;
    let file = pdf(5 * MEGABYTE);
    let scan = timeout(DEFAULT_SCAN, running.scan_of(&file)).await??;
    assert_eq!(scan, "not-scanned");
    Ok(())
}

#[tokio::test]
async fn what_is_longer_than_the_scanner_takes_is_taken_unscanned() -> anyhow::Result<()> {
    let clamd = Clamd::start_with(&format!("StreamMaxLength {MEGABYTE}")).await?;
    let mut running = scanned_by(&clamd.address()).await?;
    assert_eq!(running.scan_of(&pdf(MEGABYTE / 2)).await?, "clean");
    assert_eq!(running.scan_of(&infected(5 * MEGABYTE)).await?, "not-scanned");
    Ok(())
}

#[tokio::test]
async fn only_what_is_right_otherwise_is_scanned() -> anyhow::Result<()> {
    let clamd = Clamd::start().await?;
    let mut running = scanned_by(&clamd.address()).await?;
    let nameless = [resume("cv.pdf", &infected(MEGABYTE)), commit(Uuid::new_v4())].concat();
    let refused = running.apply(nameless).await.expect_err("all fields are empty");
    let violations = status::violations(&refused);
    assert!(violations.contains_key("name") && !violations.contains_key("resume"));
    running.ensure_nothing_is_left().await
}
