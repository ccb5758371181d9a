//! The proof of a consent: what was asked, and how it was answered.

use subscribers::Consent;

/// The question that whoever confirms says yes to: the words of the page that the confirmation link opens
/// (`frontends/shell/src/content/newsletter-prompts.ts`; a test compares them).
const QUESTION: &str = "You asked for our newsletter with this address. Shall we send it from now on?";
/// The address was entered in a form, and the link was followed that was mailed there.
const FORM: &str = "double-opt-in";

/// What a confirmation proves.
pub fn by_confirmation() -> Consent {
    Consent {
        text: QUESTION.to_owned(),
        form: FORM.to_owned(),
    }
}
