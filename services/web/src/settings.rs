//! Settings of a web server: from flags, environment variables or files.

use std::{net::SocketAddr, path::PathBuf};

use clap::Parser;
use site_service::{drain::DrainSettings, telemetry::TelemetrySettings};

/// Serves one front end's files.
#[derive(Parser, Debug)]
#[command(name = "web", version)]
pub struct Settings {
    /// Address to listen on for HTTP
    #[arg(long, env = "LISTEN", default_value = "127.0.0.1:8081")]
    pub listen: SocketAddr,
    /// Address to listen on for health checks (/livez, /readyz); visitors must not reach it
    #[arg(long, env = "HEALTH_LISTEN", default_value = "127.0.0.1:8091")]
    pub health_listen: SocketAddr,
    /// Folder of the front end
    #[arg(long, env = "SITE_DIR")]
    pub site_dir: PathBuf,
    /// Shutdown
    #[command(flatten)]
    pub drain: DrainSettings,
    /// Logs and traces
    #[command(flatten)]
    pub telemetry: TelemetrySettings,
}
