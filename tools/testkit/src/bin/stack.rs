//! Runs the whole stack: for a person to try (`up`), for a command to use (`run`), to be
//! measured (`measure`).

use std::{
    fs,
    io::{Write, stdout},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::Context;
use clap::{Parser, Subcommand, ValueEnum};
use site_service::drain;
use testkit::{Hosting, Ports, Shape, Stack, measure, root};
use tokio::{process::Command, time::sleep};

/// How often the parts are asked whether they still run.
const WATCH: Duration = Duration::from_millis(500);
/// What runs in production, the front ends' servers among it.
const CLUSTER: Shape = Shape {
    hosting: Hosting::Cluster,
    ..Shape::USUAL
};
const MEGABYTE: f64 = 1_000_000.0;
const IDLE_BUDGET_MB: f64 = 22.0;
/// The gateway reads up to 320 KiB of each upload that waits for a place.
const PEAK_BUDGET_MB: f64 = 64.0;
const START_BUDGET: Duration = Duration::from_millis(300);
const AT_REST_BUDGET_MB: f64 = 25.0;
const PROGRAM_BUDGET_MB: f64 = 25.0;
const MIN_TELEMETRY_RATIO: f64 = 0.9;
const NOTICE_BUDGET: Duration = Duration::from_secs(5);

/// Runs the whole stack on 127.0.0.1
#[derive(Parser)]
struct Cli {
    #[command(subcommand)]
    command: Task,
}

#[derive(Subcommand)]
enum Task {
    /// Starts everything and shows where it runs, until Ctrl-C
    Up(Box<Up>),
    /// Starts everything on free ports, runs a command against it (STACK_FILE names the
    /// file with the addresses), and stops everything
    Run {
        #[command(flatten)]
        shape: Shape,
        /// The command and its arguments
        #[arg(required = true, trailing_var_arg = true)]
        command: Vec<String>,
    },
    /// Measures the running stack; fails where a budget is exceeded
    Measure {
        /// What to measure
        what: Measure,
    },
}

#[derive(clap::Args)]
struct Up {
    #[command(flatten)]
    ports: Ports,
    #[command(flatten)]
    shape: Shape,
    /// Where the addresses and local credentials are written
    #[arg(long, env = "STACK_FILE", default_value_os_t = root().join("target/stack.json"))]
    file: PathBuf,
}

#[derive(Clone, Copy, ValueEnum)]
enum Measure {
    /// Memory idle and during 100 simultaneous uploads of 10 MB
    Memory,
    /// How fast /readyz notices that NATS goes and comes
    Readiness,
    /// From start to ready, memory at rest and size of each service
    Services,
    /// Accepted forms a second, with telemetry and without
    Telemetry,
}

#[tokio::main]
async fn main() -> ExitCode {
    let done = match Cli::parse().command {
        Task::Up(up) => self::up(&up).await,
        Task::Run { shape, command } => run(shape, &command).await,
        Task::Measure { what } => measure(what).await,
    };
    done.unwrap_or_else(|error| {
        eprintln!("{error:#}");
        ExitCode::FAILURE
    })
}

async fn up(up: &Up) -> anyhow::Result<ExitCode> {
    let stop = drain::on_signal()?;
    let starting = Stack::start_as(up.shape, up.ports.clone(), &[]);
    let Some(stack) = stop.run_until_cancelled(starting).await else {
        return Ok(ExitCode::SUCCESS);
    };
    let mut stack = stack?;
    write_file(&stack, &up.file)?;
    show(&stack, &up.file)?;
    let ended = loop {
        if stop.run_until_cancelled(sleep(WATCH)).await.is_none() {
            break None;
        }
        if let Some(ended) = stack.ended() {
            break Some(ended);
        }
    };
    writeln!(stdout(), "\n  Stopping …")?;
    fs::remove_file(&up.file)?;
    stack.stop().await?;
    match ended {
        None => Ok(ExitCode::SUCCESS),
        Some(ended) => anyhow::bail!("{ended}\nEverything was stopped; start it again with: cargo xtask up"),
    }
}

async fn run(shape: Shape, command: &[String]) -> anyhow::Result<ExitCode> {
    let stop = drain::on_signal()?;
    let stack = Stack::start_as(shape, Ports::free()?, &[]).await?;
    let file = stack.logs().with_file_name("stack.json");
    write_file(&stack, &file)?;
    let (program, arguments) = command.split_first().context("no command")?;
    let mut child = Command::new(program);
    child.args(arguments).env("STACK_FILE", &file).kill_on_drop(true);
    let status = stop.run_until_cancelled(child.status()).await;
    stack.stop().await?;
    let status = status
        .context("stopped by a signal")?
        .with_context(|| program.clone())?;
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

async fn measure(what: Measure) -> anyhow::Result<ExitCode> {
    let within_budget = match what {
        Measure::Memory => on_stack(Shape::default(), memory).await?,
        Measure::Readiness => on_stack(Shape::default(), readiness).await?,
        Measure::Services => on_stack(CLUSTER, services).await?,
        Measure::Telemetry => telemetry().await?,
    };
    Ok(if within_budget {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

async fn on_stack(
    shape: Shape,
    measure: impl AsyncFnOnce(&mut Stack) -> anyhow::Result<bool>,
) -> anyhow::Result<bool> {
    let mut stack = Stack::start_as(shape, Ports::free()?, &[]).await?;
    let within_budget = measure(&mut stack).await?;
    stack.stop().await?;
    Ok(within_budget)
}

async fn telemetry() -> anyhow::Result<bool> {
    let accepted = measure::telemetry().await?;
    let share = accepted.observed_per_second / accepted.plain_per_second;
    writeln!(
        stdout(),
        "| forms a second | with telemetry | share |\n|---:|---:|---:|\n| {:.0} | {:.0} | {:.0} % |\nbudget: {:.0} %",
        accepted.plain_per_second,
        accepted.observed_per_second,
        share * 100.0,
        MIN_TELEMETRY_RATIO * 100.0
    )?;
    Ok(share >= MIN_TELEMETRY_RATIO)
}

async fn memory(stack: &mut Stack) -> anyhow::Result<bool> {
    let mut within = true;
    let mut out = stdout();
    writeln!(out, "| service | idle MB | peak above idle MB |\n|---|---:|---:|")?;
    for measured in measure::memory(stack).await? {
        let idle = measured.idle_bytes as f64 / MEGABYTE;
        let above = measured.peak_bytes.saturating_sub(measured.idle_bytes) as f64 / MEGABYTE;
        within &= idle <= IDLE_BUDGET_MB && above <= PEAK_BUDGET_MB;
        writeln!(out, "| {} | {idle:.1} | {above:.1} |", measured.service)?;
    }
    writeln!(
        out,
        "budget: idle {IDLE_BUDGET_MB} MB, peak {PEAK_BUDGET_MB} MB above idle"
    )?;
    Ok(within)
}

async fn readiness(stack: &mut Stack) -> anyhow::Result<bool> {
    let noticed = measure::readiness(stack).await?;
    writeln!(
        stdout(),
        "| NATS | /readyz after |\n|---|---:|\n| goes away | 503 after {:.2} s |\n| is back | 200 after {:.2} s |\nbudget: {} s each",
        noticed.away.as_secs_f64(),
        noticed.back.as_secs_f64(),
        NOTICE_BUDGET.as_secs(),
    )?;
    Ok(noticed.away <= NOTICE_BUDGET && noticed.back <= NOTICE_BUDGET)
}

async fn services(stack: &mut Stack) -> anyhow::Result<bool> {
    let mut within = true;
    let mut out = stdout();
    writeln!(
        out,
        "| service | ready after ms | idle MB | program MB |\n|---|---:|---:|---:|"
    )?;
    for measured in measure::footprints(stack).await? {
        let (idle, binary) = (
            measured.idle_bytes as f64 / MEGABYTE,
            measured.binary_bytes as f64 / MEGABYTE,
        );
        within &= measured.start <= START_BUDGET && idle <= AT_REST_BUDGET_MB && binary <= PROGRAM_BUDGET_MB;
        let start = measured.start.as_millis();
        writeln!(
            out,
            "| {} | {start} | {idle:.1} | {binary:.1} |",
            measured.service
        )?;
    }
    writeln!(
        out,
        "budget: {} ms, {AT_REST_BUDGET_MB} MB, {PROGRAM_BUDGET_MB} MB",
        START_BUDGET.as_millis()
    )?;
    Ok(within)
}

fn write_file(stack: &Stack, file: &Path) -> anyhow::Result<()> {
    let info = serde_json::to_string_pretty(&stack.info())?;
    fs::write(file, info).with_context(|| format!("{} cannot be written", file.display()))
}

fn show(stack: &Stack, file: &Path) -> anyhow::Result<()> {
    let ports = stack.ports();
    let local = |path: &Path| path.strip_prefix(root()).unwrap_or(path).display().to_string();
    let inbox = match stack.inbox() {
        Ok(inbox) => format!("{}   SMTP 127.0.0.1:{}", inbox.url(), ports.smtp),
        Err(_) => format!("SMTP 127.0.0.1:{}", ports.smtp),
    };
    let rows = [
        ("site", format!("http://localhost:{}", ports.site)),
        ("inbox", inbox),
        (
            "webhooks",
            format!("http://localhost:{}   what sales' tools get", ports.hooks),
        ),
        ("NATS", stack.nats.url()),
        ("S3", stack.s3.url()),
        (
            "gRPC",
            format!(
                "contact {}  newsletter {}  careers {}  notifier {}",
                ports.contact, ports.newsletter, ports.careers, ports.notifier
            ),
        ),
        ("credentials", local(file)),
        ("logs", local(stack.logs())),
    ];
    let traces = stack.viewer.as_ref().map(|_| {
        let (page, otlp) = (ports.traces, ports.otlp);
        (
            "traces",
            format!("http://localhost:{page}   OTLP 127.0.0.1:{otlp}"),
        )
    });
    let mut out = stdout();
    writeln!(out, "\n  Everything runs. Ctrl-C stops all of it.\n")?;
    for (name, value) in rows.into_iter().chain(traces) {
        writeln!(out, "  {name:<12} {value}")?;
    }
    Ok(writeln!(out)?)
}
