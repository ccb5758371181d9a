//! Accepted mails.

use std::{mem, sync::Arc, time::Duration};

use anyhow::Context;
use mail_parser::{Address, Message, MessageParser, MimeHeaders};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use tokio::time::Instant;

use super::{MailServer, State};
use crate::eventually;

/// Accepted mail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedMail {
    /// Recipient.
    pub recipient: String,
    /// `Message-ID`, empty if missing.
    pub message_id: String,
    /// SHA-256 of each attachment.
    pub attachments: Vec<[u8; 32]>,
    /// Time of acceptance.
    pub at: Instant,
    /// Headers and body, with `\n` line ends.
    pub content: Arc<str>,
}

impl State {
    pub(super) fn accept(&self, recipient: String, content: String) {
        let content: Arc<str> = content.into();
        let mail = MessageParser::default().parse(&*content).unwrap_or_default();
        let id = mail.message_id().map(|id| format!("<{id}>"));
        let mail = AcceptedMail {
            recipient,
            message_id: id.unwrap_or_default(),
            attachments: mail
                .attachments()
                .map(|part| Sha256::digest(part.contents()).into())
                .collect(),
            at: Instant::now(),
            content: content.clone(),
        };
        self.records(|records| records.accepted.push(mail));
    }
}

impl MailServer {
    /// All accepted mails.
    pub fn accepted_mails(&self) -> Vec<AcceptedMail> {
        self.state.records(|records| records.accepted.clone())
    }

    /// Contents of mails to this address.
    pub fn accepted(&self, recipient: &str) -> Vec<String> {
        let mut mails = self.accepted_mails();
        mails.retain(|mail| mail.recipient == recipient);
        mails.iter().map(|mail| mail.content.to_string()).collect()
    }

    /// Removes and returns accepted mails.
    pub fn take_accepted(&self) -> Vec<AcceptedMail> {
        self.state.records(|records| mem::take(&mut records.accepted))
    }

    /// Mails as JSON: `id`, `subject`, `from`, `to`, `replyTo`, `headers` (lower case), `text`, `html`, `attachments`.
    pub fn mails(&self) -> Vec<Value> {
        self.shown(|_| true)
    }

    /// Waits for at least `count` mails to this address.
    pub async fn mails_to(
        &self,
        address: &str,
        count: usize,
        within: Duration,
    ) -> anyhow::Result<Vec<Value>> {
        eventually(&format!("{count} mails to {address}"), within, async || {
            let mails = self.shown(|recipient| recipient == address);
            (mails.len() >= count).then_some(mails)
        })
        .await
    }

    /// Waits for a mail with this text in its subject.
    pub async fn mail(&self, address: &str, subject: &str, within: Duration) -> anyhow::Result<Value> {
        let what = format!("a mail to {address} about \"{subject}\"");
        let matches = |mail: &Value| mail["subject"].as_str().is_some_and(|s| s.contains(subject));
        eventually(&what, within, async || {
            let mails = self.shown(|recipient| recipient == address);
            mails.into_iter().find(matches)
        })
        .await
    }

    /// Raw mail with CRLF line ends.
    pub fn source(&self, mail: &Value) -> anyhow::Result<String> {
        let mails = self.accepted_mails();
        let accepted = mail["id"].as_u64().and_then(|id| mails.get(id as usize));
        Ok(accepted.context("no such mail")?.content.replace('\n', "\r\n"))
    }

    fn shown(&self, is_recipient: impl Fn(&str) -> bool) -> Vec<Value> {
        let mails = self.accepted_mails().into_iter().enumerate();
        mails
            .filter(|(_, mail)| is_recipient(&mail.recipient))
            .filter_map(|(id, mail)| shown(id, &mail.content))
            .collect()
    }
}

fn shown(id: usize, content: &str) -> Option<Value> {
    let mail = MessageParser::default().parse(content)?;
    let attachments: Vec<Value> = mail.attachments().map(|part| {
        let content_type = part.content_type();
        let content_type = content_type.map(|kind| format!("{}/{}", kind.ctype(), kind.subtype().unwrap_or_default()));
        json!({ "fileName": part.attachment_name(), "contentType": content_type, "length": part.contents().len() })
    }).collect();
    Some(json!({
        "id": id,
        "subject": mail.subject(),
        "from": addresses(mail.from()),
        "to": addresses(mail.to()),
        "replyTo": addresses(mail.reply_to()),
        "headers": headers(&mail),
        "text": mail.body_text(0),
        "html": mail.body_html(0),
        "attachments": attachments,
    }))
}

fn addresses(addresses: Option<&Address<'_>>) -> Vec<Value> {
    let addresses = addresses.into_iter().flat_map(Address::iter);
    addresses
        .map(|to| json!({ "address": to.address(), "name": to.name() }))
        .collect()
}

fn headers(mail: &Message<'_>) -> Map<String, Value> {
    let headers = mail.headers_raw();
    headers
        .map(|(name, value)| {
            let words: Vec<&str> = value.split_whitespace().collect();
            (name.to_lowercase(), words.join(" ").into())
        })
        .collect()
}
