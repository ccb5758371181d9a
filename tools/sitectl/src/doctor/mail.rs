//! Whether the mail server answers.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use lettre::{AsyncSmtpTransport, Tokio1Executor};
use site_service::error_line;
use tokio::{net::TcpStream, time::timeout};

use crate::finding::Finding;

/// How long the server may take for each answer.
const TIMEOUT: Duration = Duration::from_secs(10);
/// Here the server speaks TLS from the first byte (RFC 8314, 3.3): that it can be reached is all that is seen.
const IMPLICIT_TLS: u16 = 465;

/// Greets the server, where one is named.
pub async fn examine(host: Option<&str>, port: u16) -> Finding {
    let Some(host) = host else {
        return Finding::warning(
            "mail server",
            "not looked at, because SMTP_HOST is not given",
            "give SMTP_HOST and SMTP_PORT to learn whether it answers",
        );
    };
    let what = format!("mail server {host}:{port}");
    match greet(host, port).await {
        Ok(()) => Finding::ok(what, "answers"),
        Err(error) => Finding::wrong(what, error_line(error.as_ref()), "see SMTP_HOST and SMTP_PORT"),
    }
}

async fn greet(host: &str, port: u16) -> anyhow::Result<()> {
    if port == IMPLICIT_TLS {
        let connected = timeout(TIMEOUT, TcpStream::connect((host, port))).await;
        connected
            .context("Connection timed out")?
            .context("Connection error")?;
        return Ok(());
    }
    let server = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(host);
    let server = server.port(port).timeout(Some(TIMEOUT));
    let server: AsyncSmtpTransport<Tokio1Executor> = server.build();
    ensure!(server.test_connection().await?, "it hung up");
    Ok(())
}
