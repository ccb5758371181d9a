//! Behaviour of a mail server, and its records.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio::{sync::watch, time::Instant};
use tokio_rustls::TlsAcceptor;

use super::mails::identified;
use crate::Keep;

/// Scripted reply to one attempt to hand over a mail.
#[derive(Clone, Copy)]
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
    HangWhileFaulty,
}

/// Fault of a mail server, which overrides its plan.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MailFault {
    /// No fault.
    #[default]
    None,
    /// Every recipient is refused for now (450).
    RefuseRecipients,
    /// Every content is refused for now (451).
    RefuseContents,
    /// The same, without an enhanced status code.
    LocalError,
    /// The content is not answered; the connection ends with the fault.
    Hang,
    /// The connection ends within the content.
    HangUp,
    /// All connections end, and the port is closed.
    Away,
}

impl MailFault {
    /// The reply while this fault lasts.
    fn instead_of(self, planned: ScriptedReply) -> ScriptedReply {
        match self {
            Self::None | Self::Away => planned,
            Self::RefuseRecipients => ScriptedReply::ToRecipient("450 4.3.2 Not now"),
            Self::RefuseContents => ScriptedReply::ToContent("451 4.3.0 Not now"),
            Self::LocalError => ScriptedReply::ToContent("451 Local error in processing"),
            Self::Hang => ScriptedReply::HangWhileFaulty,
            Self::HangUp => ScriptedReply::HangUp,
        }
    }
}

/// Identity of a mail that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedMail {
    /// Its recipient.
    pub recipient: String,
    /// Its `Message-ID`, empty if there is none.
    pub message_id: String,
    /// SHA-256 of each attachment's content.
    pub attachments: Vec<[u8; 32]>,
    /// When it was accepted.
    pub at: Instant,
}

/// Behaviour towards every client.
#[derive(Default)]
pub struct Behaviour {
    /// How connections are encrypted.
    pub encryption: Encryption,
    /// How logins are answered.
    pub login: Login,
    /// Refusal of the sender's address.
    pub to_sender: Option<&'static str>,
    /// What is kept of accepted mails.
    pub keep: Keep,
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

/// How logins are answered.
#[derive(Default)]
pub enum Login {
    /// All are refused.
    #[default]
    Refused,
    /// One user is accepted, by one mechanism.
    Taken {
        /// PLAIN or LOGIN.
        mechanism: &'static str,
        /// The user's name.
        user: &'static str,
        /// The user's password.
        password: &'static str,
    },
}

pub(super) type Plan = dyn Fn(&str, usize) -> ScriptedReply + Send + Sync;

pub(super) struct State {
    pub(super) behaviour: Behaviour,
    pub(super) plan: Box<Plan>,
    pub(super) fault: watch::Sender<MailFault>,
    pub(super) records: Mutex<Records>,
}

#[derive(Default)]
pub(super) struct Records {
    pub(super) begun: usize,
    pub(super) attempts: HashMap<String, usize>,
    pub(super) accepted: Vec<AcceptedMail>,
    /// Recipient and content of each, with `Keep::Everything`.
    pub(super) contents: Vec<(String, String)>,
    pub(super) held: usize,
    pub(super) connections: usize,
    pub(super) open_connections: usize,
    pub(super) logins: usize,
    pub(super) plaintext_commands: usize,
}

impl State {
    pub(super) fn records<T>(&self, read: impl FnOnce(&mut Records) -> T) -> T {
        read(&mut self.records.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn answer(&self, recipient: &str) -> ScriptedReply {
        let attempt = self.records(|records| {
            let attempts = records.attempts.entry(recipient.to_owned()).or_default();
            *attempts += 1;
            *attempts
        });
        self.fault.borrow().instead_of((self.plan)(recipient, attempt))
    }

    /// Records a mail that is accepted.
    pub(super) fn accept(&self, recipient: String, content: String) {
        let mail = identified(recipient.clone(), &content);
        self.records(|records| {
            records.accepted.push(mail);
            if self.behaviour.keep == Keep::Everything {
                records.contents.push((recipient, content));
            }
        });
    }

    /// Waits until the fault is another than [`MailFault::Hang`].
    pub(super) async fn hang_is_over(&self) {
        let mut fault = self.fault.subscribe();
        // The sender is gone where nobody is left to answer.
        let _over = fault.wait_for(|fault| *fault != MailFault::Hang).await;
    }
}
