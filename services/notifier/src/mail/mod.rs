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

use ::visitor::{EmailAddress, PersonId};
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

    /// Whether the event of this person is mailed. A synthetic form sends only the sales lead, which goes to the
    /// check's own inbox.
    pub fn is_mailed(&self, person: &PersonId) -> bool {
        match self {
            Self::SalesLead(_) => true,
            _ => !person.is_synthetic(),
        }
    }

    /// The visitor's address; none if the mail goes to our staff.
    pub fn visitor(&self) -> Option<&EmailAddress> {
        match self {
            Self::SalesLead(_) | Self::RecruiterApplication(_) => None,
            Self::ContactAcknowledgement(event) => Some(&event.data.email),
            Self::NewsletterConfirmation(event) => Some(&event.data.email),
            Self::NewsletterWelcome(event) => Some(&event.data.email),
            Self::NewsletterGoodbye(event) => Some(&event.data.email),
            Self::ApplicationAcknowledgement(event) => Some(&event.data.email),
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

#[cfg(test)]
mod tests {
    use super::*;

    /// The daily limit needs the address.
    #[test]
    fn every_mail_to_a_visitor_has_the_address() -> Result<(), MailError> {
        let now = OffsetDateTime::UNIX_EPOCH;
        for channel in Channel::ALL {
            let stored = webhooks::sample(channel.event_type(), now).payload;
            let event = MailEvent::read(channel, &stored)?;
            assert_eq!(event.visitor().is_some(), channel.is_to_visitor(), "{channel:?}");
        }
        Ok(())
    }
}
