//! Whether the mail server answers.

use std::time::Duration;

use anyhow::{Context as _, ensure};
use site_service::error_line;
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufStream},
    net::TcpStream,
    time::timeout,
};

use crate::finding::Finding;

/// How long the server may take for all of it.
const SMTP_CHECK_TIMEOUT: Duration = Duration::from_secs(10);
/// Here the server speaks TLS from the first byte (RFC 8314, 3.3): that it can be reached is all that is seen.
const IMPLICIT_TLS: u16 = 465;
/// The longest line that is read: longer than RFC 5321, 4.5.3.1.5 allows, for servers that send more.
const MAX_LINE_BYTES: u64 = 2_048;

/// Asks the server for a greeting, where one is named.
pub async fn examine(host: Option<&str>, port: u16) -> Finding {
    let Some(host) = host else {
        return Finding::warning(
            "mail server",
            "not looked at, because SMTP_HOST is not given",
            "give SMTP_HOST and SMTP_PORT to learn whether it answers",
        );
    };
    let what = format!("mail server {host}:{port}");
    let asked = timeout(SMTP_CHECK_TIMEOUT, greet(host, port)).await;
    let asked = asked.unwrap_or_else(|_| {
        Err(anyhow::anyhow!(
            "no answer within {} s",
            SMTP_CHECK_TIMEOUT.as_secs()
        ))
    });
    match asked {
        Ok(says) => Finding::ok(what, says),
        Err(error) => Finding::wrong(what, error_line(error.as_ref()), "see SMTP_HOST and SMTP_PORT"),
    }
}

async fn greet(host: &str, port: u16) -> anyhow::Result<&'static str> {
    let socket = TcpStream::connect((host, port)).await.context("not reached")?;
    if port == IMPLICIT_TLS {
        return Ok("can be reached; it speaks TLS only, so no more was asked");
    }
    let mut server = BufStream::new(socket);
    expect(&mut server, "220").await?;
    say(&mut server, "EHLO sitectl.invalid").await?;
    expect(&mut server, "250").await?;
    say(&mut server, "QUIT").await?;
    Ok("answers")
}

async fn say(server: &mut BufStream<TcpStream>, words: &str) -> anyhow::Result<()> {
    server.write_all(format!("{words}\r\n").as_bytes()).await?;
    Ok(server.flush().await?)
}

/// Hears an answer to its last line (RFC 5321, 4.2.1), which must have this code.
async fn expect(server: &mut BufStream<TcpStream>, code: &str) -> anyhow::Result<()> {
    loop {
        let mut line = String::new();
        let mut limited = tokio::io::AsyncReadExt::take(&mut *server, MAX_LINE_BYTES);
        let read = limited
            .read_line(&mut line)
            .await
            .context("what it says is no SMTP")?;
        ensure!(read > 0, "it hung up");
        ensure!(line.starts_with(code), "it says {}", line.trim());
        if line.as_bytes().get(3) != Some(&b'-') {
            return Ok(());
        }
    }
}
