//! What the stack costs and how fast it notices: measurements for `docs/performance.md`.

use std::{fs, net::Ipv4Addr, time::Duration};

use anyhow::Context;
use futures_util::future::try_join_all;
use reqwest::{Client, StatusCode, multipart};
use serde_json::json;
use tokio::time::{Instant, sleep};
use tokio_util::bytes::Bytes;
use tonic::transport::Endpoint;
use tonic_health::pb::{
    HealthCheckRequest, health_check_response::ServingStatus, health_client::HealthClient,
};

use crate::{ChildProcess, Discard, Ports, Stack, child_process::status_field, eventually};

const SERVICES: [&str; 5] = ["gateway", "contact", "newsletter", "careers", "notifier"];
/// How often each service is started to see how long that takes.
const STARTS: usize = 3;
/// How many visitors upload at the same time, and how much each.
const UPLOADS: u8 = 100;
const UPLOAD_BYTES: usize = 10_000_000;
/// Before a visitor tries again who was told to come back later.
const UPLOAD_PAUSE: Duration = Duration::from_secs(1);
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(120);
/// Half of the time after which the gateway closes an idle connection: the body of whoever takes one in that moment is lost.
const POOL_IDLE_TIMEOUT: Duration = Duration::from_secs(5);
const NOTICE_TIMEOUT: Duration = Duration::from_secs(20);
const BYTES_PER_KB: u64 = 1024;
/// Settings by which what is measured is more than the limits of one visitor: where many thousands come, those of a network share a limit.
pub const WITHOUT_LIMITS: [(&str, &str); 2] = [("RATE_PER_MINUTE", "1000000"), ("RATE_BURST", "1000000")];
/// The first address of a visitor who sends forms.
const VISITORS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 0);
/// How many visitors send forms at the same time, each the next as soon as the last is answered.
const SENDERS: u32 = 16;
/// How long they do, and how often, in turns with and without telemetry.
const TURN: Duration = Duration::from_secs(5);
const TURNS: u32 = 5;
/// Share of the traces that is recorded meanwhile.
const TRACE_SHARE: &str = "0.1";

/// Memory of one service.
pub struct Memory {
    /// Which one.
    pub service: &'static str,
    /// Resident while nothing happens.
    pub idle_bytes: u64,
    /// The most that was resident during the uploads.
    pub peak_bytes: u64,
}

/// What one service takes before it is given any work.
pub struct Footprint {
    /// Which one.
    pub service: &'static str,
    /// From its start until it says that it is ready, the slowest of [`STARTS`].
    pub start: Duration,
    /// Resident memory, once it is ready.
    pub idle_bytes: u64,
    /// The program's size.
    pub binary_bytes: u64,
}

/// Starts each service anew a few times, beside all others.
pub async fn footprints(stack: &mut Stack) -> anyhow::Result<Vec<Footprint>> {
    let mut all = Vec::new();
    for service in stack.names() {
        let mut start = Duration::ZERO;
        for _ in 0..STARTS {
            stack.take_service(service)?.stop().await?;
            let started = Instant::now();
            stack.start_service(service)?;
            until_ready(stack, service).await?;
            start = start.max(started.elapsed());
        }
        let program = proc_file(stack.service(service)?.running_pid()?, "exe");
        all.push(Footprint {
            service,
            start,
            idle_bytes: resident_bytes(stack.service(service)?, "VmRSS")?,
            binary_bytes: fs::metadata(program)?.len(),
        });
    }
    Ok(all)
}

/// What visitors reach tells it by HTTP, as it does a load balancer, the others by gRPC.
async fn until_ready(stack: &Stack, service: &str) -> anyhow::Result<()> {
    if let Some(port) = stack.health_port_of(service) {
        return until(&format!("http://127.0.0.1:{port}"), StatusCode::OK).await;
    }
    let address = format!("http://127.0.0.1:{}", stack.port_of(service));
    let endpoint = Endpoint::from_shared(address)?.connect_timeout(NOTICE_TIMEOUT);
    eventually(&format!("{service} is ready"), NOTICE_TIMEOUT, async || {
        let mut client = HealthClient::new(endpoint.connect().await.ok()?);
        let answer = client.check(HealthCheckRequest::default()).await.ok()?;
        (answer.get_ref().status() == ServingStatus::Serving).then_some(())
    })
    .await
}

