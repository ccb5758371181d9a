//! Serves one front end's files.

use std::process::ExitCode;

use anyhow::Context;
use site_service::{drain, settings, telemetry};
use web::{Service, Settings};

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let settings: Settings = match settings::read() {
        Ok(settings) => settings,
        Err(exit) => return Ok(exit.report()),
    };
    let mut telemetry = telemetry::start(&settings.telemetry, "web")?;
    let stop = drain::on_signal().context("signals cannot be listened to")?;
    let service = Service::build(settings).await?;
    telemetry.schedule_first_export();
    service.run(stop).await;
    Ok(ExitCode::SUCCESS)
}
