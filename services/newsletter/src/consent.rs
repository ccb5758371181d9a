//! Proof of consent: the question and how it was answered.

use subscribers::Consent;

/// Question on the confirmation page (`frontends/shell/src/content/newsletter-prompts.ts`). A test compares
/// both.
const QUESTION: &str = "You asked for our newsletter with this address. Shall we send it from now on?";
/// A form, then a link mailed to the address.
const FORM: &str = "double-opt-in";

pub fn by_confirmation() -> Consent {
    Consent {
        text: QUESTION.to_owned(),
        form: FORM.to_owned(),
    }
}
