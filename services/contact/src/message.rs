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
const COMPANY: TextRule = TextRule::line("company", 200);

/// Validates a form; the error has a sentence for each invalid field.
pub fn validated(form: ContactForm) -> Result<ContactReceived, Violations> {
    let mut violations = Violations::default();
    let name = violations.check("name", PersonName::parse(&form.name));
    let email = violations.check("email", EmailAddress::parse(&form.email));
    let message = violations.check("message", MESSAGE.required(&form.message));
    let company = violations.check("company", COMPANY.optional(&form.company));
    let phone = violations.check("phone", TextRule::PHONE.optional(&form.phone));
    let received = move || {
        Some(ContactReceived {
            name: name?.into(),
            email: email?,
            message: message?,
            company: company?,
            phone: phone?,
            attribution: Attribution::of(form.attribution),
        })
    };
    received().ok_or(violations)
}

#[cfg(test)]
mod tests {
    use site_service::status;

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

    #[test]
    fn company_and_phone_are_optional_and_short() {
        let with = |company: usize, phone: usize| ContactForm {
            company: "x".repeat(company),
            phone: "1".repeat(phone),
            ..form("Asha", "asha@example.com", "Hello")
        };
        let received = validated(with(0, 0)).map(|received| (received.company, received.phone));
        assert_eq!(received.ok(), Some((None, None)));
        assert!(validated(with(200, 40)).is_ok());
        let violations = validated(with(201, 41)).err().unwrap_or_default();
        let named = status::violations(&violations.into_status());
        assert_eq!(named.into_keys().collect::<Vec<_>>(), ["company", "phone"]);
    }
}
