//! Mails of events: rendered from templates and put into signed messages.

mod careers;
mod contact;
mod context;
mod error;
mod headers;
mod issue;
mod message;
mod name;
mod newsletter;
mod operator;
mod positions;
mod recruiter_extras;
mod visitor;
mod wording;

use ::visitor::EmailAddress;
use lettre::Message;
use serde_json::from_slice;
use site_broker::Delivery;
use site_events::{
    Channel, Event,
    event::{
        CareersApplied, ContactReceived, NewsletterConfirmed, NewsletterRequested, NewsletterUnsubscribed,
    },
};
pub use site_mail::{Brand, Rendered};
use time::OffsetDateTime;

pub use self::{
    context::MailContext,
    error::MailError,
    issue::issue,
    message::Mail,
    operator::{DigestContent, dead_letters},
    recruiter_extras::{EarlierApplication, RecruiterExtras, RecruiterExtrasLoader, attachment},
};

/// A parsed event with its channel.
pub enum MailEvent {
    /// A lead for sales.
    SalesLead(Event<ContactReceived>),
    /// The acknowledgement of a contact message.
    ContactAcknowledgement(Event<ContactReceived>),
    /// A sign-up to confirm.
    NewsletterConfirmation(Event<NewsletterRequested>),
    /// A welcome.
    NewsletterWelcome(Event<NewsletterConfirmed>),
    /// A goodbye.
    NewsletterGoodbye(Event<NewsletterUnsubscribed>),
    /// An application for the recruiters.
    RecruiterApplication(Event<CareersApplied>),
    /// The acknowledgement of an application.
    ApplicationAcknowledgement(Event<CareersApplied>),
}

impl MailEvent {
    /// Reads a stored event.
    ///
    /// # Errors
    ///
    /// If the event does not match the channel.
    pub fn read(channel: Channel, stored: &[u8]) -> Result<Self, MailError> {
        Ok(match channel {
            Channel::SalesLead => Self::SalesLead(from_slice(stored)?),
            Channel::ContactAcknowledgement => Self::ContactAcknowledgement(from_slice(stored)?),
            Channel::NewsletterConfirmation => Self::NewsletterConfirmation(from_slice(stored)?),
            Channel::NewsletterWelcome => Self::NewsletterWelcome(from_slice(stored)?),
            Channel::NewsletterGoodbye => Self::NewsletterGoodbye(from_slice(stored)?),
            Channel::RecruiterApplication => Self::RecruiterApplication(from_slice(stored)?),
            Channel::ApplicationAcknowledgement => Self::ApplicationAcknowledgement(from_slice(stored)?),
        })
    }

    /// The visitor's address.
    pub fn email(&self) -> &EmailAddress {
        match self {
            Self::SalesLead(event) | Self::ContactAcknowledgement(event) => &event.data.email,
            Self::NewsletterConfirmation(event) => &event.data.email,
            Self::NewsletterWelcome(event) => &event.data.email,
            Self::NewsletterGoodbye(event) => &event.data.email,
            Self::RecruiterApplication(event) | Self::ApplicationAcknowledgement(event) => &event.data.email,
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attachment {
    Wanted,
    /// The mail only links to the résumé.
    LeftOut,
}

/// The signed message of a delivery.
pub async fn write(
    context: &MailContext,
    recruiter_extras: &RecruiterExtrasLoader,
    event: &MailEvent,
    delivery: &Delivery,
    attachment: Attachment,
    now: OffsetDateTime,
) -> Result<Message, MailError> {
    let extras = match event {
        MailEvent::RecruiterApplication(event) => recruiter_extras.load(event, delivery, attachment).await?,
        _ => RecruiterExtras::default(),
    };
    let mail = mail_of(context, event, extras, now).await?;
    mail.into_message(context, now)
}

/// The mail of an event. Only the recruiters' mail uses the extras.
///
/// # Errors
///
/// If the visitor's address is invalid, or the link has expired.
pub async fn mail_of(
    context: &MailContext,
    event: &MailEvent,
    extras: RecruiterExtras,
    now: OffsetDateTime,
) -> Result<Mail, MailError> {
    match event {
        MailEvent::SalesLead(event) => contact::lead(context, event),
        MailEvent::ContactAcknowledgement(event) => contact::acknowledgement(context, event),
        MailEvent::NewsletterConfirmation(event) => newsletter::confirmation(context, event, now),
        MailEvent::NewsletterWelcome(event) => newsletter::welcome(context, event),
        MailEvent::NewsletterGoodbye(event) => newsletter::goodbye(context, event),
        MailEvent::RecruiterApplication(event) => careers::application(context, event, extras, now).await,
        MailEvent::ApplicationAcknowledgement(event) => careers::acknowledgement(context, event),
    }
}
