//! What this service needs to know.

use std::net::SocketAddr;

use clap::Parser;
use site_service::{nats::NatsSettings, telemetry::TelemetrySettings};
use visitor::{PersonKey, token::TokenKey};

/// Takes newsletter sign-ups over gRPC and keeps the subscribers.
#[derive(Parser)]
#[command(name = "newsletter", version)]
pub struct Settings {
    /// Address to listen on for gRPC
    #[arg(long, env = "LISTEN", default_value = "127.0.0.1:50052")]
    pub listen: SocketAddr,
    /// Key of the person ids, at least 32 bytes, the same in every service
    #[arg(long, env = "PERSON_KEY", hide_env_values = true, value_parser = PersonKey::new)]
    pub person_key: PersonKey,
    /// Key of the tokens in mailed links, at least 32 bytes, the same as the notifier's
    #[arg(long, env = "TOKEN_KEY", hide_env_values = true, value_parser = TokenKey::new)]
    pub token_key: TokenKey,
    /// The broker
    #[command(flatten)]
    pub nats: NatsSettings,
    /// Logs and traces
    #[command(flatten)]
    pub telemetry: TelemetrySettings,
}
