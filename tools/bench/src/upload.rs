//! `bench upload`: résumés through the gateway and the careers service into the store, beside a direct PUT.

use std::{fs, net::Ipv4Addr, path::Path, time::Duration};

use bytes::Bytes;
use clap::Args;
use reqwest::Client;
use resumes::{ResumeKey, ResumeStore};
use serde::Serialize;
use testkit::{
    ChildProcess, Hosting, Keep, Mail, Ports, Shape, Stack,
    measure::{pdf, reset_peak, resident_bytes, upload as send_application, upload_client},
};
use tokio::{task::JoinSet, time::Instant};

use crate::{
    cpu::{self, CpuMeter, PerProcess},
    report::{self, Bar, Report, percent},
    turns::{middle, percentile},
};

const SHARED: &str = "Load, gateway, careers service, store and broker share this machine's cores and disk, in turns of one run; \
figures are medians of the turns. The store is an S3 server over a folder, in the same process as the load. A direct PUT is what \
careers does itself at the end: aws-sdk-s3, of a file with known length. The gateway reads ten uploads at once, as shipped, and \
has others wait. Latency is from the first byte to the answer, waiting included. Peak MB is the most of a process's memory that was resident in a turn.";
const BYTES_PER_MB: usize = 1_000_000;
/// How many are sent in a turn: at least, and for each of those at once.
const LEAST_UPLOADS: u32 = 20;
const UPLOADS_EACH: u32 = 3;
/// The first address of a visitor.
const VISITORS: Ipv4Addr = Ipv4Addr::new(10, 0, 0, 0);
/// The least share of the rate of a direct PUT.
const LEAST_SHARE: f64 = 0.5;
const COLUMNS: [&str; 9] = [
    "at once",
    "way",
    "uploads/s",
    "MB/s",
    "of a PUT",
    "p50 ms",
    "p99 ms",
    "CPU µs an upload",
    "peak MB",
];

/// What is compared, and for how long.
#[derive(Args)]
pub struct UploadArgs {
    /// How many are sent at once
    #[arg(long, value_delimiter = ',', default_value = "1,8,64")]
    at_once: Vec<u32>,
    /// How many megabytes a résumé has
    #[arg(long, default_value_t = 10)]
    megabytes: usize,
    /// How often each way has its turn
    #[arg(long, default_value_t = 3)]
    turns: u32,
}

/// Compares, in turns.
///
/// # Errors
///
/// If something does not start, or an upload is not stored.
pub async fn upload(args: &UploadArgs) -> anyhow::Result<Report> {
    let shape = Shape {
        hosting: Hosting::Nobody,
        mail: Mail::Scripted,
        keep: Keep::Identity,
        ..Shape::USUAL
    };
    let mut stack = Stack::start_as(shape, Ports::free()?, &[]).await?;
    // It would read what was stored while the next turn goes on.
    stack.stop_service("notifier").await?;
    let mut sender = Sender::new(&stack, args.megabytes)?;
    let mut rows = Vec::new();
    for at_once in &args.at_once {
        let (mut puts, mut applications) = (Vec::new(), Vec::new());
        for _ in 0..args.turns {
            puts.push(sender.turn(&stack, Way::Put, *at_once).await?);
            applications.push(sender.turn(&stack, Way::Site, *at_once).await?);
        }
        let put = Measured::of(args, *at_once, Way::Put, &puts, None);
        let site = Measured::of(args, *at_once, Way::Site, &applications, Some(&put));
        rows.extend([put, site]);
    }
    drop(sender);
    stack.stop().await?;
    Ok(Report::of("upload", SHARED, &COLUMNS, &rows))
}

/// How a résumé gets into the store.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    /// By a PUT to the store.
    Put,
    /// As an application, through the gateway and the careers service.
    Site,
}

impl Way {
    fn name(self) -> &'static str {
        match self {
            Self::Put => "direct PUT",
            Self::Site => "ours",
        }
    }
}

/// Sends résumés either way.
#[derive(Clone)]
struct Sender {
    http: Client,
    site: String,
    store: ResumeStore,
    resume: Bytes,
    file: std::path::PathBuf,
    /// The address of the next visitor, so that no limit of one is met.
    visitor: u32,
}

/// What was seen in one turn.
struct Turn {
    uploads_per_second: f64,
    /// The quickest first.
    latencies: Vec<Duration>,
    cpu: PerProcess,
    peak_mb: PerProcess,
}

impl Sender {
    fn new(stack: &Stack, megabytes: usize) -> anyhow::Result<Self> {
        let resume = Bytes::from(pdf(megabytes * BYTES_PER_MB));
        let file = stack.logs().with_file_name("resume.pdf");
        fs::write(&file, &resume)?;
        Ok(Self {
            http: upload_client()?,
            site: stack.site(),
            store: ResumeStore::new(&stack.s3.settings()?),
            resume,
            file,
            visitor: VISITORS.to_bits(),
        })
    }

