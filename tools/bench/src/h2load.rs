//! Load by h2load: one URL over HTTP/1.1 or HTTP/2, without TLS, which stands before the gateway.

use std::{fs, path::Path, time::Duration};

use anyhow::Context;
use serde::Serialize;
use tokio::{process::Command, time::timeout};

use crate::turns::percentile;

/// How much longer than it should it may take.
const GRACE: Duration = Duration::from_secs(20);

/// Version of HTTP.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize)]
pub enum Http {
    /// HTTP/1.1
    #[serde(rename = "HTTP/1.1")]
    One,
    /// HTTP/2
    #[serde(rename = "HTTP/2")]
    Two,
}

impl Http {
    /// What it is called in tables.
    pub fn name(self) -> &'static str {
        match self {
            Self::One => "HTTP/1.1",
            Self::Two => "HTTP/2",
        }
    }

    /// 64 requests are open with either.
    fn options(self) -> &'static [&'static str] {
        match self {
            Self::One => &["--h1", "--clients", "64"],
            Self::Two => &["--clients", "16", "--max-concurrent-streams", "4"],
        }
    }
}

/// What h2load saw in one turn.
pub struct Load {
    /// Latency of each answer in microseconds, the quickest first.
    latencies: Vec<u64>,
    lasting: Duration,
}

impl Load {
    /// How many were answered.
    pub fn requests(&self) -> u64 {
        self.latencies.len() as u64
    }

    /// How many were answered a second.
    pub fn requests_per_second(&self) -> f64 {
        self.latencies.len() as f64 / self.lasting.as_secs_f64()
    }

    /// Latency in milliseconds that this share of them does not exceed.
    pub fn percentile(&self, share: f64) -> f64 {
        percentile(&self.latencies, share) as f64 / 1e3
    }
}

/// Asks for a URL as a browser does that takes gzip.
///
/// # Errors
///
/// If h2load cannot be run, or an answer is no success.
pub async fn fetch(url: &str, http: Http, lasting: Duration, folder: &Path) -> anyhow::Result<Load> {
    let log = folder.join("h2load.tsv");
    if log.exists() {
        fs::remove_file(&log)?;
    }
    let mut h2load = Command::new("h2load");
    h2load
        .args(["--threads", "1"])
        .args(http.options())
        .args(["--duration", &lasting.as_secs().to_string()])
        .args(["--header", "accept-encoding: gzip"])
        .arg(format!("--log-file={}", log.display()))
        .arg(url)
        .kill_on_drop(true);
    let output = timeout(lasting + GRACE, h2load.output());
    let output = output.await.context("h2load does not end")?;
    let output = output.context("h2load cannot be run; is it installed?")?;
    let said = String::from_utf8_lossy(&output.stdout);
    anyhow::ensure!(output.status.success(), "h2load failed:\n{said}");
    let answers = fs::read_to_string(log)?;
    let latencies = answers.lines().map(latency).collect::<anyhow::Result<Vec<_>>>();
    let mut latencies = latencies.with_context(|| format!("{url} over {}", http.name()))?;
    anyhow::ensure!(!latencies.is_empty(), "nothing was answered:\n{said}");
    latencies.sort_unstable();
    Ok(Load { latencies, lasting })
}

/// Of a line of the log: when it was asked for, the status, and how long the answer took, in microseconds.
fn latency(line: &str) -> anyhow::Result<u64> {
    let columns: Vec<&str> = line.split('\t').collect();
    let [_, status, latency] = columns[..] else {
        anyhow::bail!("h2load logged \"{line}\"");
    };
    anyhow::ensure!(status == "200", "answered {status}");
    Ok(latency.parse()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_no_success_is_told() {
        assert_eq!(latency("1337\t200\t250").ok(), Some(250));
        let failed = latency("1337\t503\t250").expect_err("it was refused");
        assert_eq!(failed.to_string(), "answered 503");
        assert!(latency("").is_err());
    }

    #[test]
    fn latencies_are_told_in_milliseconds_and_answers_by_the_second() {
        let load = Load {
            latencies: (1..=100).map(|n| n * 1000).collect(),
            lasting: Duration::from_secs(2),
        };
        assert_eq!((load.percentile(0.5), load.requests_per_second()), (50.0, 50.0));
    }
}
