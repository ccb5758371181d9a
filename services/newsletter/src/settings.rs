//! Settings of the newsletter service: from flags, environment variables or files.

use std::{net::SocketAddr, time::Duration};

use clap::{Args, Parser};
use http::Uri;
use mail_reports::{Mailgun, Postmark, SesTopic};
use site_service::{
    drain::DrainSettings, grpc::GrpcServerSettings, nats::NatsSettings, telemetry::TelemetrySettings,
};
use subscribers::subscriber::MAX_CONFIRM_WITHIN;
use visitor::{PersonKeys, token::TokenKey};

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
    pub person_keys: PersonKeys,
    /// Key of the tokens in mailed links, at least 32 bytes, the same as the notifier's
    #[arg(long, env = "TOKEN_KEY", hide_env_values = true, value_parser = TokenKey::new)]
    pub token_key: TokenKey,
    /// The key before it, while it changes: links in mails that were signed with it go on working
    #[arg(long, env = "TOKEN_KEY_FORMER", hide_env_values = true, value_parser = TokenKey::new)]
    pub token_key_former: Option<TokenKey>,
    /// Hours within which a sign-up must be confirmed, at most 720; then it is forgotten
    #[arg(long = "confirm-within-hours", id = "confirm_within_hours", env = "CONFIRM_WITHIN_HOURS", default_value = "48", value_parser = hours)]
    pub confirm_within: Duration,
    /// Mail providers that report mails which came back
    #[command(flatten)]
    pub mail_reports: MailReportSettings,
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

/// From whom reports are taken that are posted to `/api/newsletter/mail-reports/<provider>`; from nobody, where nothing is set.
#[derive(Args, Debug, Clone, Default)]
pub struct MailReportSettings {
    /// HTTP webhook signing key of Mailgun; with it, reports of mails that came back are taken from Mailgun
    #[arg(long, env = "MAILGUN_SIGNING_KEY", hide_env_values = true, value_parser = Mailgun::new)]
    pub mailgun_signing_key: Option<Mailgun>,
    /// Password that Postmark's webhook comes with, at least 24 characters; with it, reports of mails that came back are taken from
    /// Postmark
    #[arg(long, env = "POSTMARK_WEBHOOK_PASSWORD", hide_env_values = true, value_parser = Postmark::new)]
    pub postmark_webhook_password: Option<Postmark>,
    /// Topic of Amazon SNS (its ARN) by which Amazon SES reports; with it, reports of mails that came back are taken from there
    #[arg(long, env = "SES_TOPIC", value_parser = SesTopic::new)]
    pub ses_topic: Option<SesTopic>,
    /// Address at which Amazon SNS is asked for its certificates, where that is not its own of the topic's region
    #[arg(long, env = "SES_SNS_URL", requires = "ses_topic")]
    pub ses_sns_url: Option<Uri>,
}

fn hours(raw: &str) -> Result<Duration, String> {
    match raw.parse() {
        Ok(hours @ 1..=MAX_CONFIRM_WITHIN_HOURS) => Ok(Duration::from_secs(hours * 60 * 60)),
        _ => Err(format!(
            "it is not a number of hours from 1 to {MAX_CONFIRM_WITHIN_HOURS}"
        )),
    }
}
