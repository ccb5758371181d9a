//! Settings of the contact service: from flags, environment variables or files.

use std::net::SocketAddr;

use clap::Parser;
use site_service::{
    drain::DrainSettings, grpc::GrpcServerSettings, nats::NatsSettings, telemetry::TelemetrySettings,
};
use visitor::{PersonKeySettings, SyntheticKey};

/// Accepts contact messages over gRPC and publishes them as events.
#[derive(Parser, Debug)]
#[command(name = "contact", version)]
pub struct Settings {
    /// Address to listen on for gRPC
    #[arg(long, env = "LISTEN", default_value = "127.0.0.1:50051")]
    pub listen: SocketAddr,
    /// gRPC server
    #[command(flatten)]
    pub grpc: GrpcServerSettings,
    /// Key of person ids
    #[command(flatten)]
    pub person: PersonKeySettings,
    /// Key that verifies the marks of synthetic submissions, at least 32 bytes, the same as the synthetic check's; without it every mark is ignored
    #[arg(long, env = "SYNTHETIC_KEY", hide_env_values = true, value_parser = SyntheticKey::new)]
    pub synthetic_key: Option<SyntheticKey>,
    /// The broker
    #[command(flatten)]
    pub nats: NatsSettings,
    /// Shutdown
    #[command(flatten)]
    pub drain: DrainSettings,
    /// Logs and traces
    #[command(flatten)]
    pub telemetry: TelemetrySettings,
}
