//! Takes internship applications over gRPC and stores their résumés.

use std::process::ExitCode;

use anyhow::Context;
use careers::{Service, Settings};
use site_service::{allocator::Jemalloc, drain, settings, telemetry};
use tokio::runtime::Builder;

#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// Threads for work on files. More of them hold memory and store no résumé sooner; and each that was ever started stays, as
/// the work goes round.
const FILE_THREADS: usize = 8;

fn main() -> anyhow::Result<ExitCode> {
    let mut runtime = Builder::new_multi_thread();
    runtime.enable_all().max_blocking_threads(FILE_THREADS);
    runtime.build()?.block_on(run())
}

async fn run() -> anyhow::Result<ExitCode> {
    let settings: Settings = match settings::read() {
        Ok(settings) => settings,
        Err(exit) => return Ok(exit.report()),
    };
    let mut telemetry = telemetry::start(&settings.telemetry, "careers")?;
    let stop = drain::on_signal().context("signals cannot be listened to")?;
    let service = Service::build(settings).await?;
    telemetry.schedule_first_export();
    service.run(stop).await?;
    Ok(ExitCode::SUCCESS)
}
