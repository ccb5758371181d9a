//! Settings of the newsletter service: from flags, environment variables or files.

use std::{net::SocketAddr, time::Duration};

use clap::Parser;
use site_service::{
    drain::DrainSettings, grpc::GrpcServerSettings, nats::NatsSettings, telemetry::TelemetrySettings,
};
use visitor::{PersonKeySettings, token::TokenKey};

/// The privacy policy states this value.
const CONFIRM_WITHIN: Duration = Duration::from_secs(48 * 60 * 60);

/// Takes newsletter sign-ups over gRPC and keeps the subscribers.
#[derive(Parser, Debug)]
#[command(name = "newsletter", version)]
pub struct Settings {
    /// Address to listen on for gRPC
    #[arg(long, env = "LISTEN", default_value = "127.0.0.1:50052")]
    pub listen: SocketAddr,
    /// gRPC server
    #[command(flatten)]
    pub grpc: GrpcServerSettings,
    /// The key of person ids
    #[command(flatten)]
    pub person: PersonKeySettings,
    /// Key of the tokens in mailed links, at least 32 bytes, the same as the notifier's
    #[arg(long, env = "TOKEN_KEY", hide_env_values = true, value_parser = TokenKey::new)]
    pub token_key: TokenKey,
    /// Previous TOKEN_KEY, set during a rotation, so that links signed with it keep working
    #[arg(long, env = "TOKEN_KEY_FORMER", hide_env_values = true, value_parser = TokenKey::new)]
    pub token_key_former: Option<TokenKey>,
    /// Time within which a sign-up must be confirmed; shorter in tests
    #[arg(skip = CONFIRM_WITHIN)]
    pub confirm_within: Duration,
    /// Maximum number of newsletter mails per second; unlimited by default
    #[arg(long, env = "NEWSLETTER_PER_SECOND", value_parser = limit())]
    pub newsletter_per_second: Option<u32>,
    /// Maximum number of newsletter mails per day (UTC); unlimited by default
    #[arg(long, env = "NEWSLETTER_PER_DAY", value_parser = limit())]
    pub newsletter_per_day: Option<u32>,
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

fn limit() -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(1..)
}
