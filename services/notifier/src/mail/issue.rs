//! A newsletter issue for one subscriber.

use site_events::{Event, Sending, event::NewsletterIssueRequested, sending::SENDING_NAME};
use site_mail::{Kind, issue_values};
use visitor::EmailAddress;

use super::{
    context::MailContext,
    error::MailError,
    message::Mail,
    visitor::{ours, visitor},
    wording,
};

/// The mail, identical at every attempt. It has one-click unsubscribe (RFC 8058) and `List-Id` (RFC 2919). Receivers
/// count complaints per issue by `Feedback-ID`.
///
/// # Errors
///
/// If the address is invalid.
pub fn issue(
    context: &MailContext,
    event: &Event<NewsletterIssueRequested>,
    sending: &Sending,
    email: &EmailAddress,
) -> Result<Mail, MailError> {
    let issue = &event.data;
    let unsubscribe_links = context.links.unsubscribe_links(&sending.subject, event.time);
    let (domain, brand) = (context.from.email.domain(), &context.brand.name);
    let sender: String = brand
        .to_lowercase()
        .chars()
        .filter(char::is_ascii_alphanumeric)
        .collect();
    Ok(Mail {
        kind: Kind::Issue,
        id: format!("{}.{SENDING_NAME}", sending.id),
        conversation: format!("{}.{SENDING_NAME}", sending.issue),
        headers: vec![
            ("X-Event-Id", event.id.to_string()),
            ("X-Request-Id", wording::one_line(&event.requestid)),
            ("List-Id", format!("{brand} Insights <newsletter.{domain}>")),
            ("Feedback-ID", format!("{}:newsletter:site:{sender}", issue.name)),
        ],
        to: visitor(None, email)?,
        reply_to: Some(ours(context, &context.brand.emails.admin)),
        unsubscribe: Some(unsubscribe_links.one_click),
        attachment: None,
        values: issue_values(issue, &unsubscribe_links.page),
    })
}
