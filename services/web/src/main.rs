//! Serves one front end's files.

use std::process::ExitCode;

use site_service::program;
use web::{Service, Settings};

fn main() -> ExitCode {
    let telemetry = |settings: &Settings| settings.telemetry.clone();
    let serve = async |service: Service, stop| {
        service.run(stop).await;
        Ok(())
    };
    program::run("web", telemetry, Service::build, serve)
}
