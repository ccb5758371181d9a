//! Settings of the careers service: from flags, environment variables or files.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::Parser;
use resumes::S3Settings;
use site_service::{
    grpc::GrpcServerSettings, nats::NatsSettings, settings::seconds, telemetry::TelemetrySettings,
};
use tonic::codegen::http::uri::Authority;
use visitor::PersonKeySettings;

/// Time budget from commit to answer: résumé check, scan, 40 s for the bucket and 3 s for each of four broker
/// requests. During a stop, uncommitted applications are rejected when only this much of the grace period is left.
pub const STORING_TIME: Duration = Duration::from_secs(STORING_SECONDS);
const STORING_SECONDS: u64 = 75;

/// Takes internship applications over gRPC, stores their résumés and publishes events.
#[derive(Parser, Debug)]
#[command(name = "careers", version)]
pub struct Settings {
    /// Address to listen on for gRPC
    #[arg(long, env = "LISTEN", default_value = "127.0.0.1:50053")]
    pub listen: SocketAddr,
    /// gRPC server
    #[command(flatten)]
    pub grpc: GrpcServerSettings,
    /// The key of person ids
    #[command(flatten)]
    pub person: PersonKeySettings,
    /// The broker
    #[command(flatten)]
    pub nats: NatsSettings,
    /// The bucket of résumés
    #[command(flatten)]
    pub store: S3Settings,
    /// Folder in which résumés are spooled before they are stored; the system's temporary folder by default
    #[arg(long, env = "SPOOL_DIR")]
    pub spool_dir: Option<PathBuf>,
    /// Address of the clamd that scans résumés, as host:port; without it résumés are not scanned
    #[arg(long, env = "CLAMD", value_parser = host_and_port)]
    pub clamd: Option<String>,
    /// Seconds that a stop gives requests in flight, at least 76. The last 75 are reserved for storing complete applications;
    /// the seconds before them should be at least the gateway's GRACE_SECONDS
    #[arg(
        long = "grace-seconds",
        value_name = "GRACE_SECONDS",
        env = "GRACE_SECONDS",
        default_value = "135",
        value_parser = seconds(STORING_SECONDS + 1..)
    )]
    pub grace: Duration,
    /// Logs and traces
    #[command(flatten)]
    pub telemetry: TelemetrySettings,
}

fn host_and_port(raw: &str) -> Result<String, &'static str> {
    let address: Option<Authority> = raw.parse().ok();
    let address = address.filter(|address| !address.host().is_empty());
    match address.and_then(|address| address.port_u16()) {
        Some(1..) => Ok(raw.to_owned()),
        _ => Err("it is not a host and a port such as clamd:3310"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scanner::SCAN_TIMEOUT;

    #[test]
    fn a_scanner_is_named_by_host_and_port() {
        for right in ["clamd:3310", "127.0.0.1:3310", "[::1]:3310"] {
            assert_eq!(host_and_port(right).as_deref(), Ok(right));
        }
        let others = "|clamd|:3310|clamd:|clamd:0|clamd:70000|tcp://clamd:3310|/run/clamd.sock";
        for wrong in others.split('|') {
            assert!(host_and_port(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_scan_has_its_time_within_that_of_storing() {
        // The scan, 40 s for the bucket, and 4 × 3 s for the broker.
        assert!(SCAN_TIMEOUT + Duration::from_secs(40 + 4 * 3) <= STORING_TIME);
    }
}
