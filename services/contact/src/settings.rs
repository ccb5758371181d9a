//! Settings of the contact service: from flags, environment variables or files.

use std::net::SocketAddr;

use clap::Parser;
use site_service::{
    drain::DrainSettings, grpc::GrpcServerSettings, nats::NatsSettings, telemetry::TelemetrySettings,
};
use visitor::{PersonKeySettings, SyntheticKey};

/// Takes contact messages over gRPC and publishes them as events.
#[derive(Parser, Debug)]
#[command(name = "contact", version)]
pub struct Settings {
    /// Address to listen on for gRPC
    #[arg(long, env = "LISTEN", default_value = "127.0.0.1:50051")]
    pub listen: SocketAddr,
    /// How the gateway speaks to it
    #[command(flatten)]
    pub grpc: GrpcServerSettings,
    /// The key of person ids
    #[command(flatten)]
    pub person: PersonKeySettings,
    /// Key that signs the marks of a check's forms, at least 32 bytes, the same as the check's; without it no form is taken for one
    #[arg(long, env = "SYNTHETIC_KEY", hide_env_values = true, value_parser = SyntheticKey::new)]
    pub synthetic_key: Option<SyntheticKey>,
    /// The broker
    #[command(flatten)]
    pub nats: NatsSettings,
    /// A stop
    #[command(flatten)]
    pub drain: DrainSettings,
    /// Logs and traces
    #[command(flatten)]
    pub telemetry: TelemetrySettings,
}
