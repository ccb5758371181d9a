//! The `main` of every service: settings, logs, signals, and the service until it stops.

use std::{future::pending, process::ExitCode};

use anyhow::Context;
use clap::Parser;
use tokio::{runtime::Builder, task::spawn_blocking};

use crate::{
    drain::{self, CancellationToken},
    error_line,
    settings::{self, Exit},
    telemetry::{self, TelemetrySettings},
    tls::restart,
};

/// Threads for files and DNS lookups. More threads would use memory without faster uploads.
const BLOCKING_THREADS: usize = 8;
/// Limit of socket events per tick. Without it, the processes that we call idle until all events are handled.
const SOCKETS_AT_A_TIME: usize = 16;

/// Runs a service on one thread (docs/decisions/0031-services-run-on-one-thread.md). Prints a failure as one
/// line on stderr.
pub fn run<S: Parser, T>(
    name: &'static str,
    telemetry: impl FnOnce(&S) -> TelemetrySettings,
    build: impl AsyncFnOnce(S) -> anyhow::Result<T>,
    serve: impl AsyncFnOnce(T, CancellationToken) -> anyhow::Result<()>,
) -> ExitCode {
    let settings: S = match settings::read() {
        Ok(settings) => settings,
        Err(exit) => return exit.report(),
    };
    match run_with(settings, name, telemetry, build, serve) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{}", error_line(error.as_ref()));
            ExitCode::FAILURE
        }
    }
}

fn run_with<S: Parser, T>(
    settings: S,
    name: &'static str,
    telemetry: impl FnOnce(&S) -> TelemetrySettings,
    build: impl AsyncFnOnce(S) -> anyhow::Result<T>,
    serve: impl AsyncFnOnce(T, CancellationToken) -> anyhow::Result<()>,
) -> anyhow::Result<()> {
    let mut runtime = Builder::new_current_thread();
    runtime
        .enable_all()
        .max_blocking_threads(BLOCKING_THREADS)
        .max_io_events_per_tick(SOCKETS_AT_A_TIME);
    runtime.build()?.block_on(async {
        let mut telemetry = telemetry::start(&telemetry(&settings), name)?;
        let served = async {
            let stop = drain::on_signal().context("signals cannot be listened to")?;
            let service = build(settings).await?;
            telemetry.schedule_first_export();
            tokio::select! {
                served = serve(service, stop.clone()) => served,
                never = stop_for_changed_files::<S>(&stop) => never,
            }
        };
        let served = served.await;
        // The drop blocks on the last export, which needs this thread.
        spawn_blocking(move || drop(telemetry)).await?;
        served
    })
}

/// Stops the process when its TLS files have changed. Never returns.
async fn stop_for_changed_files<S: Parser>(stop: &CancellationToken) -> anyhow::Result<()> {
    restart::is_due(|| match settings::read::<S>() {
        Err(Exit::InvalidSetting(sentence)) => Err(sentence),
        Ok(_) | Err(Exit::Help(_)) => Ok(()),
    })
    .await;
    stop.cancel();
    pending().await
}
