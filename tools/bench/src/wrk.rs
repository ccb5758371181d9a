//! Load by wrk: forms over so many connections, each the next as soon as the last is answered.

use std::time::Duration;

use anyhow::Context;
use serde::Deserialize;
use testkit::root;
use tokio::{process::Command, time::timeout};

const SCRIPT: &str = "tools/bench/src/forms.lua";
/// How much longer than it should it may take.
const GRACE: Duration = Duration::from_secs(20);

/// A form that is sent.
#[derive(Clone, Copy)]
pub enum Form {
    /// A contact message.
    Contact,
    /// A sign-up.
    Newsletter,
}

impl Form {
    fn path(self) -> &'static str {
        match self {
            Self::Contact => "/api/contact",
            Self::Newsletter => "/api/newsletter",
        }
    }
}

/// What wrk saw in one turn.
#[derive(Deserialize)]
pub struct Load {
    /// How many forms were answered.
    pub requests: u64,
    micros: u64,
    /// Latency in microseconds that half of them do not exceed.
    pub p50: f64,
    /// That 99 of 100 do not exceed.
    pub p99: f64,
    /// That 999 of 1000 do not exceed.
    pub p999: f64,
    refused: u64,
    broken: u64,
}

impl Load {
    /// How many were answered a second.
    pub fn requests_per_second(&self) -> f64 {
        self.requests as f64 * 1e6 / self.micros as f64
    }
}

/// Sends forms. `seed` is what the random choices begin with: a form that was sent before is a repeated one.
///
/// # Errors
///
/// If wrk cannot be run, or any form was not accepted.
pub async fn send_forms(
    form: Form,
    site: &str,
    connections: u32,
    lasting: Duration,
    seed: u64,
) -> anyhow::Result<Load> {
    let mut wrk = Command::new("wrk");
    wrk.args(["--threads", "1", "--timeout", "10s"])
        .args(["--connections", &connections.to_string()])
        .args(["--duration", &format!("{}s", lasting.as_secs())])
        .args(["--script", &root().join(SCRIPT).to_string_lossy()])
        .args([&format!("{site}{}", form.path()), "--", &seed.to_string()])
        .kill_on_drop(true);
    let output = timeout(lasting + GRACE, wrk.output());
    let output = output.await.context("wrk does not end")?;
    let output = output.context("wrk cannot be run; is it installed?")?;
    let said = String::from_utf8(output.stdout)?;
    let result = said.lines().rfind(|line| line.starts_with('{'));
    let load: Load = serde_json::from_str(result.with_context(|| format!("wrk failed:\n{said}"))?)?;
    anyhow::ensure!(
        load.refused == 0 && load.broken == 0 && load.requests > 0,
        "{site}: of {} forms {} were refused and {} not answered",
        load.requests,
        load.refused,
        load.broken
    );
    Ok(load)
}
