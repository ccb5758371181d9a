//! Mails of a contact message, to sales and to the visitor.

use minijinja::{context, value::Serde};
use site_events::{Channel, Event, event::ContactReceived};

use super::{
    context::MailContext,
    error::MailError,
    message::Mail,
    name::PlainName,
    visitor::{answer_to, fields, origin, ours, visitor},
    wording,
};

/// The lead to sales, with the visitor as Reply-To. A synthetic submission's lead goes to the check's own inbox.
pub fn lead(context: &MailContext, event: &Event<ContactReceived>) -> Result<Mail, MailError> {
    let from = &event.data;
    let values = context! {
        data => Serde(from),
        fields => fields(from)?,
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

/// The acknowledgement. It must not repeat the message, because anyone can enter a stranger's address.
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
