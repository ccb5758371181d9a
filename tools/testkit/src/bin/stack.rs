//! Runs the whole stack: for a person (`up`), for a command (`run`), or to measure its memory (`measure memory`).

use std::{
    fs,
    io::{Write, stdout},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::Context;
use clap::{Args, Parser, Subcommand};
use site_service::drain;
use testkit::{Broker, Hosting, Mail, Ports, Shape, Stack, measure, root};
use tokio::{process::Command, time::sleep};

/// Interval of the check whether the parts still run.
const WATCH: Duration = Duration::from_millis(500);
const MEGABYTE: f64 = 1_000_000.0;
const IDLE_BUDGET_MB: f64 = 22.0;
/// The gateway reads up to 320 KiB of each upload that waits for a place.
const PEAK_BUDGET_MB: f64 = 64.0;

/// Runs the whole stack on 127.0.0.1
#[derive(Parser)]
enum Cli {
    /// Starts everything and shows where it runs, until Ctrl-C
    Up {
        #[command(flatten)]
        ports: Ports,
        #[command(flatten)]
        options: Options,
        /// File for the addresses and local credentials
        #[arg(long, env = "STACK_FILE", default_value_os_t = root().join("target/stack.json"))]
        file: PathBuf,
    },
    /// Starts everything on free ports, runs a command (STACK_FILE names the file with the addresses), and stops everything
    Run {
        #[command(flatten)]
        options: Options,
        /// The command and its arguments
        #[arg(required = true, trailing_var_arg = true)]
        command: Vec<String>,
    },
    /// Measures the running stack; fails if a budget is exceeded
    #[command(subcommand)]
    Measure(Measure),
}

#[derive(Subcommand)]
enum Measure {
    /// Memory idle and during 100 simultaneous uploads of 10 MB
    Memory,
}

#[derive(Args)]
struct Options {
    /// Who serves the front ends
    #[arg(long, value_enum, default_value_t)]
    hosting: Hosting,
    /// Servers of the broker
    #[arg(long, value_enum, default_value_t)]
    broker: Broker,
    /// Starts a viewer of traces, which gets those of every service
    #[arg(long)]
    observe: bool,
}

impl Options {
    fn shape(&self) -> Shape {
        Shape {
            hosting: self.hosting,
            broker: self.broker,
            observe: self.observe,
            mail: Mail::Inbox,
            ..Shape::USUAL
        }
    }
}

#[tokio::main]
async fn main() -> ExitCode {
    let done = match Cli::parse() {
        Cli::Up { ports, options, file } => up(options.shape(), ports, &file).await,
        Cli::Run { options, command } => run(options.shape(), &command).await,
        Cli::Measure(Measure::Memory) => memory().await,
    };
    done.unwrap_or_else(|error| {
        eprintln!("{error:#}");
        ExitCode::FAILURE
    })
}

async fn up(shape: Shape, ports: Ports, file: &Path) -> anyhow::Result<ExitCode> {
    let stop = drain::on_signal()?;
    let starting = Stack::start_as(shape, ports, &[]);
    let Some(stack) = stop.run_until_cancelled(starting).await else {
        return Ok(ExitCode::SUCCESS);
    };
    let mut stack = stack?;
    write_file(&stack, file)?;
    show(&stack, shape, file)?;
    let mut ended = None;
    while ended.is_none() && stop.run_until_cancelled(sleep(WATCH)).await.is_some() {
        ended = stack.ended();
    }
    fs::remove_file(file)?;
    if let Some(ended) = ended {
        anyhow::bail!("{ended}\nStart everything again with: cargo xtask up");
    }
    writeln!(stdout(), "\n  Stopping …")?;
    stack.stop().await?;
    Ok(ExitCode::SUCCESS)
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
    let status = status
        .context("stopped by a signal")?
        .with_context(|| program.clone())?;
    if !status.success() {
        // The stack's folder stays, with its logs.
        eprintln!("logs: {}", stack.logs().display());
        return Ok(ExitCode::FAILURE);
    }
    stack.stop().await?;
    Ok(ExitCode::SUCCESS)
}

async fn memory() -> anyhow::Result<ExitCode> {
    let stack = Stack::start(Ports::free()?, &[]).await?;
    let mut within = true;
    let mut out = stdout();
    writeln!(out, "| service | idle MB | peak above idle MB |\n|---|---:|---:|")?;
    for measured in measure::memory(&stack).await? {
        let idle = measured.idle as f64 / MEGABYTE;
        let above = measured.peak.saturating_sub(measured.idle) as f64 / MEGABYTE;
        within &= idle <= IDLE_BUDGET_MB && above <= PEAK_BUDGET_MB;
        writeln!(out, "| {} | {idle:.1} | {above:.1} |", measured.service)?;
    }
    writeln!(
        out,
        "budget: idle {IDLE_BUDGET_MB} MB, peak {PEAK_BUDGET_MB} MB above idle"
    )?;
    stack.stop().await?;
    Ok(if within {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

fn write_file(stack: &Stack, file: &Path) -> anyhow::Result<()> {
    let info = serde_json::to_string_pretty(&stack.info())?;
    fs::write(file, info).with_context(|| format!("{} cannot be written", file.display()))
}

fn show(stack: &Stack, shape: Shape, file: &Path) -> anyhow::Result<()> {
    let ports = stack.ports();
    let local = |path: &Path| path.strip_prefix(root()).unwrap_or(path).display().to_string();
    let page = |port: u16| format!("http://localhost:{port}");
    let Ports {
        contact,
        newsletter,
        careers,
        ..
    } = ports;
    let mut rows = vec![
        ("site", page(ports.site)),
        (
            "inbox",
            format!("{}   SMTP 127.0.0.1:{}", page(ports.inbox), ports.smtp),
        ),
        ("webhooks", page(ports.hooks)),
        ("NATS", stack.nats.url()),
        ("S3", stack.s3.url()),
        (
            "gRPC",
            format!("contact {contact}  newsletter {newsletter}  careers {careers}"),
        ),
        ("credentials", local(file)),
        ("logs", local(stack.logs())),
    ];
    if shape.observe {
        let (traces, otlp) = (page(ports.traces), ports.otlp);
        rows.push(("traces", format!("{traces}   OTLP 127.0.0.1:{otlp}")));
    }
    let mut out = stdout();
    writeln!(out, "\n  Everything runs. Ctrl-C stops all of it.\n")?;
    for (name, value) in rows {
        writeln!(out, "  {name:<12} {value}")?;
    }
    Ok(writeln!(out)?)
}
