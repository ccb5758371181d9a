//! Settings of the notifier, from flags, environment variables or files.

use std::{net::SocketAddr, time::Duration};

use clap::{Args, Parser, ValueEnum};
use resumes::S3Settings;
use site_broker::{Endpoints, RetryPolicy};
use site_mail::{AddressSettings, dkim::DkimSettings};
use site_service::{
    nats::NatsSettings,
    settings::{Secret, seconds},
    telemetry::TelemetrySettings,
    tls::CaFile,
};
use visitor::{links, token::TokenKey};
use webhooks::WebhookSettings;

use crate::Brand;

const DIGEST_INTERVAL: Duration = Duration::from_secs(60 * 60);
/// Events beyond this limit are stored, but send the visitor no mail.
const MAX_VISITOR_MAILS_PER_DAY: usize = 10;
const SMTP_TIMEOUT: Duration = Duration::from_secs(30);
/// RFC 5321, 4.5.3.2.6. With a shorter timeout a message may arrive twice.
const SMTP_ANSWER_TIMEOUT: Duration = Duration::from_secs(10 * 60);
/// Time for a mail, and 10 s for its record. Without the record the next notifier sends the mail again.
const MIN_GRACE_SECONDS: u64 = SMTP_TIMEOUT.as_secs() + SMTP_ANSWER_TIMEOUT.as_secs() + 10;

/// Sends mails and webhooks for the site's events.
#[derive(Parser, Debug)]
#[command(name = "notifier", version)]
pub struct Settings {
    /// Address to listen on for health checks (gRPC)
    #[arg(long, env = "LISTEN", default_value = "127.0.0.1:50054")]
    pub listen: SocketAddr,
    /// Key of the tokens in mailed links, at least 32 bytes, the same as the newsletter service's
    #[arg(long, env = "TOKEN_KEY", hide_env_values = true, value_parser = TokenKey::new)]
    pub token_key: TokenKey,
    /// Address of the site, for the links in mails
    #[arg(long, env = "SITE_URL", default_value = "http://localhost:8080", value_parser = links::site_url)]
    pub site_url: String,
    /// File that names the company
    #[arg(long = "brand-file", id = "brand_file", env = "BRAND_FILE", default_value = "brand.json", value_parser = Brand::read)]
    pub brand: Brand,
    /// Our addresses
    #[command(flatten)]
    pub addresses: AddressSettings,
    /// Allows our addresses to be in example domains, where nobody reads mail; for a demo
    #[arg(long, env = "ALLOW_EXAMPLE_ADDRESSES")]
    pub allow_example_addresses: bool,
    /// Time between two mails to the operator; shorter in tests
    #[arg(skip = DIGEST_INTERVAL)]
    pub digest_every: Duration,
    /// Mails of each kind to one visitor's inbox within a day; other numbers in tests
    #[arg(skip = MAX_VISITOR_MAILS_PER_DAY)]
    pub max_visitor_mails_per_day: usize,
    /// Address under which recruiters reach the store, if it differs from S3_ENDPOINT
    #[arg(long, env = "S3_PUBLIC_ENDPOINT", value_parser = resumes::endpoint)]
    pub s3_public_endpoint: Option<String>,
    /// Webhook endpoints: a JSON array, as docs/webhooks.md describes it
    #[arg(long, env = "WEBHOOKS", hide_env_values = true, value_parser = Endpoints::parse)]
    pub webhooks: Option<Endpoints>,
    /// Connections to webhook endpoints
    #[command(flatten)]
    pub webhooks_reached: WebhookSettings,
    /// Retries of an event; shorter in tests
    #[arg(skip)]
    pub retries: RetryPolicy,
    /// The bucket of résumés
    #[command(flatten)]
    pub store: S3Settings,
    /// The mail server
    #[command(flatten)]
    pub smtp: SmtpSettings,
    /// The signature of mails
    #[command(flatten)]
    pub dkim: DkimSettings,
    /// The broker
    #[command(flatten)]
    pub nats: NatsSettings,
    /// Seconds for deliveries in flight at a stop; at least 640, the longest time that a mail can take
    #[arg(
        long = "grace-seconds",
        value_name = "GRACE_SECONDS",
        env = "GRACE_SECONDS",
        default_value = "640",
        value_parser = seconds(MIN_GRACE_SECONDS..)
    )]
    pub grace: Duration,
    /// Logs and traces
    #[command(flatten)]
    pub telemetry: TelemetrySettings,
}

