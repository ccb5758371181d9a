//! Builds the message of a mail: headers, parts and signature (RFC 5322, MIME).

use lettre::{
    Message,
    message::{Mailbox, MultiPart, SinglePart},
};
use minijinja::Value;
use site_events::{Channel, Event, EventData};
use site_mail::{Kind, Rendered};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{
    context::MailContext,
    error::MailError,
    headers::{self, AttachmentName},
    wording,
};

/// UUID namespace of MIME boundaries, which are the same at every attempt.
const BOUNDARIES: Uuid = Uuid::from_u128(0x6f63_756c_616e_7400_8000_6d61_696c_7061);

/// A mail before rendering.
#[derive(Clone)]
pub struct Mail {
    /// Selects the templates.
    pub kind: Kind,
    /// Local part of the `Message-ID`, the same at every attempt.
    pub id: String,
    /// Local part of `References`, shared by the mails of one conversation.
    pub conversation: String,
    /// Additional headers.
    pub headers: Vec<(&'static str, String)>,
    /// Recipient.
    pub to: Mailbox,
    /// `Reply-To`.
    pub reply_to: Option<Mailbox>,
    /// One-click unsubscribe link, in mails to subscribers.
    pub unsubscribe: Option<String>,
    /// Attached file.
    pub attachment: Option<File>,
    /// Template values.
    pub values: Value,
}

/// An attached file.
#[derive(Clone)]
pub struct File {
    /// File name.
    pub name: String,
    /// Media type.
    pub content_type: String,
    /// The bytes.
    pub content: Vec<u8>,
}

impl Mail {
    /// A mail about an event.
    pub fn about<D: EventData>(event: &Event<D>, channel: Channel, to: Mailbox, values: Value) -> Self {
        Self {
            kind: Kind::Event(channel),
            id: format!("{}.{}", event.id, channel.name()),
            conversation: format!("{}.{}", event.subject, conversation(channel)),
            headers: vec![
                ("X-Event-Id", event.id.to_string()),
                ("X-Request-Id", wording::one_line(&event.requestid)),
            ],
            to,
            reply_to: None,
            unsubscribe: None,
            attachment: None,
            values,
        }
    }

    /// Subject, text and HTML.
    ///
    /// # Errors
    ///
    /// If a template fails.
    pub fn rendered(&self, context: &MailContext) -> Result<Rendered, MailError> {
        let mut rendered = context.templates.render(self.kind, &self.values)?;
        rendered.subject = wording::one_line(&rendered.subject);
        Ok(rendered)
    }

    /// The signed message, identical for the same mail and time.
    ///
    /// # Errors
    ///
    /// If a template fails, or the parts do not form a message.
    pub fn into_message(self, context: &MailContext, now: OffsetDateTime) -> Result<Message, MailError> {
        let rendered = self.rendered(context)?;
        let (id, conversation) = (&self.id, &self.conversation);
        let domain = context.from.email.domain();
        let mut message = Message::builder()
            .message_id(Some(format!("<{id}@{domain}>")))
            .references(format!("<{conversation}@{domain}>"))
            .date(now.into())
            .from(context.from.clone())
            .to(self.to)
            .raw_header(headers::text("Subject", rendered.subject));
        for (name, value) in self.headers {
            message = message.raw_header(headers::text(name, value));
        }
        if let Some(reply_to) = self.reply_to {
            message = message.raw_header(headers::reply_to(reply_to));
        }
        // Suppresses out-of-office replies (RFC 3834, 5), which would go to the visitor.
        message = message.raw_header(headers::text("Auto-Submitted", "auto-generated".into()));
        if let Some(link) = self.unsubscribe {
            message = message
                .raw_header(headers::text("List-Unsubscribe", format!("<{link}>")))
                .raw_header(headers::text(
                    "List-Unsubscribe-Post",
                    "List-Unsubscribe=One-Click".into(),
                ));
        }
        let boundary = |part: &str| {
            let unique = Uuid::new_v5(&BOUNDARIES, format!("{id}.{part}").as_bytes());
            format!("=_{}", unique.simple())
        };
        let texts = MultiPart::alternative()
            .boundary(boundary("words"))
            .singlepart(SinglePart::plain(rendered.text))
            .singlepart(SinglePart::html(rendered.html));
        let body = match self.attachment {
            None => texts,
            Some(file) => MultiPart::mixed()
                .boundary(boundary("whole"))
                .multipart(texts)
                .singlepart(attached(file)?),
        };
        let mut message = message.multipart(body)?;
        if let Some(signer) = &context.signer {
            signer.sign(&mut message);
        }
        Ok(message)
    }
}

fn attached(file: File) -> Result<SinglePart, MailError> {
    let name = AttachmentName::new(&file.name);
    Ok(SinglePart::builder()
        .header(name.disposition())
        .header(name.content_type(&file.content_type)?)
        .body(file.content))
}

/// Mails of one person and conversation refer to the same message id, which no mail has. Mail programs group
/// mails by that reference (RFC 5322, 3.6.4).
fn conversation(channel: Channel) -> &'static str {
    let name = channel.name();
    let part = match channel.is_to_visitor() {
        true => name.split('-').next(),
        false => name.rsplit('-').next(),
    };
    part.unwrap_or(name)
}
