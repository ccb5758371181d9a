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
    /// Names of faults, or parts of them; all by default
    names: Vec<String>,
    /// Seed of the random choices; a new one by default
    #[arg(long)]
    seed: Option<u64>,
    /// Shows the names of the faults; docs/reliability.md describes them
    #[arg(long)]
    list: bool,
    /// Seconds for which faults repeat; by default a fault happens once, and a mix lasts a minute
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

/// A signal drops the future of the runs, which ends their child processes.
async fn until_stopped(cli: &Cli) -> anyhow::Result<bool> {
    let work = drain::on_signal()?.run_until_cancelled(chaos(cli)).await;
    work.context("stopped by a signal")?
}

/// Returns whether every promise was kept.
async fn chaos(cli: &Cli) -> anyhow::Result<bool> {
    let mut runs = Run::all();
    runs.retain(|run| run.is_selected(&cli.names));
    anyhow::ensure!(
        !runs.is_empty(),
        "no fault has such a name; --list shows the names"
    );
    let mut out = stdout();
    if cli.list {
        for run in runs {
            writeln!(out, "{}", run.name)?;
        }
        return Ok(true);
    }
    let seed = cli.seed.unwrap_or_else(|| fastrand::u64(..));
    writeln!(out, "seed {seed}")?;
    let mut all_kept = true;
    for run in runs {
        let seconds = cli.seconds.map(Duration::from_secs);
        let broken = match run.make(seed, seconds).await {
            Ok(outcome) => {
                writeln!(out, "{}: {outcome}", run.name)?;
                outcome.broken
            }
            Err(error) => vec![format!("{}: {error:#}", run.name)],
        };
        for promise in &broken {
            writeln!(out, "  {promise}")?;
        }
        all_kept &= broken.is_empty();
    }
    Ok(all_kept)
}
