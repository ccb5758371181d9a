//! `attack`: attacks the site, and tells what an honest visitor notices.

use std::{
    io::{Write, stdout},
    process::ExitCode,
    time::Duration,
};

use clap::{Parser, ValueEnum};
use reliability::attacks::{Attack, HEAD, broken_bars, row, run};
use site_service::{drain, http::open_files};

/// Connections of the attackers, and what else is open here.
const OPEN_FILES: usize = 4_096;

/// Attacks a stack of its own, and fails where an honest visitor notices
#[derive(Parser)]
#[command(name = "attack")]
struct Cli {
    /// Which attacks; without any, all
    attacks: Vec<Attack>,
    /// How many seconds each lasts
    #[arg(long, default_value_t = 30)]
    seconds: u64,
}

#[tokio::main]
async fn main() -> ExitCode {
    match attack_until_signal(&Cli::parse()).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Ends with all that was started when it is asked to stop.
async fn attack_until_signal(cli: &Cli) -> anyhow::Result<bool> {
    open_files::allow(OPEN_FILES);
    let stop = drain::on_signal()?;
    let attacked = stop.run_until_cancelled(attack(cli)).await;
    attacked.unwrap_or_else(|| Err(anyhow::anyhow!("asked to stop; the attack was cut off")))
}

/// Makes the attacks; gives whether every bar held.
async fn attack(cli: &Cli) -> anyhow::Result<bool> {
    let attacks = match cli.attacks.as_slice() {
        [] => Attack::value_variants(),
        named => named,
    };
    let seen = run(attacks, Duration::from_secs(cli.seconds)).await?;
    let mut out = stdout();
    writeln!(out, "{HEAD}")?;
    for seen in &seen {
        writeln!(out, "{}", row(seen))?;
    }
    let broken = broken_bars(&seen);
    for what in &broken {
        writeln!(out, "\n{what}")?;
    }
    Ok(broken.is_empty())
}
