//! Runs the whole stack: for a person (`up`), or for a command (`run`).

use std::{
    fs,
    io::{Write, stdout},
    path::{Path, PathBuf},
    process::ExitCode,
    time::Duration,
};

use anyhow::Context;
use clap::Parser;
use site_service::drain;
use testkit::{Ports, Shape, Stack, root};
use tokio::{process::Command, time::sleep};

const WATCH: Duration = Duration::from_millis(500);

/// Runs the whole stack on 127.0.0.1
#[derive(Parser)]
enum Cli {
    /// Starts everything, prints the addresses, and runs until Ctrl-C
    Up {
        #[command(flatten)]
        ports: Ports,
        #[command(flatten)]
        shape: Shape,
        /// File for the addresses and local credentials
        #[arg(long, env = "STACK_FILE", default_value_os_t = root().join("target/stack.json"))]
        file: PathBuf,
    },
    /// Starts everything on free ports, runs a command (STACK_FILE names the file with the addresses), and stops everything
    Run {
        #[command(flatten)]
        shape: Shape,
        /// The command and its arguments
        #[arg(required = true, trailing_var_arg = true)]
        command: Vec<String>,
    },
    /// Serves a folder by the S3 API at port 9000, as versitygw: `posix <folder>`
    S3 {
        #[arg(value_parser = ["posix"])]
        kind: String,
        /// Its subfolders are the buckets
        folder: PathBuf,
        #[arg(long, env = "ROOT_ACCESS_KEY_ID")]
        user: String,
        #[arg(long, env = "ROOT_SECRET_ACCESS_KEY")]
        secret: String,
    },
}

fn with_inbox(shape: Shape) -> Shape {
    Shape { inbox: true, ..shape }
}

#[tokio::main]
async fn main() -> ExitCode {
    let done = match Cli::parse() {
        Cli::Up { ports, shape, file } => up(with_inbox(shape), ports, &file).await,
        Cli::Run { shape, command } => run(with_inbox(shape), &command).await,
        Cli::S3 {
            folder, user, secret, ..
        } => testkit::serve_folder(&folder, &user, &secret)
            .await
            .map(|()| ExitCode::SUCCESS),
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
    let file = stack.logs.with_file_name("stack.json");
    write_file(&stack, &file)?;
    let (program, arguments) = command.split_first().context("no command")?;
    let mut child = Command::new(program);
    child.args(arguments).env("STACK_FILE", &file).kill_on_drop(true);
    let status = stop.run_until_cancelled(child.status()).await;
    let status = status
        .context("stopped by a signal")?
        .with_context(|| program.clone())?;
    if !status.success() {
        // The stack's folder with the logs is kept.
        eprintln!("logs: {}", stack.logs.display());
        return Ok(ExitCode::FAILURE);
    }
    stack.stop().await?;
    Ok(ExitCode::SUCCESS)
}

fn write_file(stack: &Stack, file: &Path) -> anyhow::Result<()> {
    let info = serde_json::to_string_pretty(&stack.info())?;
    fs::write(file, info).with_context(|| format!("{} cannot be written", file.display()))
}

fn show(stack: &Stack, shape: Shape, file: &Path) -> anyhow::Result<()> {
    let ports = &stack.ports;
    let local = |path: &Path| path.strip_prefix(root()).unwrap_or(path).display().to_string();
    let page = |port: u16| format!("http://localhost:{port}");
    let mut rows = vec![
        ("site", page(ports.site)),
        (
            "inbox",
            format!("{}   SMTP 127.0.0.1:{}", page(ports.inbox), ports.smtp),
        ),
        ("webhooks", page(ports.hooks)),
        ("NATS", stack.nats.url()),
        ("S3", stack.s3.url()),
        ("credentials", local(file)),
        ("logs", local(&stack.logs)),
    ];
    if shape.observe {
        rows.push(("traces", page(ports.traces)));
    }
    let mut out = stdout();
    writeln!(out, "\n  Everything runs. Ctrl-C stops all of it.\n")?;
    for (name, value) in rows {
        writeln!(out, "  {name:<12} {value}")?;
    }
    Ok(writeln!(out)?)
}
