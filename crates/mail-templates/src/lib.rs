//! What mails look like: their templates, the company that they speak for, and what an issue of the newsletter is rendered with.

mod brand;
mod issue;
mod templates;

pub use brand::Brand;
pub use issue::issue_values;
use lettre::message::Mailbox;
pub use templates::{Kind, Rendered, Templates};

/// Whom our mails are from, or go to, as a setting says it.
///
/// # Errors
///
/// If it is none; the sentence says how one looks.
pub fn mailbox(raw: &str) -> Result<Mailbox, &'static str> {
    raw.parse()
        .map_err(|_| "it is not an e-mail address such as sales@company.com or Sales <sales@company.com>")
}
