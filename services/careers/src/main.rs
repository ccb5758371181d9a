//! Takes internship applications over gRPC and stores their résumés.

use std::process::ExitCode;

use anyhow::Context;
use careers::{Service, Settings};
use site_service::{allocator::Jemalloc, drain, settings, telemetry};

#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
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
