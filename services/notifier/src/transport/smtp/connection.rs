//! SMTP connections over our own socket, with `TCP_NODELAY`. On lettre's own socket a mail takes 40 ms longer.

use std::time::Duration;

use lettre::{
    Address,
    address::Envelope,
    transport::smtp::{
        Error,
        authentication::{Credentials, DEFAULT_MECHANISMS},
        client::AsyncSmtpConnection,
        commands::{Data, Mail, Rcpt},
        extension::MailParameter,
        response::Response,
    },
};
use site_mail::refusal::SmtpStage;
use site_service::settings::ExposeSecret;
use tokio::{
    net::TcpStream,
    time::{Instant, timeout, timeout_at},
};

use super::{Smtp, failure::SmtpFailure};
use crate::settings::TlsMode;

const QUIT_TIMEOUT: Duration = Duration::from_secs(1);
const LATE: &str = "it did not answer in time";

impl Smtp {
    /// Sends one mail. Failures after the server accepted the mail are ignored.
    pub(super) async fn hand_over(&self, envelope: &Envelope, content: &[u8]) -> Result<(), SmtpFailure> {
        let deadline = Instant::now() + self.settings.smtp_timeout;
        let opened = timeout_at(deadline, self.open()).await;
        let opened = opened.unwrap_or_else(|_| Err(SmtpFailure::unanswered(SmtpStage::Sender, LATE)));
        let mut smtp = opened?;
        let accepted = self.transact(&mut smtp, envelope, content, deadline).await;
        // Nothing depends on the answer to QUIT.
        let _answered = timeout(QUIT_TIMEOUT, smtp.abort()).await;
        accepted
    }

    /// Connects, and logs in if a user is set (RFC 4954).
    async fn open(&self) -> Result<AsyncSmtpConnection, SmtpFailure> {
        let server = (self.settings.smtp_host.as_str(), self.settings.smtp_port);
        let greeted = match self.settings.smtp_tls {
            TlsMode::None | TlsMode::Starttls => {
                let socket = TcpStream::connect(server).await;
                let socket = socket.map_err(SmtpFailure::unavailable)?;
                socket.set_nodelay(true).map_err(SmtpFailure::unavailable)?;
                AsyncSmtpConnection::connect_with_transport(Box::new(socket), &self.hello).await
            }
            // Uses lettre's slower socket, because our own TLS stream would take 40 more lines.
            TlsMode::Implicit => {
                AsyncSmtpConnection::connect_tokio1(server, None, &self.hello, self.tls.clone(), None).await
            }
        };
        let logged_in = async {
            let mut smtp = greeted?;
            if let (TlsMode::Starttls, Some(tls)) = (self.settings.smtp_tls, &self.tls) {
                smtp.starttls(tls.clone(), &self.hello).await?;
            }
            if let (Some(user), Some(password)) = (&self.settings.smtp_user, &self.settings.smtp_password) {
                let credentials = Credentials::new(user.clone(), password.expose_secret().to_owned());
                smtp.auth(DEFAULT_MECHANISMS, &credentials).await?;
            }
            Ok(smtp)
        };
        logged_in
            .await
            .map_err(|error: Error| SmtpFailure::of(&error, SmtpStage::Sender, &[]))
    }

    /// One transaction (RFC 5321, 3.3). The deadline covers the steps before the content.
    async fn transact(
        &self,
        smtp: &mut AsyncSmtpConnection,
        envelope: &Envelope,
        content: &[u8],
        deadline: Instant,
    ) -> Result<(), SmtpFailure> {
        let to = envelope.to();
        let mut addresses = to.iter().chain(envelope.from());
        // Only our own addresses can need SMTPUTF8 (RFC 6531), because visitors' addresses and the content are ASCII.
        let needs_utf8 = addresses.any(|address| !AsRef::<str>::as_ref(address).is_ascii());
        let parameters = Vec::from_iter(needs_utf8.then_some(MailParameter::SmtpUtfEight));
        let mail = smtp.command(Mail::new(envelope.from().cloned(), parameters));
        step(mail, SmtpStage::Sender, to, deadline).await?;
        for recipient in to {
            let rcpt = smtp.command(Rcpt::new(recipient.clone(), Vec::new()));
            step(rcpt, SmtpStage::Recipient, to, deadline).await?;
        }
        step(smtp.command(Data), SmtpStage::Content, to, deadline).await?;
        // Longer timeout: a mail that the server accepts after the timeout is sent twice.
        let deadline = Instant::now() + self.settings.smtp_answer_timeout;
        step(smtp.message(content), SmtpStage::Content, to, deadline).await
    }
}

async fn step(
    command: impl Future<Output = Result<Response, Error>>,
    stage: SmtpStage,
    to: &[Address],
    deadline: Instant,
) -> Result<(), SmtpFailure> {
    match timeout_at(deadline, command).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(SmtpFailure::of(&error, stage, to)),
        Err(_) => Err(SmtpFailure::unanswered(stage, LATE)),
    }
}
