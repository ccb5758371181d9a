//! The gateway and the service behind it, on one thread.

use std::net::SocketAddr;

use anyhow::Context;
use clap::{Args, Parser};
use site_service::{
    drain::CancellationToken,
    telemetry::{self, TelemetrySettings},
};
use tokio::runtime::Builder;

use crate::{driver::Driver, window::counted_window};

/// The gateway, and what it needs.
#[derive(Args)]
pub struct Site {
    /// Where the bench listens
    driver: SocketAddr,
    /// Settings of the service behind the gateway; where there is none, of the gateway
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    flags: Vec<String>,
}

/// Logs as they are by default.
#[derive(Parser)]
struct Logs {
    #[command(flatten)]
    telemetry: TelemetrySettings,
}

impl Site {
    /// Serves what the bench sends, first to warm up, then window by window.
    ///
    /// # Errors
    ///
    /// If a service does not start, or the bench goes away.
    pub fn run(self, start: impl AsyncFnOnce(Vec<String>) -> anyhow::Result<u16>) -> anyhow::Result<()> {
        let runtime = Builder::new_current_thread().enable_all().build()?;
        let (_telemetry, mut driver) = runtime.block_on(async {
            let logs = Logs::try_parse_from(["instructions"])?;
            let telemetry = telemetry::start(&logs.telemetry, "instructions")?;
            let port = start(self.flags).await?;
            let mut driver = Driver::connect(self.driver, port).await?;
            driver.work_is_done().await?;
            anyhow::Ok((telemetry, driver))
        })?;
        while counted_window(|| runtime.block_on(driver.ask_for_work()))? {}
        Ok(())
    }
}

/// The gateway before the contact service.
///
/// # Errors
///
/// If one of them does not start.
pub async fn accept(flags: Vec<String>) -> anyhow::Result<u16> {
    let contact = contact::Service::build(settings(flags)?).await?;
    let url = format!("--contact-url=http://127.0.0.1:{}", contact.port());
    tokio::spawn(contact.run(CancellationToken::new()));
    gateway(vec![url]).await
}

/// The gateway before the careers service.
///
/// # Errors
///
/// If one of them does not start.
pub async fn upload(flags: Vec<String>) -> anyhow::Result<u16> {
    let careers = careers::Service::build(settings(flags)?).await?;
    let url = format!("--careers-url=http://127.0.0.1:{}", careers.port());
    tokio::spawn(careers.run(CancellationToken::new()));
    gateway(vec![url]).await
}

/// The gateway alone.
///
/// # Errors
///
/// If it does not start.
pub async fn page(flags: Vec<String>) -> anyhow::Result<u16> {
    gateway(flags).await
}

/// The gateway as it stands behind one proxy, without limits of a visitor.
async fn gateway(mut flags: Vec<String>) -> anyhow::Result<u16> {
    let own = [
        "--health-listen=127.0.0.1:0",
        "--trusted-proxies=1",
        "--rate-per-minute=1000000",
        "--rate-burst=1000000",
    ];
    flags.extend(own.map(str::to_owned));
    let gateway = gateway::Service::build(settings(flags)?).await?;
    let port = gateway.port();
    tokio::spawn(gateway.run(CancellationToken::new()));
    Ok(port)
}

/// Settings of a service on a free port.
fn settings<S: Parser>(flags: Vec<String>) -> anyhow::Result<S> {
    let first = ["instructions", "--listen=127.0.0.1:0"].map(str::to_owned);
    S::try_parse_from(first.into_iter().chain(flags)).context("the bench gives wrong settings")
}
