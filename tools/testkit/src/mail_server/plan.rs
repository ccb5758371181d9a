//! Scripted behaviour of the mail server.

use std::time::Duration;

use tokio_rustls::TlsAcceptor;

/// Reply to one delivery attempt.
#[derive(Debug, Clone, Copy)]
pub enum ScriptedReply {
    /// Accepts the mail.
    Take,
    /// Accepts the mail; answers after this delay.
    TakeAfter(Duration),
    /// Answers RCPT with this reply.
    ToRecipient(&'static str),
    /// Answers the content with this reply.
    ToContent(&'static str),
    /// Answers only after [`MailServer::release_held`](super::MailServer::release_held).
    Hold,
    /// Reads the content only after [`MailServer::release_held`](super::MailServer::release_held).
    HoldUnread,
    /// Closes the connection during the content.
    HangUp,
    /// Never answers the content; closes the connection once the fault is over.
    Hang,
}

/// Fault that overrides the plan.
#[derive(Debug, Clone, Copy, Default)]
pub enum MailFault {
    /// No fault.
    #[default]
    None,
    /// Reply to every attempt.
    Each(ScriptedReply),
    /// Port and connections closed.
    Stopped,
}

pub(super) type Plan = dyn Fn(&str, usize) -> ScriptedReply + Send + Sync;

/// Behaviour towards all clients.
#[derive(Default)]
pub struct Behaviour {
    /// Encryption.
    pub encryption: Encryption,
    /// Accepted login, if any.
    pub login: Option<Login>,
    /// Rejection of the sender.
    pub to_sender: Option<&'static str>,
}

/// Encryption.
#[derive(Default)]
pub enum Encryption {
    /// None.
    #[default]
    None,
    /// STARTTLS.
    Starttls(TlsAcceptor),
    /// Implicit TLS.
    Implicit(TlsAcceptor),
}

/// Accepted user.
pub struct Login {
    /// PLAIN or LOGIN.
    pub mechanism: &'static str,
    /// User name.
    pub user: String,
    /// Password.
    pub password: &'static str,
}