    async fn turn(&mut self, stack: &Stack, way: Way, at_once: u32) -> anyhow::Result<Turn> {
        let count = LEAST_UPLOADS.max(at_once * UPLOADS_EACH);
        let processes = match way {
            Way::Put => Vec::new(),
            Way::Site => vec![
                stack.service("gateway")?,
                stack.service("careers")?,
                stack.nats.process()?,
            ],
        };
        processes.iter().try_for_each(|process| reset_peak(process))?;
        let meter = CpuMeter::start(&processes)?.and_own()?;
        let begun = Instant::now();
        let mut senders = JoinSet::new();
        for number in 0..at_once {
            let share = count / at_once + u32::from(number < count % at_once);
            senders.spawn(self.clone().send(way, self.visitor, share));
            self.visitor += share;
        }
        let mut latencies = Vec::new();
        while let Some(sent) = senders.join_next().await {
            latencies.extend(sent??);
        }
        let lasted = begun.elapsed();
        latencies.sort_unstable();
        let turn = Turn {
            uploads_per_second: f64::from(count) / lasted.as_secs_f64(),
            cpu: meter.per(u64::from(count))?,
            peak_mb: peaks(&processes)?,
            latencies,
        };
        empty(&stack.logs().with_file_name("s3"))?;
        Ok(turn)
    }

    /// One after the other, each of another visitor.
    async fn send(self, way: Way, first: u32, count: u32) -> anyhow::Result<Vec<Duration>> {
        let mut latencies = Vec::new();
        for visitor in first..first + count {
            let begun = Instant::now();
            match way {
                Way::Put => {
                    let key = ResumeKey::known(format!("resumes/{visitor}/resume.pdf"));
                    self.store.put(&key, &self.file, "application/pdf").await?;
                }
                Way::Site => {
                    let visitor = Ipv4Addr::from_bits(visitor);
                    send_application(&self.http, &self.site, &self.resume, visitor).await?;
                }
            }
            latencies.push(begun.elapsed());
        }
        Ok(latencies)
    }
}

fn peaks(processes: &[&ChildProcess]) -> anyhow::Result<PerProcess> {
    let peak = |process: &&ChildProcess| {
        let bytes = resident_bytes(process, "VmHWM")?;
        Ok((process.name().to_owned(), bytes as f64 / 1e6))
    };
    processes.iter().map(peak).collect()
}

/// Removes what a turn stored, or the disk would be full of it.
fn empty(store: &Path) -> anyhow::Result<()> {
    for bucket in fs::read_dir(store)? {
        let bucket = bucket?.path();
        if !bucket.is_dir() {
            continue;
        }
        for stored in fs::read_dir(bucket)? {
            let stored = stored?.path();
            if stored.is_dir() {
                fs::remove_dir_all(stored)?;
            } else {
                fs::remove_file(stored)?;
            }
        }
    }
    Ok(())
}

/// What was reached with so many at once: medians of the turns.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Measured {
    at_once: u32,
    megabytes: usize,
    way: &'static str,
    uploads_per_second: f64,
    share: Option<f64>,
    p50_ms: f64,
    p99_ms: f64,
    cpu_micros: PerProcess,
    peak_mb: PerProcess,
}

impl Measured {
    fn of(args: &UploadArgs, at_once: u32, way: Way, turns: &[Turn], base: Option<&Self>) -> Self {
        let uploads_per_second = middle(turns, |turn| turn.uploads_per_second);
        let latency = |share| {
            middle(turns, |turn| {
                percentile(&turn.latencies, share).as_secs_f64() * 1e3
            })
        };
        Self {
            at_once,
            megabytes: args.megabytes,
            way: way.name(),
            uploads_per_second,
            share: base.map(|base| uploads_per_second / base.uploads_per_second),
            p50_ms: latency(0.5),
            p99_ms: latency(0.99),
            cpu_micros: cpu::medians(turns.iter().map(|turn| &turn.cpu)),
            peak_mb: cpu::medians(turns.iter().map(|turn| &turn.peak_mb)),
        }
    }
}

impl report::Measured for Measured {
    fn cells(&self) -> Vec<String> {
        let megabytes = self.uploads_per_second * self.megabytes as f64;
        vec![
            self.at_once.to_string(),
            self.way.to_owned(),
            format!("{:.1}", self.uploads_per_second),
            format!("{megabytes:.0}"),
            percent(self.share),
            format!("{:.0}", self.p50_ms),
            format!("{:.0}", self.p99_ms),
            cpu::cell(&self.cpu_micros),
            cpu::cell(&self.peak_mb),
        ]
    }

    fn bar(&self) -> Option<Bar> {
        Some(Bar {
            what: format!("{} of a direct PUT, {} at once", self.way, self.at_once),
            seen: self.share?,
            least: LEAST_SHARE,
        })
    }
}
