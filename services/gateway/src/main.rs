//! The ingress: serves the site and its API, and forwards forms over gRPC.

use std::process::ExitCode;

use anyhow::Context;
use gateway::{Service, Settings};
use site_service::{allocator::Jemalloc, drain, settings, telemetry};

#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let settings: Settings = match settings::read() {
        Ok(settings) => settings,
        Err(exit) => return Ok(exit.report()),
    };
    let mut telemetry = telemetry::start(&settings.telemetry, "gateway")?;
    let stop = drain::on_signal().context("signals cannot be listened to")?;
    let service = Service::build(settings).await?;
    telemetry.schedule_first_export();
    service.run(stop).await;
    Ok(ExitCode::SUCCESS)
}