/// Mail server, and our account there.
#[derive(Args, Debug, Clone)]
pub struct SmtpSettings {
    /// Host name of the mail server
    #[arg(long, env = "SMTP_HOST", default_value = "127.0.0.1")]
    pub smtp_host: String,
    /// Port of the mail server
    #[arg(long, env = "SMTP_PORT", default_value_t = 1025)]
    pub smtp_port: u16,
    /// Encryption of the connection
    #[arg(long, env = "SMTP_TLS", value_enum, default_value_t = TlsMode::None)]
    pub smtp_tls: TlsMode,
    /// File (PEM) of authorities to trust besides the system's, for a mail server with a certificate of a private authority
    #[arg(long, env = "SMTP_CA_FILE", value_parser = CaFile::parse)]
    pub smtp_ca_file: Option<CaFile>,
    /// User name at the mail server
    #[arg(long, env = "SMTP_USER", requires = "smtp_password")]
    pub smtp_user: Option<String>,
    /// Password at the mail server
    #[arg(long, env = "SMTP_PASSWORD", hide_env_values = true, requires = "smtp_user")]
    pub smtp_password: Option<Secret>,
    /// Timeout of the steps before the content: connection, sender and recipients; shorter in tests
    #[arg(skip = SMTP_TIMEOUT)]
    pub smtp_timeout: Duration,
    /// Timeout of the answer to a whole message; shorter in tests
    #[arg(skip = SMTP_ANSWER_TIMEOUT)]
    pub smtp_answer_timeout: Duration,
}

/// Encryption of the connection to the mail server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TlsMode {
    /// No encryption: for a server on the same host.
    None,
    /// After a STARTTLS command (usually port 587). If the server does not support it, nothing is sent.
    Starttls,
    /// From the first byte (usually port 465).
    Implicit,
}

#[cfg(test)]
mod tests {
    use super::*;

    const BRAND: &str = concat!("--brand-file=", env!("CARGO_MANIFEST_DIR"), "/../../brand.json");

    fn parse(flags: &[&str]) -> Result<Settings, clap::Error> {
        let needed = [
            "notifier",
            "--token-key=a token key of thirty-two bytes or more",
            "--s3-access-key-id=key",
            "--s3-secret-access-key=secret",
        ];
        Settings::try_parse_from(needed.iter().chain(flags))
    }

    fn refusal(flag: &str) -> String {
        let brand = (!flag.starts_with("--brand")).then_some(BRAND);
        let flags: Vec<&str> = brand.into_iter().chain([flag]).collect();
        parse(&flags)
            .err()
            .map(|error| error.to_string())
            .unwrap_or_default()
    }

    #[test]
    fn the_brand_file_and_two_secrets_are_enough() {
        assert!(parse(&[BRAND]).is_ok());
    }

    #[test]
    fn a_wrong_setting_is_named_at_start() {
        for (flag, named) in [
            ("--brand-file=/nowhere/brand.json", "--brand-file"),
            ("--site-url=company.com", "--site-url"),
            ("--sales-to=nobody", "--sales-to"),
            ("--recruiters-to=a b c", "--recruiters-to"),
            ("--mail-from=<>", "--mail-from"),
            ("--operator-to=nobody", "--operator-to"),
            ("--grace-seconds=639", "--grace-seconds"),
            ("--smtp-tls=perhaps", "--smtp-tls"),
            ("--smtp-user=only", "--smtp-password"),
            ("--smtp-ca-file=/nowhere/ca.pem", "--smtp-ca-file"),
            ("--dkim-selector=only", "--dkim-key"),
            ("--webhooks={}", "--webhooks"),
            ("--webhooks-ca-file=/nowhere/ca.pem", "--webhooks-ca-file"),
        ] {
            let refusal = refusal(flag);
            assert!(refusal.contains(named), "{flag}: {refusal}");
        }
    }

    #[test]
    fn the_site_url_loses_its_trailing_slash() {
        let settings = parse(&[BRAND, "--site-url=https://oculant.example/"]).ok();
        assert_eq!(
            settings.map(|settings| settings.site_url).as_deref(),
            Some("https://oculant.example")
        );
    }
}
