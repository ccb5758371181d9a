//! Inbox of the synthetic check, by IMAP over TLS (RFC 3501; RFC 8314, 3.2).

use std::{sync::Arc, time::Duration};

use anyhow::Context as _;
use async_imap::{Client, Session};
use clap::Args;
use futures_util::TryStreamExt as _;
use site_events::Channel;
use site_service::{
    RequestId,
    settings::{ExposeSecret, Secret},
    tls::public_client_config,
};
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::{TlsConnector, client::TlsStream, rustls::pki_types::ServerName};

/// Timeout of connection, login and selection.
const OPEN_TIMEOUT: Duration = Duration::from_secs(30);

/// Inbox that only the check uses.
#[derive(Args, Debug)]
pub struct MailboxSettings {
    /// Host name of the IMAP server
    #[arg(long, env = "IMAP_HOST")]
    imap_host: String,
    /// Port of the IMAP server, which speaks TLS from the first byte
    #[arg(long, default_value_t = 993)]
    imap_port: u16,
    /// User name at the IMAP server
    #[arg(long, env = "IMAP_USER")]
    imap_user: String,
    /// Password at the IMAP server
    #[arg(long, env = "IMAP_PASSWORD", hide_env_values = true)]
    imap_password: Secret,
}

pub struct Mailbox(Session<TlsStream<TcpStream>>);

impl Mailbox {
    /// # Errors
    ///
    /// If the server is unreachable, its certificate is invalid, or it rejects the login.
    pub async fn open(settings: &MailboxSettings) -> anyhow::Result<Self> {
        let opened = timeout(OPEN_TIMEOUT, Self::open_now(settings)).await;
        let opened = opened.context("no answer in time").flatten();
        let (host, port) = (&settings.imap_host, settings.imap_port);
        opened.with_context(|| format!("The mailbox at {host}:{port} cannot be read"))
    }

    async fn open_now(settings: &MailboxSettings) -> anyhow::Result<Self> {
        let host = ServerName::try_from(settings.imap_host.clone())
            .context("its name is invalid (setting IMAP_HOST)")?;
        let socket = TcpStream::connect((&*settings.imap_host, settings.imap_port)).await;
        let connector = TlsConnector::from(Arc::new(public_client_config(None)?));
        let stream = connector
            .connect(host, socket.context("it is unreachable")?)
            .await;
        let mut client = Client::new(stream.context("TLS failed")?);
        client
            .read_response()
            .await?
            .context("it closed the connection")?;
        let login = client.login(&settings.imap_user, settings.imap_password.expose_secret());
        let login = login.await.map_err(|(error, _)| error);
        let mut session = login.context("it rejects the login (settings IMAP_USER, IMAP_PASSWORD)")?;
        session.select("INBOX").await?;
        Ok(Self(session))
    }

    /// Removes the mail of this request and channel. Returns whether it existed.
    ///
    /// # Errors
    ///
    /// If a command fails.
    pub async fn remove(&mut self, request_id: &RequestId, channel: Channel) -> anyhow::Result<bool> {
        // The server announces new mails in its response to NOOP.
        self.0.noop().await?;
        let channel = channel.name();
        let query = format!("HEADER X-Request-Id \"{request_id}\" HEADER Message-ID \".{channel}@\"");
        let found = self.0.uid_search(&query).await?;
        if found.is_empty() {
            return Ok(false);
        }
        let uids: Vec<String> = found.iter().map(u32::to_string).collect();
        let deleted = self.0.uid_store(uids.join(","), "+FLAGS (\\Deleted)").await?;
        deleted.try_collect::<Vec<_>>().await?;
        self.0.expunge().await?.try_collect::<Vec<_>>().await?;
        Ok(true)
    }
}
