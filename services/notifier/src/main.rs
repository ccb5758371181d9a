//! Sends the mails that the site's events call for.

use std::process::ExitCode;

use anyhow::Context;
use notifier::{Service, Settings};
use site_service::{drain, settings, telemetry};

#[tokio::main]
async fn main() -> anyhow::Result<ExitCode> {
    let settings: Settings = match settings::read() {
        Ok(settings) => settings,
        Err(stop) => return Ok(stop.report()),
    };
    let _telemetry = telemetry::start(&settings.telemetry, "notifier")?;
    let stop = drain::on_signal().context("signals cannot be listened to")?;
    Service::build(settings).await?.run(stop).await?;
    Ok(ExitCode::SUCCESS)
}
