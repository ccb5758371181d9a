//! SMTP settings: where the mail server is, its encryption, credentials and timeouts.

use std::time::Duration;

use clap::{Args, ValueEnum};
use site_service::{
    settings::{Secret, seconds},
    tls::CaFile,
};

/// The longest that a message may take up to its content.
const MAX_TIMEOUT_SECONDS: u64 = 40;
/// How long a server may take to answer a whole message (RFC 5321, 4.5.3.2.6).
const MAX_ANSWER_TIMEOUT_SECONDS: u64 = 600;

/// Where the mail server is and who we are there.
#[derive(Args, Debug, Clone)]
pub struct SmtpSettings {
    /// Host name of the mail server
    #[arg(long, env = "SMTP_HOST", default_value = "127.0.0.1")]
    pub smtp_host: String,
    /// Port of the mail server
    #[arg(long, env = "SMTP_PORT", default_value_t = 1025)]
    pub smtp_port: u16,
    /// How the connection is encrypted
    #[arg(long, env = "SMTP_TLS", value_enum, default_value_t = TlsMode::None)]
    pub smtp_tls: TlsMode,
    /// File (PEM) of authorities to trust besides the system's, for a mail server whose certificate is not public
    #[arg(long, env = "SMTP_CA_FILE", value_parser = CaFile::parse)]
    pub smtp_ca_file: Option<CaFile>,
    /// User name at the mail server
    #[arg(long, env = "SMTP_USER", requires = "smtp_password")]
    pub smtp_user: Option<String>,
    /// Password at the mail server
    #[arg(long, env = "SMTP_PASSWORD", hide_env_values = true, requires = "smtp_user")]
    pub smtp_password: Option<Secret>,
    /// Seconds that the mail server may take for a connection, a sender and a recipient
    #[arg(
        long = "smtp-timeout-seconds",
        value_name = "SMTP_TIMEOUT_SECONDS",
        env = "SMTP_TIMEOUT_SECONDS",
        default_value = "30",
        value_parser = seconds(1..=MAX_TIMEOUT_SECONDS)
    )]
    pub smtp_timeout: Duration,
    /// Seconds that the mail server may take to answer a whole message; given up earlier, it may arrive twice
    #[arg(
        long = "smtp-answer-seconds",
        value_name = "SMTP_ANSWER_SECONDS",
        env = "SMTP_ANSWER_SECONDS",
        default_value = "600",
        value_parser = seconds(1..=MAX_ANSWER_TIMEOUT_SECONDS)
    )]
    pub smtp_answer_timeout: Duration,
}

/// How the connection to the mail server is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TlsMode {
    /// Not at all: for a server on the same host.
    None,
    /// From a STARTTLS command on (usually port 587). Without it nothing is sent.
    Starttls,
    /// From the first byte on (usually port 465).
    Implicit,
}
