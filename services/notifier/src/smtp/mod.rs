//! Handing messages to the mail server over a few kept connections.
//!
//! lettre's own pool is not used: its timeout covers connecting only, and a connection
//! whose message was given up half-way goes back into the pool, where the next message
//! would take the answer to the last one for its own. Here a connection is kept only
//! after a message that went through.

use std::{
    sync::{Mutex, PoisonError},
    time::{Duration, Instant},
};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use lettre::{
    Message,
    address::Envelope,
    transport::smtp::{
        authentication::{Credentials, DEFAULT_MECHANISMS},
        client::{AsyncSmtpConnection, TlsParameters},
        extension::ClientId,
    },
};
use site_service::settings::{ExposeSecret, Secret};
use tokio::time::timeout;

use crate::refusals::says_no_such_address;

/// Servers close idle connections after minutes; we let go well before.
const IDLE: Duration = Duration::from_secs(30);
/// How long a kept connection may take to show that it is still good.
const STILL_THERE: Duration = Duration::from_secs(2);
/// The longest that a message may take: with one more waiting before it, still inside
/// the time after which the broker hands the event out again.
const LONGEST_SECONDS: u64 = 40;
/// What stands in logs instead of an address.
const ADDRESS: &str = "[address]";

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
    /// User name at the mail server
    #[arg(long, env = "SMTP_USER", requires = "smtp_password")]
    pub smtp_user: Option<String>,
    /// Password at the mail server
    #[arg(long, env = "SMTP_PASSWORD", hide_env_values = true, requires = "smtp_user")]
    pub smtp_password: Option<Secret>,
    /// Seconds that a message may take to be handed over
    #[arg(
        long,
        env = "SMTP_TIMEOUT_SECONDS",
        default_value_t = 30,
        value_parser = clap::value_parser!(u64).range(1..=LONGEST_SECONDS)
    )]
    pub smtp_timeout_seconds: u64,
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

/// Why a message was not taken. The text is for logs: it names no recipient.
#[derive(Debug, thiserror::Error)]
pub enum SmtpError {
    /// The server will never take this message for this recipient (RFC 5321, 4.2.1: 5yz).
    #[error("the mail server refused it: {0}")]
    Refused(String),
    /// The server will never take anything for this recipient: there is no such address.
    #[error("the mail server refused it: {0}")]
    NoSuchAddress(String),
    /// It may be taken later.
    #[error("the mail server did not take it: {0}")]
    NotNow(String),
}

/// The way to the mail server.
pub struct Smtp {
    settings: SmtpSettings,
    tls: Option<TlsParameters>,
    hello: ClientId,
    /// Connections between two messages, the latest last.
    idle: Mutex<Vec<Idle>>,
    most_idle: usize,
}

struct Idle {
    connection: AsyncSmtpConnection,
    since: Instant,
}

impl Smtp {
    /// A way that keeps at most `most_idle` connections; none is opened yet.
    pub fn new(settings: &SmtpSettings, most_idle: usize) -> anyhow::Result<Self> {
        let tls = match settings.smtp_tls {
            TlsMode::None => None,
            TlsMode::Starttls | TlsMode::Implicit => Some(
                TlsParameters::new(settings.smtp_host.clone())
                    .context("The setting SMTP_TLS cannot be met: there is no usable root certificate")?,
            ),
        };
        Ok(Self {
            settings: settings.clone(),
            tls,
            hello: ClientId::default(),
            idle: Mutex::default(),
            most_idle,
        })
    }

    /// Hands a message over.
    pub async fn send(&self, message: &Message) -> Result<(), SmtpError> {
        let envelope = message.envelope();
        let longest = Duration::from_secs(self.settings.smtp_timeout_seconds);
        timeout(longest, self.transmit(envelope, &message.formatted()))
            .await
            .unwrap_or_else(|_| {
                let seconds = longest.as_secs();
                Err(SmtpError::NotNow(format!("it took longer than {seconds} s")))
            })
    }

    /// Says goodbye on the connections that are kept.
    pub async fn close(&self, patience: Duration) {
        let kept = std::mem::take(&mut *self.idle());
        let goodbyes = async {
            for mut idle in kept {
                idle.connection.abort().await;
            }
        };
        if timeout(patience, goodbyes).await.is_err() {
            tracing::debug!("the mail server was left without a goodbye");
        }
    }

