//! What a mail server is offered when a connection to it is encrypted, from its start or by STARTTLS.

use anyhow::ensure;
use clap::Parser;
use testkit::{
    CertificateAuthority,
    client_hello::{is_modern, offered_cipher_suites},
};
use tokio::{
    io::{AsyncBufReadExt, AsyncWriteExt, BufReader},
    net::{TcpListener, TcpStream},
};

use super::{SmtpPool, SmtpSettings};

#[derive(Parser)]
pub(super) struct Flags {
    #[command(flatten)]
    pub smtp: SmtpSettings,
}

/// Says what comes before TLS (RFC 3207).
async fn agree_on_starttls(stream: &mut TcpStream) -> anyhow::Result<()> {
    let mut stream = BufReader::new(stream);
    stream.write_all(b"220 mail.example ESMTP\r\n").await?;
    for (command, answer) in [
        ("EHLO", "250-mail.example\r\n250 STARTTLS\r\n"),
        ("STARTTLS", "220 2.0.0 Ready\r\n"),
    ] {
        let mut line = String::new();
        stream.read_line(&mut line).await?;
        ensure!(line.starts_with(command), "{line}");
        stream.write_all(answer.as_bytes()).await?;
    }
    Ok(())
}

#[tokio::test]
async fn both_ways_to_encrypt_offer_no_tls_before_1_2_and_forward_secrecy_alone() -> anyhow::Result<()> {
    let authority = CertificateAuthority::new()?;
    let trusted = authority.file().to_string_lossy();
    for mode in ["starttls", "implicit"] {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let port = listener.local_addr()?.port().to_string();
        let flags = [
            "notifier",
            "--smtp-tls",
            mode,
            "--smtp-port",
            &port,
            "--smtp-ca-file",
            &trusted,
        ];
        let pool = SmtpPool::new(&Flags::try_parse_from(flags)?.smtp, 1)?;
        let server = async {
            let (mut stream, _) = listener.accept().await?;
            if mode == "starttls" {
                agree_on_starttls(&mut stream).await?;
            }
            offered_cipher_suites(stream).await
        };
        let (offered, connection) = tokio::join!(server, pool.connect());
        let offered = offered?;
        assert!(connection.is_err(), "{mode}: the server said nothing");
        assert!(!offered.is_empty(), "{mode}");
        for suite in offered {
            assert!(is_modern(&suite), "{mode}: {suite}");
        }
    }
    Ok(())
}
