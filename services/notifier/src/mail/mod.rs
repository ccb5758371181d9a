//! What an event becomes: a mail, rendered from its templates and put into a signed message.

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
pub mod samples;
mod visitor;
mod wording;

use lettre::Message;
pub use mail_templates::{Brand, Rendered};
use site_broker::Delivery;
use site_events::Channel;
use time::OffsetDateTime;

pub use self::{
    context::MailContext,
    error::MailError,
    issue::issue,
    message::Mail,
    operator::{DigestContent, dead_letters},
    recruiter_extras::RecruiterExtrasLoader,
    visitor::visitor_address,
};

/// Whether the message that a delivery calls for has an attachment.
///
/// # Errors
///
/// If the event is not what its channel takes.
pub fn attachment(
    recruiter_extras: &RecruiterExtrasLoader,
    channel: Channel,
    delivery: &Delivery,
) -> Result<Attachment, MailError> {
    match channel {
        Channel::RecruiterApplication => Ok(recruiter_extras.attachment(&delivery.event()?)),
        Channel::SalesLead
        | Channel::ContactAcknowledgement
        | Channel::NewsletterConfirmation
        | Channel::NewsletterWelcome
        | Channel::NewsletterGoodbye
        | Channel::ApplicationAcknowledgement => Ok(Attachment::LeftOut),
    }
}

/// Whether a mail is to have its attachment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Attachment {
    Wanted,
    /// The mail has its link.
    LeftOut,
}

/// The message that a delivery calls for.
///
/// # Errors
///
/// If the event is not what its channel takes, no mail can go to its address, its link has expired, a template is wrong,
/// or what the mail holds beside the event cannot be had now.
pub async fn write(
    context: &MailContext,
    recruiter_extras: &RecruiterExtrasLoader,
    channel: Channel,
    delivery: &Delivery,
    attachment: Attachment,
    now: OffsetDateTime,
) -> Result<Message, MailError> {
    let mail = match channel {
        Channel::SalesLead if delivery.person.is_synthetic() => {
            contact::synthetic_lead(context, &delivery.event()?)?
        }
        Channel::SalesLead => contact::lead(context, &delivery.event()?),
        Channel::ContactAcknowledgement => contact::acknowledgement(context, &delivery.event()?)?,
        Channel::NewsletterConfirmation => newsletter::confirmation(context, &delivery.event()?, now)?,
        Channel::NewsletterWelcome => newsletter::welcome(context, &delivery.event()?)?,
        Channel::NewsletterGoodbye => newsletter::goodbye(context, &delivery.event()?)?,
        Channel::RecruiterApplication => {
            let event = delivery.event()?;
            let extras = match attachment {
                Attachment::Wanted => recruiter_extras.load(&event, delivery).await?,
                Attachment::LeftOut => recruiter_extras.load_without_resume(&event).await?,
            };
            careers::application(context, &event, extras, now).await?
        }
        Channel::ApplicationAcknowledgement => careers::acknowledgement(context, &delivery.event()?)?,
    };
    Mail::into_message(mail, context, now)
}
