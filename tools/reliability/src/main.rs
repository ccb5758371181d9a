//! `chaos`: runs rows of the table.

use std::{
    io::{Write, stdout},
    process::ExitCode,
    time::Duration,
};

use clap::Parser;
use reliability::{HEAD, Plan, broken_promises, long_elections, row, run, too_slow, until_signal};

/// Makes faults under load, and balances the books: nothing may be lost
#[derive(Parser)]
#[command(name = "chaos")]
struct Cli {
    /// The rows, by name or part of one, a soak by its whole name; without any, one for each fault
    rows: Vec<String>,
    /// What the random choices begin with; without it, another one each time
    #[arg(long)]
    seed: Option<u64>,
    /// Names the rows
    #[arg(long)]
    list: bool,
    /// Seconds after which the broker hands out again what was not acknowledged, where not after production's minute: the
    /// books are balanced sooner
    #[arg(long)]
    ack_wait: Option<u64>,
}

#[tokio::main]
async fn main() -> ExitCode {
    until_signal(chaos(&Cli::parse())).await
}

/// Runs the rows; gives whether the promise held in all of them.
async fn chaos(cli: &Cli) -> anyhow::Result<bool> {
    let mut out = stdout();
    let plans: Vec<Plan> = Plan::all()
        .into_iter()
        .filter(|plan| is_meant(plan, cli))
        .map(|plan| Plan {
            ack_wait: cli.ack_wait.map(Duration::from_secs).or(plan.ack_wait),
            ..plan
        })
        .collect();
    anyhow::ensure!(!plans.is_empty(), "no row has such a name; --list names them");
    if cli.list {
        for plan in plans {
            writeln!(out, "{}", plan.name)?;
        }
        return Ok(true);
    }
    let seed = cli.seed.unwrap_or_else(|| fastrand::u64(..));
    writeln!(out, "seed {seed}\n\n{HEAD}")?;
    let (mut broken, mut elections) = (Vec::new(), Vec::new());
    for plan in &plans {
        let found = match run(plan, seed).await {
            Ok(outcome) => {
                writeln!(out, "{}", row(plan, &outcome))?;
                elections.extend(long_elections(&outcome).map(|what| format!("{}: {what}", plan.name)));
                [broken_promises(plan, &outcome), too_slow(plan, &outcome)].concat()
            }
            Err(error) => {
                writeln!(out, "| {} | {error:#} |", plan.name)?;
                vec![format!("{error:#}")]
            }
        };
        broken.extend(found.into_iter().map(|what| format!("{}: {what}", plan.name)));
    }
    for what in elections.iter().chain(&broken) {
        writeln!(out, "\n{what}")?;
    }
    Ok(broken.is_empty())
}

fn is_meant(plan: &Plan, cli: &Cli) -> bool {
    if cli.rows.is_empty() {
        return cli.list || plan.is_usual();
    }
    cli.rows.iter().any(|row| plan.is_named_by(row))
}
