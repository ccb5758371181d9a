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
mod others;
mod pages;
mod peers;
mod report;
mod stacks;
mod upload;
mod wrk;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use site_service::{drain, http::open_files};

use self::{
    accept::AcceptArgs, batches::BatchesArgs, growth::GrowthArgs, pages::PagesArgs, report::Report,
    upload::UploadArgs,
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
    let report = stop.run_until_cancelled(bench(what)).await;
    let report = report.unwrap_or_else(|| Err(anyhow::anyhow!("asked to stop; the bench was cut off")))?;
    report.publish()?;
    Ok(report.holds())
}

async fn bench(what: &What) -> anyhow::Result<Report> {
    let before = others::share_taken().await?;
    let mut report = compare(what).await?;
    report.taken_by_others = others::share_taken().await?.max(before);
    Ok(report)
}

async fn compare(what: &What) -> anyhow::Result<Report> {
    match what {
        What::Accept(args) => accept::accept(args).await,
        What::Pages(args) => pages::pages(args).await,
        What::Upload(args) => upload::upload(args).await,
        What::Growth(args) => growth::growth(args).await,
        What::Batches(args) => batches::batches(args).await,
    }
}
