//! Connection to the mail server, by lettre, over a stream of our own: lettre's sends small pieces late (no `TCP_NODELAY`), which would
//! cost 40 ms a mail.

use std::{
    fmt::Display,
    io,
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use anyhow::Context as _;
use bytes::Bytes;
use lettre::{
    address::Envelope,
    transport::smtp::{
        Error,
        authentication::{Credentials, DEFAULT_MECHANISMS},
        client::{AsyncSmtpConnection, AsyncTokioStream, Certificate, TlsParameters},
        commands::{Data, Mail, Rcpt},
        extension::{ClientId, Extension, MailParameter},
        response::Response,
    },
};
use site_service::{settings::ExposeSecret, tls::public_client_config};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    net::{TcpStream, lookup_host},
    time::timeout,
};
use tokio_rustls::{
    TlsConnector,
    client::TlsStream,
    rustls::{ClientConfig, pki_types::ServerName},
};

use super::{
    error::{HandOverError, SmtpStage},
    limits::BudgetShare,
    settings::{SmtpSettings, TlsMode, hello},
};

/// How long the network may take to connect: while it takes longer, it is tried again and again.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(3);
/// How long QUIT may take.
const QUIT_TIMEOUT: Duration = Duration::from_secs(1);
/// The most of a content that is written in one piece.
const PIECE_BYTES: usize = 64 * 1024;

/// What connections are opened with.
pub struct Connector {
    settings: SmtpSettings,
    hello: ClientId,
    tls: Tls,
}

/// How connections are encrypted.
enum Tls {
    None,
    /// After the greeting (RFC 3207).
    Starttls(TlsParameters),
    /// From the start (RFC 8314).
    Implicit(Arc<ClientConfig>),
}

impl Connector {
    /// For this server; to it we are called as the settings say, or else as the domain that mails are from.
    ///
    /// # Errors
    ///
    /// If the connections are to be encrypted, and there is no usable root certificate; or that domain is no host's name.
    pub fn new(settings: &SmtpSettings, sender_domain: &str) -> anyhow::Result<Self> {
        let unusable = "The setting SMTP_TLS cannot be met";
        let trusted = settings.smtp_ca_file.as_ref();
        let tls = match settings.smtp_tls {
            TlsMode::None => Tls::None,
            TlsMode::Starttls => {
                let mut tls = TlsParameters::builder(settings.smtp_host.clone());
                if let Some(trusted) = trusted {
                    tls = tls.add_root_certificate(Certificate::from_pem(trusted.pem())?);
                }
                Tls::Starttls(tls.build().context(unusable)?)
            }
            TlsMode::Implicit => Tls::Implicit(Arc::new(public_client_config(trusted).context(unusable)?)),
        };
        let hello = match &settings.smtp_helo {
            Some(name) => name.clone(),
            None => hello(sender_domain)
                .map_err(|reason| anyhow::anyhow!("The domain of MAIL_FROM is wrong: {reason}"))?,
        };
        Ok(Self {
            settings: settings.clone(),
            hello,
            tls,
        })
    }

    /// Connects, and logs in where there is somebody to log in as (RFC 4954).
    ///
    /// # Errors
    ///
    /// If the server is not reached, or takes nothing from us.
    pub async fn connect(&self) -> Result<Connection, HandOverError> {
        let unreachable = |error: io::Error| HandOverError::Unreachable(error.to_string());
        let stream = self.stream().await.map_err(unreachable)?;
        self.greet(stream)
            .await
            .map_err(|error| HandOverError::of(&error, SmtpStage::Greeting, None))
    }

    async fn greet(&self, stream: Box<dyn AsyncTokioStream>) -> Result<Connection, Error> {
        let mut smtp = AsyncSmtpConnection::connect_with_transport(stream, &self.hello).await?;
        if let Tls::Starttls(tls) = &self.tls {
            smtp.starttls(tls.clone(), &self.hello).await?;
        }
        if let (Some(user), Some(password)) = (&self.settings.smtp_user, &self.settings.smtp_password) {
            let credentials = Credentials::new(user.clone(), password.expose_secret().to_owned());
            smtp.auth(DEFAULT_MECHANISMS, &credentials).await?;
        }
        Ok(Connection(smtp))
    }

    async fn stream(&self) -> io::Result<Box<dyn AsyncTokioStream>> {
        let host = &self.settings.smtp_host;
        let tcp = self.tcp(host).await?;
        tcp.set_nodelay(true)?;
        let Tls::Implicit(tls) = &self.tls else {
            return Ok(Box::new(tcp));
        };
        let name = ServerName::try_from(host.clone()).map_err(io::Error::other)?;
        let encrypted = TlsConnector::from(tls.clone()).connect(name, tcp).await?;
        Ok(Box::new(Encrypted(encrypted)))
    }

