//! Settings of the newsletter service: from flags, environment variables or files.

use std::{net::SocketAddr, time::Duration};

use clap::Parser;
use site_service::{
    drain::DrainSettings, grpc::GrpcServerSettings, nats::NatsSettings, telemetry::TelemetrySettings,
};
use subscribers::subscriber::MAX_CONFIRM_WITHIN;
use visitor::{PersonKeySettings, token::TokenKey};

use crate::sending_settings::SendingSettings;

const MAX_CONFIRM_WITHIN_HOURS: u64 = MAX_CONFIRM_WITHIN.as_secs() / (60 * 60);

/// Takes newsletter sign-ups over gRPC and keeps the subscribers.
#[derive(Parser, Debug)]
#[command(name = "newsletter", version)]
pub struct Settings {
    /// Address to listen on for gRPC
    #[arg(long, env = "LISTEN", default_value = "127.0.0.1:50052")]
    pub listen: SocketAddr,
    /// How the gateway speaks to it
    #[command(flatten)]
    pub grpc: GrpcServerSettings,
    /// The key of person ids
    #[command(flatten)]
    pub person: PersonKeySettings,
    /// Key of the tokens in mailed links, at least 32 bytes, the same as the notifier's
    #[arg(long, env = "TOKEN_KEY", hide_env_values = true, value_parser = TokenKey::new)]
    pub token_key: TokenKey,
    /// The key before it, while it changes: links in mails that were signed with it go on working
    #[arg(long, env = "TOKEN_KEY_FORMER", hide_env_values = true, value_parser = TokenKey::new)]
    pub token_key_former: Option<TokenKey>,
    /// Hours within which a sign-up must be confirmed, at most 720; then it is forgotten
    #[arg(long = "confirm-within-hours", id = "confirm_within_hours", env = "CONFIRM_WITHIN_HOURS", default_value = "48", value_parser = hours)]
    pub confirm_within: Duration,
    /// The mails of issues
    #[command(flatten)]
    pub sending: SendingSettings,
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

fn hours(raw: &str) -> Result<Duration, String> {
    match raw.parse() {
        Ok(hours @ 1..=MAX_CONFIRM_WITHIN_HOURS) => Ok(Duration::from_secs(hours * 60 * 60)),
        _ => Err(format!(
            "it is not a number of hours from 1 to {MAX_CONFIRM_WITHIN_HOURS}"
        )),
    }
}
