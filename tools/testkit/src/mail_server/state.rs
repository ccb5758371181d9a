//! How a mail server behaves, and what it saw.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use base64::{Engine, prelude::BASE64_STANDARD};
use sha2::{Digest, Sha256};
use tokio::{sync::watch, time::Instant};
use tokio_rustls::TlsAcceptor;

use crate::Keep;

/// Scripted reply to one attempt to hand over a mail.
#[derive(Clone, Copy)]
pub enum ScriptedReply {
    /// It is accepted.
    Take,
    /// It is accepted, but that is said only after this delay.
    TakeAfter(Duration),
    /// It is accepted; its recipient's address is, too, but only after this delay.
    TakeRecipientAfter(Duration),
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
    /// Nothing is said after the content, and the connection ends when the server's fault does.
    HangWhileFaulty,
}

/// What a mail server does wrong with every mail, whatever its plan says.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum MailFault {
    /// Nothing: its plan holds.
    #[default]
    None,
    /// Every recipient is refused, for now (450).
    RefuseRecipients,
    /// Every mail is refused after its content, for now (451).
    RefuseContents,
    /// The same without a word that says whether it is due to the mail or to the server (451, RFC 5321, section 4.2.3).
    LocalError,
    /// Nothing is said after the content; the connection ends when the fault does.
    Hang,
    /// The connection ends within the content.
    HangUp,
    /// All connections end, and nobody listens at the port.
    Away,
}

impl MailFault {
    /// What it makes of an attempt that the plan answers so.
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

/// What identifies a mail that was accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedMail {
    /// Whom it was for.
    pub recipient: String,
    /// Its header `Message-ID`, empty where there is none.
    pub message_id: String,
    /// SHA-256 of each attachment's content, where only what identifies mails is kept.
    pub attachments: Vec<[u8; 32]>,
    /// When.
    pub at: Instant,
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
    /// What is kept of the mails that are accepted.
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
    pub(super) fault: watch::Sender<MailFault>,
    pub(super) records: Mutex<Records>,
}

#[derive(Default)]
pub(super) struct Records {
    pub(super) begun: usize,
    pub(super) attempts: HashMap<String, usize>,
    pub(super) accepted: Vec<AcceptedMail>,
    /// Recipient and content of each, where everything is kept.
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

    /// Notes a mail that is accepted.
    pub(super) fn accept(&self, recipient: String, content: String) {
        let message_id = message_id(&content).to_owned();
        let attachments = match self.behaviour.keep {
            Keep::Everything => Vec::new(),
            Keep::Identity => attachments(&content).collect(),
        };
        self.records(|records| {
            records.accepted.push(AcceptedMail {
                recipient: recipient.clone(),
                message_id,
                attachments,
                // Under the lock: in the order in which they stand.
                at: Instant::now(),
            });
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

/// The value of the header `Message-ID`, which may stand on a line of its own (RFC 5322, 2.2.3).
fn message_id(content: &str) -> &str {
    let mut headers = content.lines().take_while(|line| !line.is_empty());
    let value = headers.find_map(|line| {
        let (name, value) = line.split_once(':')?;
        name.eq_ignore_ascii_case("message-id").then_some(value.trim())
    });
    match value {
        Some("") => headers.next().unwrap_or_default().trim(),
        value => value.unwrap_or_default(),
    }
}

/// SHA-256 of what each attachment holds (RFC 2183). It is expected in base64, as all that is no text is.
fn attachments(content: &str) -> impl Iterator<Item = [u8; 32]> {
    content.split("\n--").filter_map(|part| {
        let (headers, body) = part.split_once("\n\n")?;
        let is_attachment = |line: &str| {
            line.to_ascii_lowercase()
                .starts_with("content-disposition: attachment")
        };
        let encoded: String = headers
            .lines()
            .any(is_attachment)
            .then(|| body.lines().collect())?;
        let held = BASE64_STANDARD.decode(&encoded);
        Some(Sha256::digest(held.unwrap_or_else(|_| encoded.into_bytes())).into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_id_is_found_among_the_headers_only() {
        for (content, expected) in [
            ("Subject: a\nmessage-id: <1@site>\n\nbody", "<1@site>"),
            ("Message-ID:\n <2@site>\nSubject: a\n\nbody", "<2@site>"),
            ("Subject: a\n\nMessage-ID: <3@site>", ""),
        ] {
            assert_eq!(message_id(content), expected, "{content}");
        }
    }
    #[test]
    fn each_attachment_is_known_by_its_content() {
        let part = |disposition, body| format!("--a\nContent-Disposition: {disposition}\n\n{body}\n");
        let mail = format!(
            "Subject: a\n\n{}{}{}--a--\n",
            part("inline", "eA=="),
            part("attachment; filename=\"cv.pdf\"", "AP8A\n/w=="),
            part("attachment", ""),
        );
        let told: Vec<_> = attachments(&mail).collect();
        let expected: [&[u8]; 2] = [&[0, 255, 0, 255], &[]];
        let expected: Vec<[u8; 32]> = expected.map(|content| Sha256::digest(content).into()).into();
        assert_eq!(told, expected);
    }
}