    /// To the first of the host's addresses that is reached.
    async fn tcp(&self, host: &str) -> io::Result<TcpStream> {
        let within = CONNECT_TIMEOUT.min(self.settings.smtp_timeout);
        let mut failed = io::Error::new(io::ErrorKind::NotFound, "the host has no address");
        for address in lookup_host((host, self.settings.smtp_port)).await? {
            match timeout(within, TcpStream::connect(address)).await {
                Ok(Ok(stream)) => return Ok(stream),
                Ok(Err(error)) => failed = error,
                Err(late) => failed = late.into(),
            }
        }
        Err(failed)
    }
}

/// Connection to the mail server. After a refusal it is of no use any more.
pub struct Connection(AsyncSmtpConnection);

impl Connection {
    /// Names sender and recipients, and says that the content follows (RFC 5321, 3.3).
    ///
    /// # Errors
    ///
    /// If the server refuses one of them, or the connection fails; and at which stage.
    pub async fn send_envelope(&mut self, envelope: &Envelope) -> Result<(), (SmtpStage, HandOverError)> {
        let mut addresses = envelope.to().iter().chain(envelope.from());
        let mut parameters = Vec::new();
        if !addresses.all(|address| AsRef::<str>::as_ref(address).is_ascii()) {
            // RFC 6531. The content is ASCII: lettre encodes it.
            if !self.0.server_info().supports_feature(Extension::SmtpUtfEight) {
                let error = HandOverError::international_address();
                return Err((SmtpStage::Recipient, error));
            }
            parameters.push(MailParameter::SmtpUtfEight);
        }
        let mail = Mail::new(envelope.from().cloned(), parameters);
        self.command(SmtpStage::Sender, mail, envelope).await?;
        for to in envelope.to() {
            let rcpt = Rcpt::new(to.clone(), Vec::new());
            self.command(SmtpStage::Recipient, rcpt, envelope).await?;
        }
        self.command(SmtpStage::Data, Data, envelope).await
    }

    async fn command(
        &mut self,
        stage: SmtpStage,
        command: impl Display,
        envelope: &Envelope,
    ) -> Result<(), (SmtpStage, HandOverError)> {
        let answer = self.0.command(command).await;
        self.check(answer, stage, envelope)
            .await
            .map_err(|error| (stage, error))
    }

    /// Sends the content: where this succeeds, the server has the mail. It may take ten minutes to say so: meanwhile nothing is held of the
    /// content, nor of the budget.
    ///
    /// # Errors
    ///
    /// If the server refuses it, or the connection fails.
    pub async fn send_content(&mut self, content: Content, envelope: &Envelope) -> Result<(), HandOverError> {
        let answer = self.0.message_iter(content.into_pieces()).await;
        self.check(answer, SmtpStage::Content, envelope).await
    }

    async fn check(
        &mut self,
        answer: Result<Response, Error>,
        stage: SmtpStage,
        envelope: &Envelope,
    ) -> Result<(), HandOverError> {
        let Err(error) = answer else { return Ok(()) };
        if error.status().is_some() {
            self.quit().await;
        }
        Err(HandOverError::of(&error, stage, Some(envelope)))
    }

    /// Says goodbye.
    pub async fn quit(&mut self) {
        if timeout(QUIT_TIMEOUT, self.0.abort()).await.is_err() {
            tracing::debug!("the mail server did not answer a goodbye");
        }
    }
}

/// A message's content, with the share of the budget that its attachment takes.
pub struct Content {
    pub message: Bytes,
    pub share: BudgetShare,
}

impl Content {
    /// lettre drops them before it waits for the answer.
    fn into_pieces(self) -> impl Iterator<Item = Bytes> + Send {
        let Self { mut message, share } = self;
        std::iter::from_fn(move || {
            let _until_all_is_written = &share;
            let piece = message.split_to(message.len().min(PIECE_BYTES));
            (!piece.is_empty()).then_some(piece)
        })
    }
}

/// A stream that is encrypted from the start.
#[derive(Debug)]
struct Encrypted(TlsStream<TcpStream>);

impl AsyncTokioStream for Encrypted {
    fn peer_addr(&self) -> io::Result<SocketAddr> {
        self.0.get_ref().0.peer_addr()
    }
}

impl AsyncRead for Encrypted {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_read(context, buffer)
    }
}

impl AsyncWrite for Encrypted {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.0).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.0).poll_shutdown(context)
    }
}
