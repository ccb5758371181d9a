//! Connection to the mail server, by lettre, over a socket of our own: lettre sets no `TCP_NODELAY`, which costs 40 ms a mail.

use std::{io, time::Duration};

use anyhow::Context as _;
use lettre::{
    address::Envelope,
    transport::smtp::{
        Error,
        authentication::{Credentials, DEFAULT_MECHANISMS},
        client::{AsyncSmtpConnection, Certificate, TlsParameters},
        commands::{Data, Mail, Rcpt},
        extension::{ClientId, Extension, MailParameter},
        response::Response,
    },
};
use site_service::settings::ExposeSecret;
use tokio::{net::TcpStream, time::timeout};

use super::{
    failure::{SmtpFailure, SmtpStage},
    refusal::Refusal,
    settings::{SmtpSettings, TlsMode, hello},
};

/// How long QUIT may take.
const QUIT_TIMEOUT: Duration = Duration::from_secs(1);

/// What connections are opened with.
pub struct Connector {
    settings: SmtpSettings,
    hello: ClientId,
    /// None where connections are not encrypted: a host without root certificates needs none then.
    tls: Option<TlsParameters>,
}

impl Connector {
    /// For this server. Its HELO is as set, or else the domain that mails are from.
    ///
    /// # Errors
    ///
    /// If there is no usable root certificate, or that domain is no host's name.
    pub fn new(settings: &SmtpSettings, sender_domain: &str) -> anyhow::Result<Self> {
        let tls = match settings.smtp_tls {
            TlsMode::None => None,
            TlsMode::Starttls | TlsMode::Implicit => Some(tls_parameters(settings)?),
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

    /// Connects, and logs in where a user is set (RFC 4954).
    ///
    /// # Errors
    ///
    /// If the server is not reached, or takes nothing from us.
    pub async fn connect(&self) -> Result<Connection, SmtpFailure> {
        let server = (self.settings.smtp_host.as_str(), self.settings.smtp_port);
        let smtp = match self.settings.smtp_tls {
            TlsMode::None | TlsMode::Starttls => {
                let socket = socket(server).await.map_err(SmtpFailure::unavailable)?;
                AsyncSmtpConnection::connect_with_transport(Box::new(socket), &self.hello).await
            }
            // lettre gives no way to wrap a socket of our own.
            TlsMode::Implicit => {
                AsyncSmtpConnection::connect_tokio1(server, None, &self.hello, self.tls.clone(), None).await
            }
        };
        let logged_in = async {
            let mut smtp = smtp?;
            if let (TlsMode::Starttls, Some(tls)) = (self.settings.smtp_tls, &self.tls) {
                smtp.starttls(tls.clone(), &self.hello).await?;
            }
            if let (Some(user), Some(password)) = (&self.settings.smtp_user, &self.settings.smtp_password) {
                let credentials = Credentials::new(user.clone(), password.expose_secret().to_owned());
                smtp.auth(DEFAULT_MECHANISMS, &credentials).await?;
            }
            Ok(Connection(smtp))
        };
        logged_in
            .await
            .map_err(|error: Error| SmtpFailure::of(&error, SmtpStage::Sender, None))
    }
}

fn tls_parameters(settings: &SmtpSettings) -> anyhow::Result<TlsParameters> {
    let mut tls = TlsParameters::builder(settings.smtp_host.clone());
    if let Some(trusted) = &settings.smtp_ca_file {
        tls = tls.add_root_certificate(Certificate::from_pem(trusted.pem())?);
    }
    tls.build().context("The setting SMTP_TLS cannot be met")
}

async fn socket(server: (&str, u16)) -> io::Result<TcpStream> {
    let socket = TcpStream::connect(server).await?;
    socket.set_nodelay(true)?;
    Ok(socket)
}

/// Connection to the mail server. After a rejection it is of no use any more.
pub struct Connection(AsyncSmtpConnection);

impl Connection {
    /// Names the sender (RFC 5321, 3.3).
    ///
    /// # Errors
    ///
    /// If the server takes nothing from us, or the connection fails.
    pub async fn send_sender(&mut self, envelope: &Envelope) -> Result<(), SmtpFailure> {
        let mut parameters = Vec::new();
        let mut addresses = envelope.to().iter().chain(envelope.from());
        if !addresses.all(|address| AsRef::<str>::as_ref(address).is_ascii()) {
            // RFC 6531. The content is ASCII: lettre encodes it.
            if !self.0.server_info().supports_feature(Extension::SmtpUtfEight) {
                let reason = "it takes no address that is not ASCII (SMTPUTF8)";
                return Err(SmtpFailure::refused(Refusal::Recipient, reason));
            }
            parameters.push(MailParameter::SmtpUtfEight);
        }
        let mail = Mail::new(envelope.from().cloned(), parameters);
        let answer = self.0.command(mail).await;
        self.check(answer, SmtpStage::Sender, envelope).await
    }

    /// Names the recipients, and announces the content.
    ///
    /// # Errors
    ///
    /// If the server rejects one of them, or the connection fails.
    pub async fn send_recipients(&mut self, envelope: &Envelope) -> Result<(), SmtpFailure> {
        for to in envelope.to() {
            let answer = self.0.command(Rcpt::new(to.clone(), Vec::new())).await;
            self.check(answer, SmtpStage::Recipient, envelope).await?;
        }
        let answer = self.0.command(Data).await;
        self.check(answer, SmtpStage::Content, envelope).await
    }

    /// Sends the content: if this succeeds, the server has the mail.
    ///
    /// # Errors
    ///
    /// If the server rejects it, or the connection fails.
    pub async fn send_content(&mut self, content: &[u8], envelope: &Envelope) -> Result<(), SmtpFailure> {
        let answer = self.0.message(content).await;
        self.check(answer, SmtpStage::Content, envelope).await
    }

    async fn check(
        &mut self,
        answer: Result<Response, Error>,
        stage: SmtpStage,
        envelope: &Envelope,
    ) -> Result<(), SmtpFailure> {
        let Err(error) = answer else { return Ok(()) };
        if error.status().is_some() {
            self.abort().await;
        }
        Err(SmtpFailure::of(&error, stage, Some(envelope)))
    }

    /// Sends QUIT and closes the connection.
    pub async fn quit(mut self) {
        self.abort().await;
    }

    async fn abort(&mut self) {
        // A server that does not answer has the refusal or the mail behind it.
        let _answered = timeout(QUIT_TIMEOUT, self.0.abort()).await;
    }
}
