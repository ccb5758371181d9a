//! Measurements of running processes, and of the stack's memory.

use std::{fs, net::Ipv4Addr, time::Duration};

use anyhow::Context;
use futures_util::future::try_join_all;
use reqwest::{Client, StatusCode, multipart};
use tokio::time::{Instant, sleep};
use tokio_util::bytes::Bytes;

use crate::{ChildProcess, Stack, child_process::status_field};

const SERVICES: [&str; 5] = ["gateway", "contact", "newsletter", "careers", "notifier"];
/// Visitors who upload at the same time, and the size of each upload.
const UPLOADS: u8 = 100;
const UPLOAD_BYTES: usize = 10_000_000;
/// Pause before a visitor tries again who was told to come back later.
const UPLOAD_PAUSE: Duration = Duration::from_secs(1);
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(120);
/// Half of the gateway's idle timeout. A body that is sent when a connection closes is lost.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(5);
/// Settings without limits for one visitor, for measurements of many thousands.
pub const WITHOUT_LIMITS: [(&str, &str); 2] = [("RATE_PER_MINUTE", "1000000"), ("RATE_BURST", "1000000")];

/// Resident memory of one service, in bytes.
pub struct Memory {
    /// Its name.
    pub service: &'static str,
    /// Before the uploads.
    pub idle: u64,
    /// Peak during the uploads.
    pub peak: u64,
}

/// Memory of every service, idle and during 100 simultaneous uploads of 10 MB.
pub async fn memory(stack: &Stack) -> anyhow::Result<Vec<Memory>> {
    let mut all = Vec::new();
    for service in SERVICES {
        let process = stack.service(service)?;
        // The peak starts again (proc(5)).
        fs::write(format!("/proc/{}/clear_refs", process.running_pid()?), "5")?;
        let idle = resident_bytes(process, "VmRSS")?;
        all.push(Memory {
            service,
            idle,
            peak: idle,
        });
    }
    let http = Client::builder().timeout(UPLOAD_TIMEOUT);
    let http = http.pool_idle_timeout(POOL_IDLE_TIMEOUT).build()?;
    let resume = Bytes::from(pdf(UPLOAD_BYTES));
    let uploads = (0..UPLOADS).map(|visitor| {
        let address = Ipv4Addr::new(203, 0, 113, visitor);
        upload(&http, stack, &resume, address)
    });
    try_join_all(uploads).await?;
    for memory in &mut all {
        memory.peak = resident_bytes(stack.service(memory.service)?, "VmHWM")?;
    }
    Ok(all)
}

/// Sends one application, again and again while it is told to come back later.
async fn upload(http: &Client, stack: &Stack, resume: &Bytes, visitor: Ipv4Addr) -> anyhow::Result<()> {
    let url = format!("{}/api/career-application", stack.site());
    let begun = Instant::now();
    loop {
        let file = multipart::Part::stream_with_length(resume.clone(), resume.len() as u64);
        let form = multipart::Form::new()
            .text("name", "Ada Lovelace")
            .text("email", format!("ada.{visitor}@example.org"))
            .text("position", "Backend Intern")
            .text("coverLetter", "Measured.")
            .part("resume", file.file_name("resume.pdf"));
        let request = http.post(&url).header("x-forwarded-for", visitor.to_string());
        let answer = request.multipart(form).send().await?;
        let status = answer.status();
        if status != StatusCode::SERVICE_UNAVAILABLE || begun.elapsed() > UPLOAD_TIMEOUT {
            let text = answer.text().await?;
            anyhow::ensure!(status.is_success(), "an upload was answered {status}: {text}");
            return Ok(());
        }
        sleep(UPLOAD_PAUSE).await;
    }
}

/// Settings that send telemetry to this collector, with the share of traces of production.
pub fn observing(collector: &str) -> [(&str, &str); 2] {
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector),
        ("OTEL_TRACES_SAMPLER_ARG", "0.1"),
    ]
}

/// Median of an odd number of values.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// A file of this size (at least of its first and last bytes) whose content is recognized as a PDF.
pub fn pdf(bytes: usize) -> Vec<u8> {
    const HEAD: &[u8] = b"%PDF-1.7\n";
    const END: &[u8] = b"\nstartxref\n0\n%%EOF";
    let filling = bytes.saturating_sub(HEAD.len() + END.len());
    let filling: Vec<u8> = (0..filling).map(|n| b"0123456789abcdef"[n * 7 % 16]).collect();
    [HEAD, &filling, END].concat()
}

/// Resident memory of a process: `VmRSS` now, `VmHWM` at its peak (proc(5)).
pub fn resident_bytes(process: &ChildProcess, field: &str) -> anyhow::Result<u64> {
    let value = status_field(process.running_pid()?, field)?;
    let kilobytes = value.split_whitespace().next().unwrap_or_default();
    Ok(kilobytes.parse::<u64>()? * 1024)
}

/// Processor time of a process (proc(5): fields 14 and 15 of `stat`, in hundredths of a second).
pub fn processor_time(pid: u32) -> anyhow::Result<Duration> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The fields follow the name, which stands in brackets and may contain anything.
    let (_, fields) = stat.rsplit_once(')').context("no name in stat")?;
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.map(|field| field.parse().unwrap_or(0)).sum();
    Ok(Duration::from_millis(ticks * 10))
}

/// Number of a process's threads.
pub fn threads(process: &ChildProcess) -> anyhow::Result<usize> {
    Ok(status_field(process.running_pid()?, "Threads")?.parse()?)
}
