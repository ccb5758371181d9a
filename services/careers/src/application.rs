//! Validation of an application.

use site_proto::careers::v1::FieldName;
use site_service::status::Violations;
use visitor::{EmailAddress, PersonName, TextRule, text::LineMode};

const PHONE: TextRule = line("phone number", 40);
const POSITION: TextRule = line("position", 200);
const EXPERIENCE: TextRule = line("years of experience", 200);
const COVER_LETTER: TextRule = TextRule {
    what: "cover letter",
    max_characters: 20_000,
    lines: LineMode::Many,
};

const fn line(what: &'static str, max_characters: usize) -> TextRule {
    TextRule {
        what,
        max_characters,
        lines: LineMode::One,
    }
}

/// Text fields as received. The last value of a repeated field wins.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct RawForm {
    name: String,
    email: String,
    phone: String,
    position: String,
    experience: String,
    cover_letter: String,
}

impl RawForm {
    pub fn set(&mut self, name: FieldName, value: String) {
        let field = match name {
            FieldName::Unspecified => return,
            FieldName::Name => &mut self.name,
            FieldName::Email => &mut self.email,
            FieldName::Phone => &mut self.phone,
            FieldName::Position => &mut self.position,
            FieldName::Experience => &mut self.experience,
            FieldName::CoverLetter => &mut self.cover_letter,
        };
        *field = value;
    }
}

#[derive(Debug)]
pub struct Application {
    pub name: String,
    pub email: EmailAddress,
    pub phone: Option<String>,
    pub position: String,
    pub experience: Option<String>,
    pub cover_letter: String,
}

impl Application {
    /// Parses the form and collects every invalid field.
    pub fn parse(form: &RawForm, violations: &mut Violations) -> Option<Self> {
        let name = violations.check("name", PersonName::parse(&form.name));
        let email = violations.check("email", EmailAddress::parse(&form.email));
        let phone = violations.check("phone", PHONE.optional(&form.phone));
        let position = violations.check("position", POSITION.required(&form.position));
        let experience = violations.check("experience", EXPERIENCE.optional(&form.experience));
        let cover_letter = violations.check("coverLetter", COVER_LETTER.required(&form.cover_letter));
        Some(Self {
            name: name?.into(),
            email: email?,
            phone: phone?,
            position: position?,
            experience: experience?,
            cover_letter: cover_letter?,
        })
    }
}

#[cfg(test)]
mod tests {
    use site_service::status;

    use super::*;

    fn form(phone: &str, cover_letter: &str) -> RawForm {
        let mut form = RawForm::default();
        form.set(FieldName::Name, "Asha Rao".into());
        form.set(FieldName::Email, "asha@example.com".into());
        form.set(FieldName::Phone, phone.into());
        form.set(FieldName::Position, "AI Intern".into());
        form.set(FieldName::CoverLetter, cover_letter.into());
        form
    }

    fn violated(form: &RawForm) -> Vec<String> {
        let mut violations = Violations::default();
        Application::parse(form, &mut violations);
        status::violations(&violations.into_status())
            .into_keys()
            .collect()
    }

    #[test]
    fn the_limits_are_40_characters_of_phone_and_20000_of_letter() {
        assert_eq!(violated(&form(&"1".repeat(40), &"x".repeat(20_000))), [""; 0]);
        assert_eq!(
            violated(&form(&"1".repeat(41), &"x".repeat(20_001))),
            ["coverLetter", "phone"]
        );
    }
}
