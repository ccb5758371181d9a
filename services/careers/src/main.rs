//! Careers service: accepts internship applications over gRPC and stores their résumés.

use std::process::ExitCode;

use careers::{Service, Settings};
use site_service::program;

fn main() -> ExitCode {
    let telemetry = |settings: &Settings| settings.telemetry.clone();
    program::run("careers", telemetry, Service::build, Service::run)
}
