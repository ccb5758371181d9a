//! The mails: who gets what for which event, and what the operator hears.

pub mod careers;
pub mod contact;
pub mod newsletter;
pub mod operator;

use lettre::{Address, Message, message::Mailbox};
use minijinja::{Value, context};
use site_events::{Attribution, Channel, Delivery};
use time::OffsetDateTime;
use visitor::EmailAddress;

use crate::{
    applications::{Applications, Unknown},
    mail_context::MailContext,
    message::Letter,
    wording,
};

/// Why a mail could not be written.
#[derive(Debug, thiserror::Error)]
pub enum MailError {
    /// The event is not what its channel takes. Only the place is told: the reader's own
    /// words repeat the value, which may be a visitor's name or message.
    #[error("the event cannot be read: it is not what its type says (line {}, column {})", .0.line(), .0.column())]
    Event(#[from] serde_json::Error),
    /// A browser takes addresses that no mail server does (`a..b@example.com`).
    #[error("the visitor's address is not one that a mail can go to")]
    Address,
    /// The link to the résumé could not be made.
    #[error(transparent)]
    Link(#[from] resumes::StoreError),
    /// What the mail encloses cannot be had now.
    #[error(transparent)]
    Enclosed(#[from] Unknown),
    /// The link that the mail is for leads nowhere any more.
    #[error("the sign-up expired before its mail could be sent")]
    Expired,
    /// The résumé says of itself what no file is.
    #[error("the résumé has no media type")]
    Attachment,
    /// A template asks for what it is not given.
    #[error("the template is wrong: {0}")]
    Template(#[from] minijinja::Error),
    /// The parts do not make a message.
    #[error("the message cannot be put together: {0}")]
    Message(#[from] lettre::error::Error),
}

impl MailError {
    /// Whether trying again is in vain. A template that is wrong is not: the next
    /// release mends it, and the event is still there.
    pub fn is_final(&self) -> bool {
        match self {
            Self::Event(_) | Self::Address | Self::Expired | Self::Attachment | Self::Message(_) => true,
            Self::Link(_) | Self::Enclosed(_) | Self::Template(_) => false,
        }
    }
}

/// The message that a delivery calls for.
pub async fn write(
    context: &MailContext,
    applications: &Applications,
    channel: Channel,
    delivery: &Delivery,
    now: OffsetDateTime,
) -> Result<Message, MailError> {
    let letter = match channel {
        Channel::SalesLead => contact::lead(context, &delivery.event()?),
        Channel::ContactAcknowledgement => contact::acknowledgement(context, &delivery.event()?)?,
        Channel::NewsletterConfirmation => newsletter::confirmation(context, &delivery.event()?, now)?,
        Channel::NewsletterWelcome => newsletter::welcome(context, &delivery.event()?)?,
        Channel::NewsletterGoodbye => newsletter::goodbye(context, &delivery.event()?)?,
        Channel::RecruiterApplication => {
            let event = delivery.event()?;
            let enclosed = applications.enclosed(&event, delivery.attempt).await?;
            careers::application(context, &event, enclosed, now).await?
        }
        Channel::ApplicationAcknowledgement => careers::acknowledgement(context, &delivery.event()?)?,
    };
    Letter::into_message(letter, context, now)
}

/// The visitor as a recipient, by name where the name is fit to be repeated.
fn visitor(name: Option<&str>, email: &EmailAddress) -> Result<Mailbox, MailError> {
    let address: Address = email.as_str().parse().map_err(|_| MailError::Address)?;
    let name = name.and_then(wording::repeatable).map(wording::one_line);
    Ok(Mailbox::new(name, address))
}

/// The visitor as the one to answer. Where no mail can go to the address, our people
/// still hear of the visitor, and see the address in the mail.
fn answer_to(name: &str, email: &EmailAddress) -> Option<Mailbox> {
    let address = email.as_str().parse().ok()?;
    Some(Mailbox::new(Some(wording::one_line(name)), address))
}

/// One of our own addresses, by the company's name.
fn ours(context: &MailContext, address: &Address) -> Mailbox {
    Mailbox::new(Some(context.brand.name.clone()), address.clone())
}

/// Where the visitor came from, where that is known.
fn origin(attribution: Option<&Attribution>) -> Value {
    attribution.map_or_else(
        || Value::from(()),
        |attribution| {
            context! {
                page => attribution.page.as_deref(),
                referrer => attribution.referrer.as_deref(),
                campaign => attribution.campaign(),
            }
        },
    )
}
