//! Release builds of ours beside peers that do the same work with the least that it takes, in one run, in turns.
//!
//! Everything runs on this machine, on 127.0.0.1: load, peers, services, broker. `cargo xtask bench` builds and starts it.

mod accept;
mod batches;
mod contender;
mod cpu;
mod fill;
mod growth;
mod h2load;
mod instructions;
mod others;
mod pages;
mod peers;
mod report;
mod stacks;
mod train;
mod turns;
mod upload;
mod wrk;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use site_service::{drain, http::open_files};

use self::{
    accept::AcceptArgs, batches::BatchesArgs, growth::GrowthArgs, instructions::InstructionsArgs,
    pages::PagesArgs, report::Report, upload::UploadArgs,
};

/// Connections of the load, of the contenders and between them.
const OPEN_FILES: usize = 8_192;

/// Compares ours with peers; fails where a bar that holds is missed
#[derive(Parser)]
#[command(name = "bench")]
struct Cli {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Contact forms a second, their latency, and what each costs
    Accept(AcceptArgs),
    /// Pages and scripts a second, beside nginx with the same files
    Pages(PagesArgs),
    /// Résumés of 10 MB, beside a direct PUT to the store
    Upload(UploadArgs),
    /// What is done often, with much stored
    Growth(GrowthArgs),
    /// Events one by one and in the broker's atomic batches, with fsync
    Batches(BatchesArgs),
    /// Instructions and allocations of each path, beside those that are written down
    Instructions(InstructionsArgs),
    /// What visitors do, for programs that record what of them runs: compares nothing
    Train,
}

#[tokio::main]
async fn main() -> ExitCode {
    match bench_until_signal(&Cli::parse().what).await {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

/// Ends with all that was started when it is asked to stop.
async fn bench_until_signal(what: &What) -> anyhow::Result<bool> {
    open_files::allow(OPEN_FILES);
    let stop = drain::on_signal()?;
    let holds = stop.run_until_cancelled(bench(what)).await;
    holds.unwrap_or_else(|| Err(anyhow::anyhow!("asked to stop; the bench was cut off")))
}

async fn bench(what: &What) -> anyhow::Result<bool> {
    match what {
        What::Accept(args) => compare(accept::accept(args)).await,
        What::Pages(args) => compare(pages::pages(args)).await,
        What::Upload(args) => compare(upload::upload(args)).await,
        What::Growth(args) => compare(growth::growth(args)).await,
        What::Batches(args) => compare(batches::batches(args)).await,
        What::Instructions(args) => instructions::instructions(args).await,
        What::Train => train::train().await.map(|()| true),
    }
}

/// What a comparison comes to, and what others took of the machine before and after it.
async fn compare(comparison: impl Future<Output = anyhow::Result<Report>>) -> anyhow::Result<bool> {
    let before = others::share_taken().await?;
    let mut report = comparison.await?;
    report.taken_by_others = others::share_taken().await?.max(before);
    report.publish()?;
    Ok(report.holds())
}
