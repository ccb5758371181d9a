//! Transaction of one mail: the commands on a connection, and what the answers to them mean (RFC 5321, 3.3).

use std::{error::Error as StdError, panic::AssertUnwindSafe, time::Duration};

use futures_util::FutureExt;
use lettre::{
    address::Envelope,
    transport::smtp::{
        Error,
        client::{AsyncSmtpConnection, AsyncTokioStream, TlsParameters},
        commands::{Data, Mail, Rcpt},
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

/// Begins a conversation: the server's greeting, its answer to EHLO, and TLS where that begins with a command.
///
/// # Errors
///
/// If the server does not take part in it, or the connection fails.
pub async fn greet(
    stream: Box<dyn AsyncTokioStream>,
    hello: &ClientId,
    starttls: Option<TlsParameters>,
) -> Result<AsyncSmtpConnection, Box<dyn StdError + Send + Sync>> {
    let greeting = async {
        let mut connection = AsyncSmtpConnection::connect_with_transport(stream, hello).await?;
        if let Some(tls) = starttls {
            connection.starttls(tls, hello).await?;
        }
        Ok(connection)
    };
    // lettre 0.11.23 panics over an answer to EHLO that has a line of white space only. The connection is gone with it.
    let greeted = AssertUnwindSafe(greeting).catch_unwind().await;
    greeted.unwrap_or_else(|_| Err("the mail server's answer to EHLO cannot be read".into()))
}

/// The command that begins a transaction.
pub fn mail(envelope: &Envelope) -> Mail {
    Mail::new(envelope.from().cloned(), parameters(envelope))
}

/// Begins a transaction on a connection that is fresh.
///
/// # Errors
///
/// If the server refuses it, or the connection fails.
pub async fn name_sender(
    connection: &mut AsyncSmtpConnection,
    envelope: &Envelope,
) -> Result<(), HandOverError> {
    let stage = if parameters(envelope).is_empty() {
        SmtpStage::Sender
    } else {
        SmtpStage::InternationalSender
    };
    let answer = connection.command(mail(envelope)).await;
    check(connection, answer, stage, envelope).await
}

/// Names the recipients, and says that the content follows.
///
/// # Errors
///
/// If the server refuses one of them, or the connection fails.
pub async fn announce_content(
    connection: &mut AsyncSmtpConnection,
    envelope: &Envelope,
) -> Result<(), HandOverError> {
    for recipient in envelope.to() {
        let rcpt = Rcpt::new(recipient.clone(), Vec::new());
        let answer = connection.command(rcpt).await;
        check(connection, answer, SmtpStage::Recipient, envelope).await?;
    }
    let answer = connection.command(Data).await;
    check(connection, answer, SmtpStage::Data, envelope).await
}

/// Sends the content: where this succeeds, the server has the mail.
///
/// # Errors
///
/// If the server refuses it, or the connection fails.
pub async fn send_content(
    connection: &mut AsyncSmtpConnection,
    content: Content,
    envelope: &Envelope,
) -> Result<(), HandOverError> {
    let answer = content.send(connection).await;
    check(connection, answer, SmtpStage::Content, envelope).await
}

/// What an answer means; after a refusal the connection ends with QUIT.
async fn check(
    connection: &mut AsyncSmtpConnection,
    answer: Result<Response, Error>,
    stage: SmtpStage,
    envelope: &Envelope,
) -> Result<(), HandOverError> {
    let error = match answer {
        Ok(answer) if answer.code().severity == stage.goes_on_by() => return Ok(()),
        Ok(answer) => return Err(out_of_turn(answer.code(), stage)),
        Err(error) => error,
    };
    let answered = error.status().is_some();
    if answered && timeout(QUIT_TIMEOUT, connection.abort()).await.is_err() {
        tracing::debug!("the mail server did not answer a goodbye");
    }
    Err(classify(&error, stage, envelope))
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
