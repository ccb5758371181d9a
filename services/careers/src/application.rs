//! Validation of an application.

use site_events::{Attribution, event::CareersApplied};
use site_proto::careers::v1::ApplicationForm;
use site_service::status::Violations;
use visitor::{EmailAddress, PersonName, TextRule, text::LineMode};

const POSITION: TextRule = TextRule::line("position", 200);
const EXPERIENCE: TextRule = TextRule::line("years of experience", 200);
const COVER_LETTER: TextRule = TextRule {
    what: "cover letter",
    max_characters: 20_000,
    lines: LineMode::Many,
};

/// Validates the form and collects every invalid field. The résumé is added later.
pub fn validated(form: ApplicationForm, violations: &mut Violations) -> Option<CareersApplied> {
    let name = violations.check("name", PersonName::parse(&form.name));
    let email = violations.check("email", EmailAddress::parse(&form.email));
    let phone = violations.check("phone", TextRule::PHONE.optional(&form.phone));
    let position = violations.check("position", POSITION.required(&form.position));
    let experience = violations.check("experience", EXPERIENCE.optional(&form.experience));
    let cover_letter = violations.check("coverLetter", COVER_LETTER.required(&form.cover_letter));
    Some(CareersApplied {
        name: name?.into(),
        email: email?,
        phone: phone?,
        position: position?,
        experience: experience?,
        cover_letter: cover_letter?,
        resume: None,
        attribution: Attribution::of(form.attribution),
    })
}

#[cfg(test)]
mod tests {
    use site_service::status;

    use super::*;

    fn form(phone: &str, cover_letter: &str) -> ApplicationForm {
        ApplicationForm {
            name: "Asha Rao".into(),
            email: "asha@example.com".into(),
            phone: phone.into(),
            position: "AI Intern".into(),
            cover_letter: cover_letter.into(),
            ..ApplicationForm::default()
        }
    }

    fn violated(form: ApplicationForm) -> Vec<String> {
        let mut violations = Violations::default();
        validated(form, &mut violations);
        status::violations(&violations.into_status())
            .into_keys()
            .collect()
    }

    #[test]
    fn phone_has_40_and_letter_20000_characters_at_most() {
        assert_eq!(violated(form(&"1".repeat(40), &"x".repeat(20_000))), [""; 0]);
        assert_eq!(
            violated(form(&"1".repeat(41), &"x".repeat(20_001))),
            ["coverLetter", "phone"]
        );
    }
}
