//! Accepts contact messages over gRPC and publishes them as events.

use std::process::ExitCode;

use contact::{Service, Settings};
use site_service::program;

fn main() -> ExitCode {
    let telemetry = |settings: &Settings| settings.telemetry.clone();
    program::run("contact", telemetry, Service::build, Service::run)
}