/// Memory of every service, idle and while [`UPLOADS`] visitors upload 10 MB each.
pub async fn memory(stack: &Stack) -> anyhow::Result<Vec<Memory>> {
    let mut idle = Vec::new();
    for service in SERVICES {
        let part = stack.service(service)?;
        idle.push(resident_bytes(part, "VmRSS")?);
        reset_peak(part)?;
    }
    upload_all(stack).await?;
    SERVICES
        .into_iter()
        .zip(idle)
        .map(|(service, idle_bytes)| {
            let peak_bytes = resident_bytes(stack.service(service)?, "VmHWM")?;
            Ok(Memory {
                service,
                idle_bytes,
                peak_bytes,
            })
        })
        .collect()
}

/// How long `/readyz` takes to notice that NATS is away, and that it is back.
pub struct Noticed {
    /// From its stop to the first 503.
    pub away: Duration,
    /// From its answering again to the first 200.
    pub back: Duration,
}

/// Stops NATS and starts it again, watching `/readyz`.
pub async fn readiness(stack: &mut Stack) -> anyhow::Result<Noticed> {
    stack.nats.stop().await?;
    let stopped = Instant::now();
    until(&stack.health(), StatusCode::SERVICE_UNAVAILABLE).await?;
    let away = stopped.elapsed();
    stack.nats.resume_from_disk().await?;
    let answering = Instant::now();
    until(&stack.health(), StatusCode::OK).await?;
    Ok(Noticed {
        away,
        back: answering.elapsed(),
    })
}

/// Rates of accepted forms, medians of [`TURNS`].
pub struct Accepted {
    /// Without telemetry.
    pub plain_per_second: f64,
    /// With traces, metrics and logs sent to a collector on the same machine.
    pub observed_per_second: f64,
}

/// Sends contact messages to two stacks in turns, one of which sends telemetry. Their notifiers are stopped: what
/// they do of a form would go on into the next turn.
pub async fn telemetry() -> anyhow::Result<Accepted> {
    let collector = Discard::start().await?;
    let exporting = [observing(&collector), WITHOUT_LIMITS].concat();
    let mut plain = Stack::start(Ports::free()?, &WITHOUT_LIMITS).await?;
    let mut observed = Stack::start(Ports::free()?, &exporting).await?;
    for stack in [&mut plain, &mut observed] {
        stack.take_service("notifier")?.stop().await?;
    }
    let (mut without, mut with) = (Vec::new(), Vec::new());
    for turn in 0..TURNS {
        without.push(accepted_per_second(&plain, turn).await?);
        with.push(accepted_per_second(&observed, turn).await?);
    }
    plain.stop().await?;
    observed.stop().await?;
    Ok(Accepted {
        plain_per_second: median(without),
        observed_per_second: median(with),
    })
}

/// Settings that send telemetry to this collector, as production's do.
pub fn observing(collector: &str) -> [(&str, &str); 2] {
    [
        ("OTEL_EXPORTER_OTLP_ENDPOINT", collector),
        ("OTEL_TRACES_SAMPLER_ARG", TRACE_SHARE),
    ]
}

/// The middle one of an odd number of measurements.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

async fn accepted_per_second(stack: &Stack, turn: u32) -> anyhow::Result<f64> {
    let http = Client::new();
    let begun = Instant::now();
    let senders = (0..SENDERS).map(|sender| {
        // An address of its own for each form, as visitors have.
        let first = (turn * SENDERS + sender) << 16;
        send_forms(&http, stack, first, begun + TURN)
    });
    let accepted: u32 = try_join_all(senders).await?.into_iter().sum();
    Ok(f64::from(accepted) / begun.elapsed().as_secs_f64())
}

async fn send_forms(http: &Client, stack: &Stack, first: u32, end: Instant) -> anyhow::Result<u32> {
    let url = format!("{}/api/contact", stack.site());
    let mut accepted = 0;
    while Instant::now() < end {
        let visitor = Ipv4Addr::from_bits(VISITORS.to_bits() + first + accepted);
        let form = json!({
            "name": "Ada Lovelace",
            "email": format!("{visitor}@example.org"),
            "message": "How many forms a second?",
        });
        let request = http.post(&url).header("x-forwarded-for", visitor.to_string());
        let answer = request.json(&form).send().await?;
        anyhow::ensure!(
            answer.status().is_success(),
            "a form was answered {}",
            answer.status()
        );
        accepted += 1;
    }
    Ok(accepted)
}

