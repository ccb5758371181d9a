//! Starts the notifier.

use std::process::ExitCode;

use notifier::{Service, Settings};
use site_service::program;

fn main() -> ExitCode {
    let telemetry = |settings: &Settings| settings.telemetry.clone();
    program::run("notifier", telemetry, Service::build, Service::run)
}
