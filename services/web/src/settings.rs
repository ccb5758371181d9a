//! Settings of a web server: from flags, environment variables or files.

use std::{net::SocketAddr, path::PathBuf, time::Duration};

use clap::{Parser, builder::TypedValueParser as _};
use site_service::telemetry::TelemetrySettings;

/// Serves one front end's files.
#[derive(Parser)]
#[command(name = "web", version)]
pub struct Settings {
    /// Address to listen on for HTTP
    #[arg(long, env = "LISTEN", default_value = "127.0.0.1:8081")]
    pub listen: SocketAddr,
    /// Folder of the front end
    #[arg(long, env = "SITE_DIR")]
    pub site_dir: PathBuf,
    /// Seconds that what is in flight at a stop may take
    #[arg(
        long = "grace-seconds",
        value_name = "GRACE_SECONDS",
        env = "GRACE_SECONDS",
        default_value = "25",
        value_parser = clap::value_parser!(u64).range(1..).map(Duration::from_secs)
    )]
    pub grace: Duration,
    /// Logs and traces
    #[command(flatten)]
    pub telemetry: TelemetrySettings,
}
