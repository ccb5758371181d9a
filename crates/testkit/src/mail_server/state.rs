//! How a mail server behaves, and what it saw.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use tokio_rustls::TlsAcceptor;

/// Scripted reply to one attempt to hand over a mail.
#[derive(Clone, Copy)]
pub enum ScriptedReply {
    /// It is accepted.
    Take,
    /// It is accepted, but that is said only after this delay.
    TakeAfter(Duration),
    /// These words answer the recipient's address.
    ToRecipient(&'static str),
    /// These words answer the recipient's address, and nothing is said afterwards.
    RefuseAndHang(&'static str),
    /// These words answer the whole mail.
    ToContent(&'static str),
    /// Nothing is said after the content until the server is told to go on.
    Hold,
    /// Nothing is read of the content until the server is told to go on.
    HoldUnread,
    /// The connection ends within the content.
    HangUp,
}

/// Behaviour towards every client.
#[derive(Default)]
pub struct Behaviour {
    /// How connections are encrypted.
    pub encryption: Encryption,
    /// What becomes of a login.
    pub login: Login,
    /// What answers our own address, where it is refused.
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

/// What becomes of a login.
#[derive(Default)]
pub enum Login {
    /// Nobody is let in.
    #[default]
    Refused,
    /// One user is let in, by one mechanism.
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
    pub(super) records: Mutex<Records>,
}

#[derive(Default)]
pub(super) struct Records {
    pub(super) begun: usize,
    pub(super) attempts: HashMap<String, usize>,
    pub(super) accepted: Vec<(String, String)>,
    pub(super) held: usize,
    pub(super) connections: usize,
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
        (self.plan)(recipient, attempt)
    }
}
