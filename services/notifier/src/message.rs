//! From a mail's words to the message that goes over the wire.

use lettre::{
    Message,
    message::{
        Mailbox, MultiPart, SinglePart,
        header::{HeaderName, HeaderValue},
    },
};
use minijinja::Value;
use site_events::{Channel, Event, EventData};
use time::OffsetDateTime;
use uuid::Uuid;
use visitor::PersonId;

use crate::{desk::Desk, mails::MailError, templates::Words, wording};

/// A mail before it is put into words.
pub struct Letter {
    /// The way it takes; names its templates too.
    pub channel: Channel,
    /// The event that it tells of.
    pub event_id: Uuid,
    /// The person that it is about.
    pub person: PersonId,
    /// The request that caused the event.
    pub request_id: String,
    /// Who gets it.
    pub to: Mailbox,
    /// Who an answer goes to.
    pub reply_to: Option<Mailbox>,
    /// The address that unsubscribes in one click, in mails to subscribers.
    pub unsubscribe: Option<String>,
    /// What its templates show.
    pub values: Value,
}

impl Letter {
    /// A letter about an event.
    pub fn about<D: EventData>(event: &Event<D>, channel: Channel, to: Mailbox, values: Value) -> Self {
        Self {
            channel,
            event_id: event.id,
            person: event.subject.clone(),
            request_id: event.requestid.clone(),
            to,
            reply_to: None,
            unsubscribe: None,
            values,
        }
    }

    /// The words, from the templates.
    pub fn words(&self, desk: &Desk) -> Result<Words, MailError> {
        let mut words = desk.templates.render(self.channel, &self.values)?;
        words.subject = wording::one_line(&words.subject);
        Ok(words)
    }

    /// The message, the same for the same letter and time.
    pub fn into_message(self, desk: &Desk, now: OffsetDateTime) -> Result<Message, MailError> {
        let words = self.words(desk)?;
        let id = format!("{}.{}", self.event_id, self.channel.name());
        let domain = desk.from.email.domain();
        let conversation = format!("{}.{}", self.person, conversation(self.channel));
        let mut message = Message::builder()
            .message_id(Some(format!("<{id}@{domain}>")))
            .references(format!("<{conversation}@{domain}>"))
            .date(now.into())
            .from(desk.from.clone())
            .to(self.to)
            .subject(words.subject)
            .raw_header(header("X-Event-Id", self.event_id.to_string()))
            .raw_header(header("X-Request-Id", wording::one_line(&self.request_id)));
        if let Some(reply_to) = self.reply_to {
            message = message.reply_to(reply_to);
        }
        if is_automatic(self.channel) {
            message = message.raw_header(header("Auto-Submitted", "auto-generated".into()));
        }
        if let Some(link) = self.unsubscribe {
            message = message
                .raw_header(header("List-Unsubscribe", format!("<{link}>")))
                .raw_header(header(
                    "List-Unsubscribe-Post",
                    "List-Unsubscribe=One-Click".into(),
                ));
        }
        let body = MultiPart::alternative()
            .boundary(format!("=_{}", self.event_id.simple()))
            .singlepart(SinglePart::plain(words.text))
            .singlepart(SinglePart::html(words.html));
        let mut message = message.multipart(body)?;
        if let Some(signer) = &desk.signer {
            signer.sign(&mut message);
        }
        Ok(message)
    }
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

/// Whether a mail answers a visitor by itself (RFC 3834, 5): nobody's out-of-office note
/// shall answer it. What goes to our own people is for them to answer.
fn is_automatic(channel: Channel) -> bool {
    match channel {
        Channel::SalesLead | Channel::RecruiterApplication => false,
        Channel::ContactAcknowledgement
        | Channel::NewsletterConfirmation
        | Channel::NewsletterWelcome
        | Channel::NewsletterGoodbye
        | Channel::ApplicationAcknowledgement => true,
    }
}

fn header(name: &'static str, value: String) -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str(name), value)
}