    /// Every early return drops the connection, which closes it.
    async fn transmit(&self, envelope: &Envelope, message: &[u8]) -> Result<(), SmtpError> {
        let mut connection = match self.kept().await {
            Some(connection) => connection,
            None => self.connect().await.map_err(|error| {
                // Whatever the server says before a message is about us, not about the message.
                SmtpError::NotNow(without_addresses(&error.to_string(), envelope))
            })?,
        };
        let sent = connection.send(envelope, message).await;
        sent.map_err(|error| explain(&error, envelope))?;
        self.keep(connection);
        Ok(())
    }

    async fn connect(&self) -> Result<AsyncSmtpConnection, lettre::transport::smtp::Error> {
        let settings = &self.settings;
        let from_the_start = self
            .tls
            .clone()
            .filter(|_| settings.smtp_tls == TlsMode::Implicit);
        let mut connection = AsyncSmtpConnection::connect_tokio1(
            (settings.smtp_host.as_str(), settings.smtp_port),
            None,
            &self.hello,
            from_the_start,
            None,
        )
        .await?;
        if let (TlsMode::Starttls, Some(tls)) = (settings.smtp_tls, &self.tls) {
            connection.starttls(tls.clone(), &self.hello).await?;
        }
        if let (Some(user), Some(password)) = (&settings.smtp_user, &settings.smtp_password) {
            let credentials = Credentials::new(user.clone(), password.expose_secret().to_owned());
            connection.auth(DEFAULT_MECHANISMS, &credentials).await?;
        }
        Ok(connection)
    }

    async fn kept(&self) -> Option<AsyncSmtpConnection> {
        loop {
            let mut idle = self.idle().pop()?;
            let good = idle.since.elapsed() < IDLE
                && timeout(STILL_THERE, idle.connection.test_connected())
                    .await
                    .unwrap_or(false);
            if good {
                return Some(idle.connection);
            }
        }
    }

    fn keep(&self, connection: AsyncSmtpConnection) {
        let mut idle = self.idle();
        idle.retain(|idle| idle.since.elapsed() < IDLE);
        if idle.len() < self.most_idle {
            idle.push(Idle {
                connection,
                since: Instant::now(),
            });
        }
    }

    fn idle(&self) -> std::sync::MutexGuard<'_, Vec<Idle>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn explain(error: &lettre::transport::smtp::Error, envelope: &Envelope) -> SmtpError {
    let reason = without_addresses(&error.to_string(), envelope);
    let code = error.status().map(u16::from);
    match code {
        Some(code) if error.is_permanent() && !is_about_us(code) => {
            if says_no_such_address(code, &reason.replace(ADDRESS, "")) {
                SmtpError::NoSuchAddress(reason)
            } else {
                SmtpError::Refused(reason)
            }
        }
        _ => SmtpError::NotNow(reason),
    }
}

/// Refusals of our login (RFC 4954, 6): the operator's to mend, no reason to give up on
/// a message.
fn is_about_us(code: u16) -> bool {
    matches!(code, 530 | 534 | 535 | 538)
}

/// Servers like to repeat the address that they refuse; logs must not hold it.
fn without_addresses(reason: &str, envelope: &Envelope) -> String {
    let is_local_part = |word: &str| {
        envelope
            .to()
            .iter()
            .any(|address| address.user().eq_ignore_ascii_case(word))
    };
    let words = reason.split_whitespace().map(|word| {
        let bare = word.trim_matches(|c: char| c.is_ascii_punctuation());
        if word.contains('@') || is_local_part(bare) {
            ADDRESS
        } else {
            word
        }
    });
    words.collect::<Vec<_>>().join(" ").chars().take(300).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn envelope() -> Envelope {
        let to = "asha.rao@example.com".parse().expect("an address");
        Envelope::new(None, vec![to]).expect("an envelope")
    }

    #[test]
    fn a_refusal_is_logged_without_the_address() {
        for (said, logged) in [
            (
                "permanent error (550): 5.1.1 <asha.rao@example.com>: Recipient address rejected",
                "permanent error (550): 5.1.1 [address] Recipient address rejected",
            ),
            ("550 No such user: ASHA.RAO.", "550 No such user: [address]"),
            ("421 Too busy", "421 Too busy"),
        ] {
            assert_eq!(without_addresses(said, &envelope()), logged);
        }
    }

    #[test]
    fn a_refused_login_is_not_the_fault_of_the_message() {
        assert!(is_about_us(535));
        assert!(!is_about_us(550));
    }
}
