//! Connection to the broker, NATS.

use std::{env, error::Error as _, future::ready, path::PathBuf, sync::Arc, time::Duration};

use async_nats::{
    Client,
    ConnectErrorKind::{Authentication, AuthorizationViolation, Dns, ServerParse},
    ConnectOptions, ReconnectToServer,
    connection::State,
    jetstream::{self, context::ContextBuilder},
};
use clap::Args;

use crate::{
    error_line,
    nats_login::{Attempts, credentials},
    settings::Secret,
    tls::CaFile,
};

/// Older servers silently drop settings that streams and consumers rely on.
const MIN_SERVER_VERSION: (u64, u64) = (2, 11);

const STARTUP_TIMEOUT: Duration = Duration::from_secs(30);

const REQUEST_TIMEOUT: Duration = Duration::from_secs(3);
/// Short, because a stalled server still accepts connections, and another server may work.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(2);
/// The client reconnects at the third unanswered ping, so it tolerates a stall of some seconds. In a cluster,
/// [`crate::health`] moves the client sooner.
const PING_INTERVAL: Duration = Duration::from_secs(5);

/// How long a request waits for a reconnection. After a server stops, its clients reconnect elsewhere in
/// milliseconds.
const RECONNECTING: Duration = Duration::from_secs(1);
const RECONNECTION_CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// Addresses of the broker, and our login.
#[derive(Args, Debug, Clone)]
pub struct NatsSettings {
    /// Addresses of the NATS servers, separated by commas
    #[arg(long, env = "NATS_URL", default_value = "nats://127.0.0.1:4222")]
    pub nats_url: String,
    /// User name at the NATS server
    #[arg(long, env = "NATS_USER", requires = "nats_password")]
    pub nats_user: Option<String>,
    /// Password at the NATS server
    #[arg(long, env = "NATS_PASSWORD", hide_env_values = true, requires = "nats_user")]
    pub nats_password: Option<Secret>,
    /// File of the password, read again for each connection
    #[arg(skip = env::var_os("NATS_PASSWORD_FILE").map(PathBuf::from))]
    pub nats_password_file: Option<PathBuf>,
    /// Credentials (.creds) at the NATS server, which replace user and password
    #[arg(long, env = "NATS_CREDENTIALS", hide_env_values = true, value_parser = credentials)]
    pub nats_credentials: Option<Secret>,
    /// File of the credentials, read again for each connection
    #[arg(skip = env::var_os("NATS_CREDENTIALS_FILE").map(PathBuf::from))]
    pub nats_credentials_file: Option<PathBuf>,
    /// File (PEM) of the authorities for the certificate of the NATS server; if set, connections use TLS only
    #[arg(long, env = "NATS_CA_FILE", value_parser = CaFile::parse)]
    pub nats_ca_file: Option<CaFile>,
}

/// The broker cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("NATS at {url} cannot be used: {reason}")]
pub struct ConnectError {
    url: String,
    reason: String,
}

/// Connects, waiting up to 30 s for a starting server; reconnects for the life of the process.
///
/// # Errors
///
/// If a setting is invalid, or no server answers in time.
pub async fn connect(settings: &NatsSettings, service: &str) -> Result<Client, ConnectError> {
    connect_within(STARTUP_TIMEOUT, settings, service).await
}

/// [`connect`] with another timeout.
///
/// # Errors
///
/// As [`connect`].
pub async fn connect_within(
    timeout: Duration,
    settings: &NatsSettings,
    service: &str,
) -> Result<Client, ConnectError> {
    let unusable = |reason: String| ConnectError {
        url: settings.nats_url.clone(),
        reason,
    };
    let started = tokio::time::Instant::now();
    let servers: Vec<&str> = settings.nats_url.split(',').collect();
    let client = loop {
        match options(settings, service).connect(servers.as_slice()).await {
            Ok(client) => break client,
            Err(error) if is_final(&error) || started.elapsed() > timeout => {
                return Err(unusable(reason(&error)));
            }
            Err(error) => {
                tracing::warn!(%error, "NATS cannot be reached yet; trying again");
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    };
    let found = client.server_info().version;
    if version(&found) < Some(MIN_SERVER_VERSION) {
        return Err(unusable(format!(
            "it is version {found}; 2.11 or newer is needed"
        )));
    }
    Ok(client)
}

/// Whether the client is connected now.
pub fn is_connected(client: &Client) -> bool {
    client.connection_state() == State::Connected
}

/// Whether the client is connected, or will be within a second.
pub async fn is_connected_soon(client: &Client) -> bool {
    let begun = tokio::time::Instant::now();
    while !is_connected(client) {
        if begun.elapsed() > RECONNECTING {
            return false;
        }
        tokio::time::sleep(RECONNECTION_CHECK_INTERVAL).await;
    }
    true
}

fn reason(error: &async_nats::ConnectError) -> String {
    // The error's text repeats its cause.
    let cause = error.source().map(error_line);
    let cause = cause.unwrap_or_else(|| error.to_string());
    match error.kind() {
        Authentication | AuthorizationViolation => {
            "it refuses the login; check NATS_USER and NATS_PASSWORD, or NATS_CREDENTIALS".to_owned()
        }
        ServerParse | Dns => format!("{cause}; check NATS_URL"),
        _ => format!("{cause}; check that it runs, NATS_URL and NATS_CA_FILE"),
    }
}

fn is_final(error: &async_nats::ConnectError) -> bool {
    matches!(
        error.kind(),
        Authentication | AuthorizationViolation | ServerParse
    )
}

fn options(settings: &NatsSettings, service: &str) -> ConnectOptions {
    let attempts = Arc::new(Attempts::new(settings));
    let choosing = Arc::clone(&attempts);
    let options = ConnectOptions::with_auth_callback(move |nonce| ready(attempts.auth(&nonce)));
    let options = match &settings.nats_ca_file {
        Some(file) => options
            .require_tls(true)
            .add_root_certificates(file.path().to_owned()),
        None => options,
    };
    options
        .name(service)
        .connection_timeout(CONNECTION_TIMEOUT)
        .request_timeout(Some(REQUEST_TIMEOUT))
        .ping_interval(PING_INTERVAL)
        .custom_inbox_prefix(format!("_INBOX_{service}"))
        .reconnect_to_server_callback(move |known, _| {
            let server = choosing.next_server(known);
            ready(server.map(|server| ReconnectToServer {
                addr: server.addr,
                delay: None,
            }))
        })
        .reconnect_delay_callback(Attempts::pause_before)
        .max_reconnects(None)
}

fn version(raw: &str) -> Option<(u64, u64)> {
    let mut parts = raw.split(['.', '-']).map(str::parse);
    match (parts.next(), parts.next()) {
        (Some(Ok(major)), Some(Ok(minor))) => Some((major, minor)),
        _ => None,
    }
}

/// JetStream context with our timeouts.
pub fn jetstream(client: Client) -> jetstream::Context {
    ContextBuilder::new()
        .timeout(REQUEST_TIMEOUT)
        .ack_timeout(REQUEST_TIMEOUT)
        .build(client)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_versions_compare_as_numbers() {
        assert!(version("2.9.10") < Some(MIN_SERVER_VERSION));
        assert!(version("2.11.0") >= Some(MIN_SERVER_VERSION));
        assert!(version("2.15.1-RC.2") >= Some(MIN_SERVER_VERSION));
        assert!(version("unknown") < Some(MIN_SERVER_VERSION));
    }
}
