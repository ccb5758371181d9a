//! What a mail server is told to do.

use std::time::Duration;

use tokio_rustls::TlsAcceptor;

/// Scripted reply to one attempt to hand over a mail.
#[derive(Debug, Clone, Copy)]
pub enum ScriptedReply {
    /// It is accepted.
    Take,
    /// It is accepted, and answered after this delay.
    TakeAfter(Duration),
    /// It is accepted; its recipient is answered after this delay.
    TakeRecipientAfter(Duration),
    /// The recipient is answered with these words.
    ToRecipient(&'static str),
    /// The same, and nothing is answered afterwards.
    RefuseAndHang(&'static str),
    /// The content is answered with these words.
    ToContent(&'static str),
    /// The content is not answered until [`MailServer::release_held`](super::MailServer::release_held).
    Hold,
    /// The content is not read until then.
    HoldUnread,
    /// The connection ends within the content.
    HangUp,
    /// The content is not answered; the connection ends with the server's fault.
    Hang,
}

/// Fault of a mail server, which overrides its plan.
#[derive(Debug, Clone, Copy, Default)]
pub enum MailFault {
    /// No fault.
    #[default]
    None,
    /// Each attempt has this reply.
    Each(ScriptedReply),
    /// All connections end, and the port is closed.
    Away,
}

pub(super) type Plan = dyn Fn(&str, usize) -> ScriptedReply + Send + Sync;

/// Behaviour towards every client.
#[derive(Default)]
pub struct Behaviour {
    /// How connections are encrypted.
    pub encryption: Encryption,
    /// The login that is accepted; none if all are refused.
    pub login: Option<Login>,
    /// Refusal of the sender's address.
    pub to_sender: Option<&'static str>,
}

/// How connections are encrypted.
#[derive(Default)]
pub enum Encryption {
    /// Not at all.
    #[default]
    None,
    /// After the command STARTTLS.
    Starttls(TlsAcceptor),
    /// From the first byte on.
    Implicit(TlsAcceptor),
}

/// A user, who is accepted by one mechanism.
pub struct Login {
    /// PLAIN or LOGIN.
    pub mechanism: &'static str,
    /// The user's name.
    pub user: String,
    /// The user's password.
    pub password: &'static str,
}
