//! Ingress: serves the site and its API, and forwards forms over gRPC.

use std::process::ExitCode;

use gateway::{Service, Settings};
use site_service::program;

fn main() -> ExitCode {
    let telemetry = |settings: &Settings| settings.telemetry.clone();
    let serve = async |service: Service, stop| {
        service.run(stop).await;
        Ok(())
    };
    program::run("gateway", telemetry, Service::build, serve)
}
