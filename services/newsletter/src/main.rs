//! Takes newsletter sign-ups over gRPC and keeps the subscribers.

use std::process::ExitCode;

use newsletter::{Service, Settings};
use site_service::program;

fn main() -> ExitCode {
    let telemetry = |settings: &Settings| settings.telemetry.clone();
    program::run("newsletter", telemetry, Service::build, Service::run)
}
