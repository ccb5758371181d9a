//! The visitor in a mail: as its recipient, as the one to answer, and where they came from.

use lettre::{Address, message::Mailbox};
use minijinja::{Value, context};
use site_events::Attribution;
use visitor::EmailAddress;

use super::{context::MailContext, error::MailError, wording};

/// The visitor as a recipient, by name where the name is fit to be repeated.
///
/// # Errors
///
/// If the address is one that no mail can go to (`a..b@example.com`).
pub fn visitor(name: Option<&str>, email: &EmailAddress) -> Result<Mailbox, MailError> {
    let address: Address = email.as_str().parse().map_err(|_| MailError::Address)?;
    let name = name.and_then(wording::repeatable).map(wording::one_line);
    Ok(Mailbox::new(name, address))
}

/// The visitor as the one to answer. Where no mail can go to the address, our people
/// still hear of the visitor, and see the address in the mail.
pub fn answer_to(name: &str, email: &EmailAddress) -> Option<Mailbox> {
    let address = email.as_str().parse().ok()?;
    Some(Mailbox::new(Some(wording::one_line(name)), address))
}

/// One of our own addresses, by the company's name.
pub fn ours(context: &MailContext, address: &Address) -> Mailbox {
    Mailbox::new(Some(context.brand.name.clone()), address.clone())
}

/// Where the visitor came from, where that is known.
pub fn origin(attribution: Option<&Attribution>) -> Value {
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
