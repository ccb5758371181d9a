//! A mailbox at an IMAP server, over TLS (RFC 3501; RFC 8314, 3.2).

use std::{sync::Arc, time::Duration};

use anyhow::Context as _;
use async_imap::Client;
use site_service::{
    settings::{ExposeSecret, Secret},
    tls::public_client_config,
};
use tokio::{net::TcpStream, time::timeout};
use tokio_rustls::{TlsConnector, client::TlsStream, rustls::pki_types::ServerName};

/// How long the server may take to let us in.
const OPEN_TIMEOUT: Duration = Duration::from_secs(30);

/// Where a mailbox is, and who may read it.
pub struct Account<'a> {
    pub host: &'a str,
    pub port: u16,
    pub user: &'a str,
    pub password: &'a Secret,
    /// The folder that is read.
    pub folder: &'a str,
}

/// A mailbox, with its folder open.
pub type Session = async_imap::Session<TlsStream<TcpStream>>;

impl Account<'_> {
    /// Logs in, and opens the folder.
    ///
    /// # Errors
    ///
    /// If the server is not reached, is not who it should be, does not let us in, or has no such folder.
    pub async fn open(&self) -> anyhow::Result<Session> {
        let opened = timeout(OPEN_TIMEOUT, self.open_now()).await;
        opened
            .unwrap_or_else(|_| Err(anyhow::anyhow!("no answer within {} s", OPEN_TIMEOUT.as_secs())))
            .with_context(|| format!("The mailbox at {}:{} cannot be read", self.host, self.port))
    }

    async fn open_now(&self) -> anyhow::Result<Session> {
        let host =
            ServerName::try_from(self.host.to_owned()).context("its name is none (setting IMAP_HOST)")?;
        let socket = TcpStream::connect((self.host, self.port)).await;
        let connector = TlsConnector::from(Arc::new(public_client_config(None)?));
        let stream = connector
            .connect(host, socket.context("not reached")?)
            .await
            .context("TLS failed")?;
        let mut client = Client::new(stream);
        client.read_response().await?.context("it hung up")?;
        let login = client.login(self.user, self.password.expose_secret()).await;
        let mut session = login
            .map_err(|(error, _)| error)
            .context("the login was refused (settings IMAP_USER, IMAP_PASSWORD)")?;
        session.select(self.folder).await?;
        Ok(session)
    }
}
