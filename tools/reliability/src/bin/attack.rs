//! `attack`: attacks the site, and tells what an honest visitor notices.

use std::{
    io::{Write, stdout},
    process::ExitCode,
    time::Duration,
};

use clap::{Parser, ValueEnum};
use reliability::{
    attacks::{Attack, HEAD, broken_bars, row, run},
    until_signal,
};
use site_service::http::open_files;

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
    open_files::allow(OPEN_FILES);
    until_signal(attack(&Cli::parse())).await
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
