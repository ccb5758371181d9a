//! What a gateway lets in: as many connections as come, and nobody to its health but its probes.

use std::{fs, time::Duration};

use anyhow::Context;
use reqwest::StatusCode;
use tempfile::TempDir;
use testkit::{ChildProcess, eventually};
use tokio::process::Command;

use crate::without_services::Gateway;

const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn where_the_system_begins_with_few_open_files_there_are_enough_for_all_connections()
-> anyhow::Result<()> {
    let logs = TempDir::new()?;
    let mut few = Command::new("sh");
    few.args([
        "-c",
        "ulimit -S -n 256 && exec \"$0\"",
        env!("CARGO_BIN_EXE_gateway"),
    ]);
    few.env("LISTEN", "127.0.0.1:0")
        .env("HEALTH_LISTEN", "127.0.0.1:0");
    let gateway = ChildProcess::start("gateway", logs.path(), few)?;
    let limits = format!("/proc/{}/limits", gateway.pid().context("it runs")?);
    eventually("more than 4,096 files may be open", SOON, async || {
        let limits = fs::read_to_string(&limits).ok()?;
        let files = limits
            .lines()
            .find_map(|line| line.strip_prefix("Max open files"))?;
        let soft: u64 = files.split_whitespace().next()?.parse().ok()?;
        (soft > 4096).then_some(())
    })
    .await
}

#[tokio::test]
async fn visitors_learn_nothing_of_its_health() -> anyhow::Result<()> {
    let gateway = Gateway::start(&[]).await?;
    for path in ["/livez", "/readyz"] {
        assert_eq!(gateway.get(path).send().await?.status(), StatusCode::NOT_FOUND);
        assert_ne!(gateway.health(path).send().await?.status(), StatusCode::NOT_FOUND);
    }
    Ok(())
}
