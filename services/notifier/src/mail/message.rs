//! A mail and its message: headers, parts and signature, as they go over the wire (RFC 5322, MIME).

use lettre::{
    Message,
    message::{Mailbox, MultiPart, SinglePart},
};
use mail_templates::{Kind, Rendered};
use minijinja::Value;
use site_events::{Channel, Event, EventData};
use time::OffsetDateTime;
use uuid::Uuid;

use super::{
    context::MailContext,
    error::MailError,
    headers::{self, AttachmentName},
    wording,
};

/// The namespace under which mails get the boundaries of their parts.
const BOUNDARIES: Uuid = Uuid::from_u128(0x6f63_756c_616e_7400_8000_6d61_696c_7061);

/// A mail before it is rendered.
#[derive(Clone)]
pub struct Mail {
    /// Which kind of mail it is.
    pub kind: Kind,
    /// The same whenever the mail is sent again; stands before the `@` of its `Message-ID`.
    pub id: String,
    /// The same in all mails that belong together.
    pub conversation: String,
    /// What it tells machines beyond the usual.
    pub headers: Vec<(&'static str, String)>,
    /// Who gets it.
    pub to: Mailbox,
    /// Who an answer goes to.
    pub reply_to: Option<Mailbox>,
    /// The address that unsubscribes in one click, in mails to subscribers.
    pub unsubscribe: Option<String>,
    /// A file that comes with it.
    pub attachment: Option<File>,
    /// What its templates show.
    pub values: Value,
}

/// A file that comes with a mail.
#[derive(Clone)]
pub struct File {
    /// Its name.
    pub name: String,
    /// Its media type.
    pub content_type: String,
    /// What it holds.
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

    /// The words, from the templates.
    ///
    /// # Errors
    ///
    /// If a template asks for what it is not given.
    pub fn rendered(&self, context: &MailContext) -> Result<Rendered, MailError> {
        let mut words = context.templates.render(self.kind, &self.values)?;
        words.subject = wording::one_line(&words.subject);
        Ok(words)
    }

    /// The message, the same for the same mail and time.
    ///
    /// # Errors
    ///
    /// If a template is wrong, or the parts do not make a message.
    pub fn into_message(self, context: &MailContext, now: OffsetDateTime) -> Result<Message, MailError> {
        let words = self.rendered(context)?;
        let (id, conversation) = (&self.id, &self.conversation);
        let domain = context.from.email.domain();
        let mut message = Message::builder()
            .message_id(Some(format!("<{id}@{domain}>")))
            .references(format!("<{conversation}@{domain}>"))
            .date(now.into())
            .from(context.from.clone())
            .to(self.to)
            .raw_header(headers::text("Subject", words.subject));
        for (name, value) in self.headers {
            message = message.raw_header(headers::text(name, value));
        }
        if let Some(reply_to) = self.reply_to {
            message = message.raw_header(headers::reply_to(reply_to));
        }
        // An out-of-office note would answer the visitor, of whom sales and recruiters hear by it, too (RFC 3834, 5).
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
        let words = MultiPart::alternative()
            .boundary(boundary("words"))
            .singlepart(SinglePart::plain(words.text))
            .singlepart(SinglePart::html(words.html));
        let body = match self.attachment {
            None => words,
            Some(file) => MultiPart::mixed()
                .boundary(boundary("whole"))
                .multipart(words)
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

/// Among whom a mail is talked about. All mails of one person and one conversation refer to the same first mail,
/// which was never sent: so mail programs show them together (RFC 5322, 3.6.4).
fn conversation(channel: Channel) -> &'static str {
    match channel {
        Channel::SalesLead => "sales",
        Channel::RecruiterApplication => "recruiters",
        Channel::ContactAcknowledgement => "contact",
        Channel::ApplicationAcknowledgement => "careers",
        Channel::NewsletterConfirmation | Channel::NewsletterWelcome | Channel::NewsletterGoodbye => {
            "newsletter"
        }
    }
}
