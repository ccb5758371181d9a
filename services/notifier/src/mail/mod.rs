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

use lettre::Message;
pub use mail_templates::{Brand, Rendered};
use serde_json::from_slice;
use site_broker::Delivery;
use site_events::Channel;
use time::OffsetDateTime;

pub use self::{
    context::MailContext,
    error::MailError,
    issue::issue,
    message::Mail,
    operator::{DigestContent, dead_letters},
    recruiter_extras::{EarlierApplication, RecruiterExtras, RecruiterExtrasLoader},
    visitor::visitor_address,
};

pub fn attachment(channel: Channel, delivery: &Delivery) -> Result<Attachment, MailError> {
    match channel {
        Channel::RecruiterApplication => Ok(recruiter_extras::attachment(&delivery.event()?)),
        _ => Ok(Attachment::LeftOut),
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attachment {
    Wanted,
    /// The mail links to it.
    LeftOut,
}

/// The signed message of a delivery.
pub async fn write(
    context: &MailContext,
    recruiter_extras: &RecruiterExtrasLoader,
    channel: Channel,
    delivery: &Delivery,
    attachment: Attachment,
    now: OffsetDateTime,
) -> Result<Message, MailError> {
    let extras = match channel {
        Channel::RecruiterApplication => recruiter_extras.load(delivery, attachment).await?,
        _ => RecruiterExtras::default(),
    };
    let mail = mail_of(context, channel, delivery.payload(), extras, now).await?;
    mail.into_message(context, now)
}

/// The mail of a stored event in a channel; the extras are for recruiters.
///
/// # Errors
///
/// If the event does not match the channel, its address is invalid, or its link has expired.
pub async fn mail_of(
    context: &MailContext,
    channel: Channel,
    event: &[u8],
    extras: RecruiterExtras,
    now: OffsetDateTime,
) -> Result<Mail, MailError> {
    match channel {
        Channel::SalesLead => contact::lead(context, &from_slice(event)?),
        Channel::ContactAcknowledgement => contact::acknowledgement(context, &from_slice(event)?),
        Channel::NewsletterConfirmation => newsletter::confirmation(context, &from_slice(event)?, now),
        Channel::NewsletterWelcome => newsletter::welcome(context, &from_slice(event)?),
        Channel::NewsletterGoodbye => newsletter::goodbye(context, &from_slice(event)?),
        Channel::RecruiterApplication => {
            careers::application(context, &from_slice(event)?, extras, now).await
        }
        Channel::ApplicationAcknowledgement => careers::acknowledgement(context, &from_slice(event)?),
    }
}
