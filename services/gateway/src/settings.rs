//! Settings of the gateway: from flags, environment variables or files.

use std::{net::SocketAddr, num::NonZeroU32, path::PathBuf, time::Duration};

use clap::Parser;
use http::HeaderValue;
use site_service::{settings::seconds, telemetry::TelemetrySettings, tls::GrpcTlsSettings};
use tonic::transport::Uri;

use crate::{address::AddressSource, challenge::ChallengeSettings, stopping::RECEIVING_ENDS};

/// The ingress: serves the site and its API, and forwards forms over gRPC.
#[derive(Parser, Debug)]
#[command(name = "gateway", version)]
pub struct Settings {
    /// Address to listen on for HTTP
    #[arg(long, env = "LISTEN", default_value = "127.0.0.1:8080")]
    pub listen: SocketAddr,
    /// Address to listen on for health checks (/livez, /readyz); visitors must not reach it
    #[arg(long, env = "HEALTH_LISTEN", default_value = "127.0.0.1:8090")]
    pub health_listen: SocketAddr,
    /// Address of the contact service
    #[arg(long, env = "CONTACT_URL", default_value = "http://127.0.0.1:50051")]
    pub contact_url: Uri,
    /// Address of the newsletter service
    #[arg(long, env = "NEWSLETTER_URL", default_value = "http://127.0.0.1:50052")]
    pub newsletter_url: Uri,
    /// Address of the careers service
    #[arg(long, env = "CAREERS_URL", default_value = "http://127.0.0.1:50053")]
    pub careers_url: Uri,
    /// Mutual TLS to the services
    #[command(flatten)]
    pub grpc_tls: GrpcTlsSettings,
    /// Folder of the built front ends; without it only the API is served
    #[arg(long, env = "SITE_DIR")]
    pub site_dir: Option<PathBuf>,
    /// Address of the shell's web server, whose pages answer forms that were sent without a script; not needed if SITE_DIR is set
    #[arg(long, env = "PAGES_URL")]
    pub pages_url: Option<Uri>,
    /// Source of the visitor's address, for the limits per address
    #[arg(long, env = "VISITOR_ADDRESS_FROM", value_enum, default_value_t = AddressSource::Connection)]
    pub visitor_address_from: AddressSource,
    /// Submissions of each form per minute from one address; confirmations and unsubscriptions may be 60 times as many
    #[arg(long, env = "RATE_PER_MINUTE", default_value = "10")]
    pub rate_per_minute: NonZeroU32,
    /// Submissions of each form that one address may make at once
    #[arg(long, env = "RATE_BURST", default_value = "5")]
    pub rate_burst: NonZeroU32,
    /// Origins of other sites that may call the API, separated by commas
    #[arg(long, env = "CORS_ORIGINS", value_delimiter = ',')]
    pub cors_origins: Vec<HeaderValue>,
    /// Seconds that a stop gives requests in flight, at least 12; uploads that are incomplete 10 s before the end are
    /// rejected, and the visitor can send them again
    #[arg(
        long = "grace-seconds",
        value_name = "GRACE_SECONDS",
        env = "GRACE_SECONDS",
        default_value = "60",
        value_parser = seconds(RECEIVING_ENDS.as_secs() + 2..)
    )]
    pub grace: Duration,
    /// Challenges
    #[command(flatten)]
    pub challenge: ChallengeSettings,
    /// Logs and traces
    #[command(flatten)]
    pub telemetry: TelemetrySettings,
}
