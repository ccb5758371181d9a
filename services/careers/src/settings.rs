//! What this service needs to know.

use std::{net::SocketAddr, path::PathBuf};

use clap::Parser;
use resumes::S3Settings;
use site_service::{nats::NatsSettings, telemetry::TelemetrySettings};
use visitor::PersonKey;

/// Takes internship applications over gRPC, stores their résumés and publishes events.
#[derive(Parser)]
#[command(name = "careers", version)]
pub struct Settings {
    /// Address to listen on for gRPC
    #[arg(long, env = "LISTEN", default_value = "127.0.0.1:50053")]
    pub listen: SocketAddr,
    /// Key of the person ids, at least 32 bytes, the same in every service
    #[arg(long, env = "PERSON_KEY", hide_env_values = true, value_parser = PersonKey::new)]
    pub person_key: PersonKey,
    /// The broker
    #[command(flatten)]
    pub nats: NatsSettings,
    /// The bucket of résumés
    #[command(flatten)]
    pub store: S3Settings,
    /// Where résumés are spooled before they are stored; the system's temporary folder by default
    #[arg(long, env = "SPOOL_DIR")]
    pub spool_dir: Option<PathBuf>,
    /// Logs and traces
    #[command(flatten)]
    pub telemetry: TelemetrySettings,
}
