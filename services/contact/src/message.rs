//! Validation of a contact message.

use site_events::{Attribution, event::ContactReceived};
use site_proto::contact::v1::ContactForm;
use site_service::status::Violations;
use visitor::{EmailAddress, PersonName, TextRule, text::LineMode};

const MESSAGE: TextRule = TextRule {
    what: "message",
    max_characters: 10_000,
    lines: LineMode::Many,
};

/// Validates a form; the error has a sentence for each invalid field.
pub fn validated(form: ContactForm) -> Result<ContactReceived, Violations> {
    let mut violations = Violations::default();
    let name = violations.check("name", PersonName::parse(&form.name));
    let email = violations.check("email", EmailAddress::parse(&form.email));
    let message = violations.check("message", MESSAGE.required(&form.message));
    match (name, email, message) {
        (Some(name), Some(email), Some(message)) => Ok(ContactReceived {
            name: name.into(),
            email,
            message,
            attribution: Attribution::of(form.attribution),
        }),
        _ => Err(violations),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(name: &str, email: &str, message: &str) -> ContactForm {
        ContactForm {
            name: name.into(),
            email: email.into(),
            message: message.into(),
            ..ContactForm::default()
        }
    }

    #[test]
    fn a_message_has_at_most_10000_characters() {
        assert!(validated(form("Asha", "asha@example.com", &"x".repeat(10_000))).is_ok());
        assert!(validated(form("Asha", "asha@example.com", &"x".repeat(10_001))).is_err());
    }
}
