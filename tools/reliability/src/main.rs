//! `chaos`: makes faults while visitors send forms, then reconciles.

mod books;
mod clocks;
mod faults;
mod holdings;
mod ledger;
mod run;
mod visitors;

use std::{
    io::{Write, stdout},
    process::ExitCode,
    time::Duration,
};

use anyhow::Context;
use clap::Parser;
use site_service::drain;

use run::Run;

/// Makes faults while visitors send forms, then reconciles: nothing may be lost
#[derive(Parser)]
#[command(name = "chaos")]
struct Cli {
    /// The faults, by name or part of it; without any, all
    names: Vec<String>,
    /// What the random choices begin with; without it, another one each time
    #[arg(long)]
    seed: Option<u64>,
    /// Names the faults, and says what each does
    #[arg(long)]
    list: bool,
    /// For how many seconds faults strike again and again; without it, one fault strikes once, and a mix for a minute
    #[arg(long)]
    seconds: Option<u64>,
}

#[tokio::main]
async fn main() -> ExitCode {
    match until_stopped(&Cli::parse()).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Child processes end with this future, which a signal drops.
async fn until_stopped(cli: &Cli) -> anyhow::Result<bool> {
    let work = drain::on_signal()?.run_until_cancelled(chaos(cli)).await;
    work.context("asked to stop")?
}

/// Returns whether every promise held.
async fn chaos(cli: &Cli) -> anyhow::Result<bool> {
    let mut runs = Run::all();
    runs.retain(|run| run.is_meant(&cli.names));
    anyhow::ensure!(!runs.is_empty(), "no fault has such a name; --list names them");
    let mut out = stdout();
    if cli.list {
        for run in runs {
            writeln!(out, "{:<26}{}", run.name, run.what)?;
        }
        return Ok(true);
    }
    let seed = cli.seed.unwrap_or_else(|| fastrand::u64(..));
    writeln!(out, "seed {seed}")?;
    let mut all_held = true;
    for run in runs {
        let seconds = cli.seconds.map(Duration::from_secs);
        let broken = match run.make(seed, seconds).await {
            Ok(outcome) => {
                writeln!(out, "{}: {outcome}", run.name)?;
                outcome.broken
            }
            Err(error) => vec![format!("{}: {error:#}", run.name)],
        };
        for what in &broken {
            writeln!(out, "  {what}")?;
        }
        all_held &= broken.is_empty();
    }
    Ok(all_held)
}
