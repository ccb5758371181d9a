//! SMTP settings: where the mail server is, its encryption, credentials and timeouts.

use std::{net::IpAddr, time::Duration};

use clap::{Args, ValueEnum};
use lettre::transport::smtp::extension::ClientId;
use site_service::{
    settings::{Secret, seconds},
    tls::CaFile,
};
use url::Host;

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
    /// What we call ourselves to the mail server (HELO): a host name, or an address such as [192.0.2.1]; the domain of MAIL_FROM by default
    #[arg(long, env = "SMTP_HELO", value_parser = hello)]
    pub smtp_helo: Option<ClientId>,
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

/// What we call ourselves (RFC 5321, 4.1.1.1): a domain, in any script, or an address, in brackets or not.
///
/// # Errors
///
/// If it is neither, with the reason.
pub fn hello(raw: &str) -> Result<ClientId, String> {
    let literal = raw.strip_prefix('[').and_then(|raw| raw.strip_suffix(']'));
    let literal = literal.map_or(raw, |literal| literal.strip_prefix("IPv6:").unwrap_or(literal));
    match literal.parse() {
        Ok(IpAddr::V4(address)) => return Ok(ClientId::Ipv4(address)),
        Ok(IpAddr::V6(address)) => return Ok(ClientId::Ipv6(address)),
        Err(_) => {}
    }
    match Host::parse(raw.trim_end_matches('.')) {
        Ok(Host::Domain(domain)) if !domain.is_empty() => Ok(ClientId::Domain(domain)),
        _ => Err("it is not a host name such as mail.company.com".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_is_told_a_domain_or_an_address() {
        for (set, told) in [
            ("mail.oculant.example", "mail.oculant.example"),
            ("oculant.example.", "oculant.example"),
            ("müller.example", "xn--mller-kva.example"),
            ("192.0.2.1", "[192.0.2.1]"),
            ("[192.0.2.1]", "[192.0.2.1]"),
            ("[IPv6:2001:db8::1]", "[IPv6:2001:db8::1]"),
            ("localhost", "localhost"),
        ] {
            assert_eq!(hello(set).map(|hello| hello.to_string()), Ok(told.to_owned()));
        }
        for wrong in [
            "",
            "two words",
            "a@b.example",
            "[mail]",
            "https://oculant.example",
        ] {
            assert!(hello(wrong).is_err(), "{wrong}");
        }
    }
}