async fn until(health: &str, status: StatusCode) -> anyhow::Result<()> {
    let readyz = format!("{health}/readyz");
    let http = Client::new();
    eventually(&format!("/readyz says {status}"), NOTICE_TIMEOUT, async || {
        let answer = http.get(&readyz).send().await.ok()?;
        (answer.status() == status).then_some(())
    })
    .await
}

async fn upload_all(stack: &Stack) -> anyhow::Result<()> {
    let site = stack.site();
    let http = upload_client()?;
    let resume = Bytes::from(pdf(UPLOAD_BYTES));
    let uploads =
        (0..UPLOADS).map(|visitor| upload(&http, &site, &resume, Ipv4Addr::new(203, 0, 113, visitor)));
    try_join_all(uploads).await.map(drop)
}

/// What [`upload`] sends with.
pub fn upload_client() -> anyhow::Result<Client> {
    let client = Client::builder().timeout(UPLOAD_TIMEOUT);
    Ok(client.pool_idle_timeout(POOL_IDLE_TIMEOUT).build()?)
}

/// Sends one application, again and again while it is told to come back later.
pub async fn upload(http: &Client, site: &str, resume: &Bytes, visitor: Ipv4Addr) -> anyhow::Result<()> {
    let url = format!("{site}/api/career-application");
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
            let words = answer.text().await?;
            anyhow::ensure!(status.is_success(), "an upload was answered {status}: {words}");
            return Ok(());
        }
        sleep(UPLOAD_PAUSE).await;
    }
}

/// A file of this size, at least of its head and its end, that is a PDF by its content.
pub fn pdf(bytes: usize) -> Vec<u8> {
    const HEAD: &[u8] = b"%PDF-1.7\n";
    const END: &[u8] = b"\nstartxref\n0\n%%EOF";
    let filling = bytes.saturating_sub(HEAD.len() + END.len());
    let filling: Vec<u8> = (0..filling).map(|n| b"0123456789abcdef"[n * 7 % 16]).collect();
    [HEAD, &filling, END].concat()
}

/// Resident memory of a process: `VmRSS` as it is, `VmHWM` at its peak (proc(5)).
pub fn resident_bytes(part: &ChildProcess, what: &str) -> anyhow::Result<u64> {
    resident_bytes_of(part.running_pid()?, what)
}

/// The same of the process with this id.
pub fn resident_bytes_of(pid: u32, what: &str) -> anyhow::Result<u64> {
    let field = status_field(pid, what)?;
    let kilobytes = field.split_whitespace().next().unwrap_or_default();
    let kilobytes: u64 = kilobytes.parse()?;
    Ok(kilobytes * BYTES_PER_KB)
}

/// Processor time of a process until now, in user and kernel mode, over all its threads (proc(5): fields 14 and 15 of `stat`, in
/// hundredths of a second).
pub fn processor_time(pid: u32) -> anyhow::Result<Duration> {
    let stat = fs::read_to_string(proc_file(pid, "stat"))?;
    // The fields follow the name, which stands in brackets and may hold anything.
    let (_, fields) = stat.rsplit_once(')').context("no name in stat")?;
    let ticks = fields.split_whitespace().skip(11).take(2);
    let ticks: u64 = ticks.map(|field| field.parse().unwrap_or(0)).sum();
    Ok(Duration::from_millis(ticks * 10))
}

/// What a process started itself (proc(5)).
pub fn children(pid: u32) -> anyhow::Result<Vec<u32>> {
    let children = fs::read_to_string(proc_file(pid, &format!("task/{pid}/children")))?;
    let pids = children.split_whitespace().map(str::parse);
    Ok(pids.collect::<Result<_, _>>()?)
}

/// Has the peak of a process begin anew (proc(5)).
pub fn reset_peak(part: &ChildProcess) -> anyhow::Result<()> {
    Ok(fs::write(proc_file(part.running_pid()?, "clear_refs"), "5")?)
}

/// How many threads a process has.
pub fn threads(part: &ChildProcess) -> anyhow::Result<usize> {
    Ok(status_field(part.running_pid()?, "Threads")?.parse()?)
}

fn proc_file(pid: u32, file: &str) -> String {
    format!("/proc/{pid}/{file}")
}
