//! The parts under attack: their memory against what their manifests allow, and whether probes find them well.

use std::time::Duration;

use anyhow::Context;
use reqwest::Client;
use testkit::{
    Stack, manifest,
    measure::{reset_peak, resident_bytes, resident_bytes_of},
};
use tokio::time::{Instant, interval};

const PROBE_INTERVAL: Duration = Duration::from_millis(500);
/// As long as the manifests' probes wait.
const PROBE_TIMEOUT: Duration = Duration::from_secs(1);
const MEBIBYTE: u64 = 1024 * 1024;

/// One of our services.
#[derive(Debug, Clone)]
pub struct Part {
    /// Which one.
    pub name: &'static str,
    /// The most memory that it may have resident, in bytes.
    pub limit: u64,
    /// The most that it had.
    pub peak: u64,
    pid: u32,
}

/// All of them; their peaks begin anew.
///
/// # Errors
///
/// If one does not run, or its manifest cannot be read.
pub fn all(stack: &Stack) -> anyhow::Result<Vec<Part>> {
    let part = |name| {
        let process = stack.service(name)?;
        let pid = process.pid().with_context(|| format!("{name} does not run"))?;
        reset_peak(process)?;
        let peak = resident_bytes(process, "VmRSS")?;
        let limit = limit_of(name)?;
        Ok(Part {
            name,
            limit,
            peak,
            pid,
        })
    };
    stack.names().into_iter().map(part).collect()
}

/// The same with what each had at its peak since.
///
/// # Errors
///
/// If one has ended.
pub fn with_peaks(parts: Vec<Part>) -> anyhow::Result<Vec<Part>> {
    let with_peak = |part: Part| {
        let peak = resident_bytes_of(part.pid, "VmHWM")?;
        Ok(Part { peak, ..part })
    };
    parts.into_iter().map(with_peak).collect()
}

/// The memory limit of a service's manifest, which stands above what it requests.
fn limit_of(name: &str) -> anyhow::Result<u64> {
    let values = manifest::values(name, "memory")?;
    let mebibytes = values
        .iter()
        .filter_map(|value| value.strip_suffix("Mi")?.parse::<u64>().ok());
    let limit = mebibytes
        .max()
        .with_context(|| format!("{name} has no memory limit"))?;
    Ok(limit * MEBIBYTE)
}

/// How often a probe of the gateway did not succeed within this time.
///
/// # Errors
///
/// If a client cannot be made.
pub async fn watch_health(health: String, lasting: Duration) -> anyhow::Result<usize> {
    let http = Client::builder().timeout(PROBE_TIMEOUT).build()?;
    let begun = Instant::now();
    let mut ticks = interval(PROBE_INTERVAL);
    let mut failed = 0;
    while begun.elapsed() < lasting {
        ticks.tick().await;
        for path in ["livez", "readyz"] {
            let answer = http.get(format!("{health}/{path}")).send().await;
            failed += usize::from(!answer.is_ok_and(|answer| answer.status().is_success()));
        }
    }
    Ok(failed)
}

#[cfg(test)]
impl Part {
    /// One whose memory is known.
    pub fn new(name: &'static str, limit: u64, peak: u64) -> Self {
        Self {
            name,
            limit,
            peak,
            pid: 0,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_the_manifests() {
        let limits = ["gateway", "contact"].map(|name| limit_of(name).ok());
        assert_eq!(limits, [Some(256 * MEBIBYTE), Some(128 * MEBIBYTE)]);
    }
}
