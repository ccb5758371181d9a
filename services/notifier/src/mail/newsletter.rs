//! Newsletter mails, except issues.

use minijinja::context;
use site_events::{
    Channel, Event,
    event::{NewsletterConfirmed, NewsletterRequested, NewsletterUnsubscribed},
};

use time::OffsetDateTime;

use super::{
    context::MailContext,
    error::MailError,
    message::Mail,
    visitor::{ours, visitor},
    wording,
};

/// The mail with the confirmation link. An unconfirmed address gets no other mail. Fails if the link has expired.
pub fn confirmation(
    context: &MailContext,
    event: &Event<NewsletterRequested>,
    now: OffsetDateTime,
) -> Result<Mail, MailError> {
    if event.data.expires <= now {
        return Err(MailError::Expired);
    }
    let values = context! {
        link => context.links.confirm_page(&event.subject, event.data.expires),
        expires => wording::time(event.data.expires),
    };
    let to = visitor(None, &event.data.email)?;
    Ok(Mail {
        reply_to: Some(ours(context, &context.brand.emails.admin)),
        ..Mail::about(event, Channel::NewsletterConfirmation, to, values)
    })
}

/// The welcome, with one-click unsubscribe.
pub fn welcome(context: &MailContext, event: &Event<NewsletterConfirmed>) -> Result<Mail, MailError> {
    let unsubscribe_links = context.links.unsubscribe_links(&event.subject, event.time);
    let values = context! { unsubscribe => unsubscribe_links.page };
    let to = visitor(None, &event.data.email)?;
    Ok(Mail {
        reply_to: Some(ours(context, &context.brand.emails.admin)),
        unsubscribe: Some(unsubscribe_links.one_click),
        ..Mail::about(event, Channel::NewsletterWelcome, to, values)
    })
}

/// The goodbye, with the way to subscribe again.
pub fn goodbye(context: &MailContext, event: &Event<NewsletterUnsubscribed>) -> Result<Mail, MailError> {
    let to = visitor(None, &event.data.email)?;
    Ok(Mail {
        reply_to: Some(ours(context, &context.brand.emails.admin)),
        ..Mail::about(event, Channel::NewsletterGoodbye, to, context! {})
    })
}
