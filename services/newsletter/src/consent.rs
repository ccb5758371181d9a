//! Proof of consent: the question and how it was answered.

use subscribers::Consent;

/// Question on the confirmation page. A test compares it with the page's text
/// (`frontends/shell/src/content/newsletter-prompts.ts`).
const QUESTION: &str = "You asked for our newsletter with this address. Shall we send it from now on?";
/// Double opt-in: the subscriber sends a form, then follows a link in a mail.
const FORM: &str = "double-opt-in";

pub fn by_confirmation() -> Consent {
    Consent {
        text: QUESTION.to_owned(),
        form: FORM.to_owned(),
    }
}
