//! Mail templates with their values, DKIM signatures, and causes of rejections.

mod brand;
pub mod dkim;
mod issue;
pub mod refusal;
mod templates;

pub use brand::Brand;
pub use issue::issue_values;
use lettre::message::Mailbox;
pub use templates::{Kind, Rendered, Templates};

/// Parses a sender or recipient from the settings.
///
/// # Errors
///
/// If it is no address; the sentence shows an example.
pub fn mailbox(raw: &str) -> Result<Mailbox, &'static str> {
    raw.parse()
        .map_err(|_| "it is not an e-mail address such as sales@company.com or Sales <sales@company.com>")
}
