//! Load by wrk: each connection sends its next request after the previous answer.

use std::{path::Path, time::Duration};

use anyhow::Context;
use serde::Deserialize;
use testkit::root;
use tokio::{process::Command, time::timeout};

const SCRIPT: &str = "tools/bench/src/requests.lua";
const GRACE: Duration = Duration::from_secs(60);

/// Each request has a different sender.
#[derive(Clone, Copy)]
pub enum Requests<'a> {
    Contact,
    Newsletter,
    Application(&'a Path),
    Page(&'a str),
}

#[derive(Deserialize)]
pub struct Sent {
    pub requests: u64,
    micros: u64,
    p50: f64,
    p99: f64,
    refused: u64,
    broken: u64,
}

impl Sent {
    pub fn per_second(&self) -> f64 {
        self.requests as f64 * 1e6 / self.micros as f64
    }

    pub fn latencies_ms(&self) -> [f64; 2] {
        [self.p50 / 1e3, self.p99 / 1e3]
    }
}

impl Requests<'_> {
    /// # Errors
    ///
    /// If wrk fails, or a request is rejected.
    pub async fn send(self, url: &str, connections: u32, seconds: u64) -> anyhow::Result<Sent> {
        let (path, kind, file) = match self {
            Self::Contact => ("/api/contact", "contact", None),
            Self::Newsletter => ("/api/newsletter", "newsletter", None),
            Self::Application(file) => ("/api/career-application", "application", Some(file)),
            Self::Page(path) => (path, "page", None),
        };
        let mut wrk = Command::new("wrk");
        wrk.args(["--threads", "1", "--timeout", "30s"])
            .args(["--connections", &connections.to_string()])
            .args(["--duration", &format!("{seconds}s")])
            .args(["--script", &root().join(SCRIPT).to_string_lossy()])
            .args([&format!("{url}{path}"), "--", kind])
            .args(file)
            .kill_on_drop(true);
        let output = timeout(Duration::from_secs(seconds) + GRACE, wrk.output());
        let output = output.await.context("wrk does not end")?;
        let output = output.context("wrk cannot be run; is it installed?")?;
        let printed = String::from_utf8(output.stdout)?;
        let result = printed.lines().rfind(|line| line.starts_with('{'));
        let sent: Sent = serde_json::from_str(result.with_context(|| format!("wrk failed:\n{printed}"))?)?;
        anyhow::ensure!(
            sent.refused == 0 && sent.broken == 0 && sent.requests > 0,
            "{url}{path}: of {} requests {} were refused and {} not answered",
            sent.requests,
            sent.refused,
            sent.broken
        );
        Ok(sent)
    }
}
