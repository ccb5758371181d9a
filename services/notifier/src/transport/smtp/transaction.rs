//! Transaction of one mail: the commands on a connection, and what the answers to them mean (RFC 5321, 3.3).

use std::{error::Error as StdError, iter, panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt;
use lettre::{
    address::Envelope,
    transport::smtp::{
        Error,
        authentication::{Credentials, DEFAULT_MECHANISMS},
        client::{AsyncSmtpConnection, AsyncTokioStream, TlsParameters},
        commands::{Data, Ehlo, Mail, Rcpt},
        extension::{ClientId, MailParameter},
        response::Response,
    },
};
use tokio::time::timeout;

use super::{
    content::Content,
    error::{HandOverError, SmtpStage, classify, out_of_turn},
};

/// How long QUIT may take after a refusal.
const QUIT_TIMEOUT: Duration = Duration::from_secs(1);

/// Conversation with a mail server.
pub struct Connection {
    smtp: AsyncSmtpConnection,
    /// Whether the server takes commands before it has answered those before them (RFC 2920).
    pipelining: bool,
}

impl Connection {
    /// Begins it: the server's greeting, its answer to EHLO, and TLS where that begins with a command.
    ///
    /// # Errors
    ///
    /// If the server does not take part in it, or the connection fails.
    pub async fn greet(
        stream: Box<dyn AsyncTokioStream>,
        hello: &ClientId,
        starttls: Option<TlsParameters>,
    ) -> Result<Self, Box<dyn StdError + Send + Sync>> {
        let greeting = async {
            let mut smtp = AsyncSmtpConnection::connect_with_transport(stream, hello).await?;
            if let Some(tls) = starttls {
                smtp.starttls(tls, hello).await?;
            }
            // Once more: of the answer to its own, lettre tells only what it uses itself.
            let offered = smtp.command(Ehlo::new(hello.clone())).await;
            let pipelining = offered.is_ok_and(|offered| offers_pipelining(&offered));
            Ok(Self { smtp, pipelining })
        };
        // lettre 0.11.23 panics over an answer to EHLO that has a line of white space only. The connection is gone with it.
        let greeted = AssertUnwindSafe(greeting).catch_unwind().await;
        greeted.unwrap_or_else(|_| Err("the mail server's answer to EHLO cannot be read".into()))
    }

    /// Logs in (RFC 4954).
    ///
    /// # Errors
    ///
    /// If the server refuses it, or the connection fails.
    pub async fn log_in(&mut self, credentials: &Credentials) -> Result<(), Error> {
        let answer = self.smtp.auth(DEFAULT_MECHANISMS, credentials).await;
        answer.map(drop)
    }

    /// Whether the server still answers.
    pub async fn is_alive(&mut self) -> bool {
        self.smtp.test_connected().await
    }

    /// Says goodbye.
    pub async fn quit(mut self) {
        self.smtp.abort().await;
    }

    /// Begins a transaction: names sender and recipients, and says that the content follows; all of it at once where the server
    /// takes that.
    ///
    /// # Errors
    ///
    /// If the server refuses one of them, or the connection fails; and at which.
    pub async fn send_envelope(&mut self, envelope: &Envelope) -> Result<(), (SmtpStage, HandOverError)> {
        let commands = commands(envelope);
        for (number, (stage, command)) in commands.iter().enumerate() {
            let answer = match (self.pipelining, number) {
                (false, _) => self.smtp.command(command).await,
                (true, 0) => self.smtp.command(all(&commands)).await,
                (true, _) => self.smtp.read_response().await,
            };
            let said = if self.pipelining {
                commands.len()
            } else {
                number + 1
            };
            let unanswered = said - number - 1;
            let checked = self.check(answer, *stage, unanswered, envelope).await;
            checked.map_err(|error| (*stage, error))?;
        }
        Ok(())
    }

    /// Sends the content: where this succeeds, the server has the mail.
    ///
    /// # Errors
    ///
    /// If the server refuses it, or the connection fails.
    pub async fn send_content(&mut self, content: Content, envelope: &Envelope) -> Result<(), HandOverError> {
        let answer = content.send(&mut self.smtp).await;
        self.check(answer, SmtpStage::Content, 0, envelope).await
    }

    /// What an answer means; after a refusal the connection ends, once so many more commands are answered.
    async fn check(
        &mut self,
        answer: Result<Response, Error>,
        stage: SmtpStage,
        unanswered: usize,
        envelope: &Envelope,
    ) -> Result<(), HandOverError> {
        let error = match answer {
            Ok(answer) if answer.code().severity == stage.goes_on_by() => return Ok(()),
            Ok(answer) => return Err(out_of_turn(answer.code(), stage)),
            Err(error) => error,
        };
        let answered = error.status().is_some();
        if answered && timeout(QUIT_TIMEOUT, self.leave(unanswered)).await.is_err() {
            tracing::debug!("the mail server did not answer a goodbye");
        }
        Err(classify(&error, stage, envelope))
    }

    /// Ends the connection with QUIT, unless the server waits for a content by now: it would take that for its beginning.
    async fn leave(&mut self, unanswered: usize) {
        for _ in 0..unanswered {
            let answer = self.smtp.read_response().await;
            if answer.is_ok_and(|answer| answer.code().severity == SmtpStage::Data.goes_on_by()) {
                return;
            }
        }
        self.smtp.abort().await;
    }
}

/// Whether the answer to EHLO has the keyword of RFC 2920.
fn offers_pipelining(answer: &Response) -> bool {
    let mut offered = answer.message().skip(1);
    offered.any(|line| line.trim_end().eq_ignore_ascii_case("PIPELINING"))
}

/// The commands that come before a content.
fn commands(envelope: &Envelope) -> Vec<(SmtpStage, String)> {
    let parameters = parameters(envelope);
    let stage = if parameters.is_empty() {
        SmtpStage::Sender
    } else {
        SmtpStage::InternationalSender
    };
    let sender = (stage, Mail::new(envelope.from().cloned(), parameters).to_string());
    let recipients = envelope.to().iter().map(|recipient| {
        let rcpt = Rcpt::new(recipient.clone(), Vec::new());
        (SmtpStage::Recipient, rcpt.to_string())
    });
    iter::once(sender)
        .chain(recipients)
        .chain(iter::once((SmtpStage::Data, Data.to_string())))
        .collect()
}

fn all(commands: &[(SmtpStage, String)]) -> String {
    commands.iter().map(|(_, command)| command.as_str()).collect()
}

/// An address beyond ASCII needs a server that knows such (RFC 6531); one that does not
/// refuses the parameter. The content is ASCII: lettre encodes it.
fn parameters(envelope: &Envelope) -> Vec<MailParameter> {
    let mut addresses = envelope.to().iter().chain(envelope.from());
    if addresses.all(|address| AsRef::<str>::as_ref(address).is_ascii()) {
        Vec::new()
    } else {
        vec![MailParameter::SmtpUtfEight]
    }
}
