//! Validation of a contact message.

use site_proto::contact::v1::SubmitRequest;
use site_service::status::Violations;
use visitor::{EmailAddress, PersonName, TextRule, text::LineMode};

const MESSAGE: TextRule = TextRule {
    what: "message",
    max_characters: 10_000,
    lines: LineMode::Many,
};

/// Validated message.
pub struct ContactMessage {
    pub name: PersonName,
    pub email: EmailAddress,
    pub message: String,
}

impl ContactMessage {
    /// Reads the form; the error has a sentence for each invalid field.
    pub fn parse(form: &SubmitRequest) -> Result<Self, Violations> {
        let mut violations = Violations::default();
        let name = violations.check("name", PersonName::parse(&form.name));
        let email = violations.check("email", EmailAddress::parse(&form.email));
        let message = violations.check("message", MESSAGE.required(&form.message));
        match (name, email, message) {
            (Some(name), Some(email), Some(message)) => Ok(Self { name, email, message }),
            _ => Err(violations),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn form(name: &str, email: &str, message: &str) -> SubmitRequest {
        SubmitRequest {
            name: name.into(),
            email: email.into(),
            message: message.into(),
            ..SubmitRequest::default()
        }
    }

    #[test]
    fn a_message_has_at_most_10000_characters() {
        assert!(ContactMessage::parse(&form("Asha", "asha@example.com", &"x".repeat(10_000))).is_ok());
        assert!(ContactMessage::parse(&form("Asha", "asha@example.com", &"x".repeat(10_001))).is_err());
    }
}
