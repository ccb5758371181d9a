//! A visitor wrote to us: sales hear of it, the visitor hears that we have it.

use minijinja::context;
use site_events::{Channel, Event, event::ContactReceived};

use super::{
    context::MailContext,
    error::MailError,
    message::Mail,
    name::PlainName,
    visitor::{answer_to, origin, ours, visitor},
    wording,
};

/// The message, to sales. Answering the mail answers the visitor. That of a check goes to its own inbox in place of sales.
///
/// # Errors
///
/// If no mail can go to the check's address.
pub fn lead(context: &MailContext, event: &Event<ContactReceived>) -> Result<Mail, MailError> {
    let from = &event.data;
    let values = context! {
        name => from.name.as_str(),
        email => from.email.as_str(),
        message => from.message.as_str(),
        origin => origin(from.attribution.as_ref()),
        sent => wording::time(event.time),
        event_id => event.id.to_string(),
    };
    let to = match event.subject.is_synthetic() {
        true => visitor(None, &from.email)?,
        false => context.sales.clone(),
    };
    Ok(Mail {
        reply_to: answer_to(&from.name, &from.email),
        ..Mail::about(event, Channel::SalesLead, to, values)
    })
}

/// To the visitor. It does not repeat the message: else anyone could have us send any
/// text to any address.
///
/// # Errors
///
/// If no mail can go to the visitor's address.
pub fn acknowledgement(context: &MailContext, event: &Event<ContactReceived>) -> Result<Mail, MailError> {
    let from = &event.data;
    let name = PlainName::parse(&from.name);
    let values = context! {
        name => name.as_ref().map(PlainName::as_str),
        sent => wording::time(event.time),
    };
    let to = visitor(name, &from.email)?;
    Ok(Mail {
        reply_to: Some(ours(context, &context.brand.emails.sales)),
        ..Mail::about(event, Channel::ContactAcknowledgement, to, values)
    })
}
