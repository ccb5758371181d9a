//! Text fields of forms, such as names, and their limits.

use crate::{
    InvalidInput,
    invisible::{is_invisible, shapes_others},
};

/// Whether a text may have several lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineMode {
    /// A single line: line breaks and tabs become spaces.
    One,
    /// Paragraphs: line breaks and tabs stay.
    Many,
}

/// Converts line breaks and tabs as `lines` says (Unicode 5.8, newline guidelines). Removes other control
/// characters and invisible ones, which are common in pasted text.
pub(crate) fn visible(raw: &str, lines: LineMode) -> String {
    let (line_break, tab) = match lines {
        LineMode::One => (' ', ' '),
        LineMode::Many => ('\n', '\t'),
    };
    let whole_breaks = raw.replace("\r\n", "\n");
    let visible = whole_breaks.chars().filter_map(|c| match c {
        '\n'..='\r' | '\u{85}' | '\u{2028}' | '\u{2029}' => Some(line_break),
        '\t' => Some(tab),
        _ => (!c.is_control() && !is_invisible(c)).then_some(c),
    });
    visible.collect()
}

/// Limit of a text field, in visible characters (Unicode scalar values) after trimming.
#[derive(Debug, Clone, Copy)]
pub struct TextRule {
    /// Name of the field in sentences for the visitor, as in "Enter your {what}."
    pub what: &'static str,
    /// Maximum length in characters.
    pub max_characters: usize,
    /// One line or several.
    pub lines: LineMode,
}

impl TextRule {
    /// Telephone number, as written.
    pub const PHONE: Self = Self::line("phone number", 40);

    /// Rule for a text of one line.
    pub const fn line(what: &'static str, max_characters: usize) -> Self {
        Self {
            what,
            max_characters,
            lines: LineMode::One,
        }
    }

    /// Reads a field that must not be empty.
    ///
    /// # Errors
    ///
    /// The sentence for the visitor if the field is empty or too long.
    pub fn required(&self, raw: &str) -> Result<String, InvalidInput> {
        self.optional(raw)?
            .ok_or_else(|| InvalidInput::new(format!("Enter your {}.", self.what)))
    }

    /// Reads a field that may be empty.
    ///
    /// # Errors
    ///
    /// The sentence for the visitor if the field is too long.
    pub fn optional(&self, raw: &str) -> Result<Option<String>, InvalidInput> {
        let visible = visible(raw, self.lines);
        let text = visible.trim();
        if text.chars().all(|c| c.is_whitespace() || shapes_others(c)) {
            return Ok(None);
        }
        if text.chars().count() > self.max_characters {
            return Err(InvalidInput::new(format!(
                "Shorten your {} to {} characters or fewer.",
                self.what,
                grouped(self.max_characters)
            )));
        }
        Ok(Some(text.to_owned()))
    }
}

/// A person's name, 1–200 characters on one line.
#[derive(Clone, PartialEq, Eq)]
pub struct PersonName(String);

impl PersonName {
    /// The limit of a name.
    pub const RULE: TextRule = TextRule {
        what: "name",
        max_characters: 200,
        lines: LineMode::One,
    };

    /// Reads a name.
    ///
    /// # Errors
    ///
    /// The sentence for the visitor if the name is empty or too long.
    pub fn parse(raw: &str) -> Result<Self, InvalidInput> {
        Self::RULE.required(raw).map(Self)
    }
}

impl From<PersonName> for String {
    fn from(name: PersonName) -> Self {
        name.0
    }
}

/// Formats a limit with a comma before its last three digits. Limits have at most six digits.
fn grouped(n: usize) -> String {
    match (n / 1_000, n % 1_000) {
        (0, n) => n.to_string(),
        (thousands, rest) => format!("{thousands},{rest:03}"),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const LETTER: TextRule = TextRule {
        what: "cover letter",
        max_characters: 20_000,
        lines: LineMode::Many,
    };

    fn name(raw: &str) -> Result<String, InvalidInput> {
        PersonName::parse(raw).map(String::from)
    }

    #[test]
    fn a_name_is_kept_as_written_up_to_200_characters() {
        assert_eq!(name(" Zoë Müller "), Ok("Zoë Müller".to_owned()));
        assert!(name(&"ஆ".repeat(200)).is_ok());
        assert!(name(&"ஆ".repeat(201)).is_err());
    }

    #[test]
    fn a_name_cannot_carry_a_header_into_a_mail() {
        for line_break in [
            "\r\n", "\n", "\r", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}",
        ] {
            let name = name(&format!("Asha{line_break}Bcc: all@example.com"));
            assert_eq!(name, Ok("Asha Bcc: all@example.com".to_owned()), "{line_break:?}");
        }
    }

    #[test]
    fn pasted_control_characters_are_cleaned_not_refused() {
        for (raw, line, letter) in [
            ("one\u{b}two\u{c}three", "one two three", "one\ntwo\nthree"),
            ("one\u{85}two\rthree", "one two three", "one\ntwo\nthree"),
            ("Asha\tRao", "Asha Rao", "Asha\tRao"),
            ("As\u{0}ha\u{7} \u{1b}Rao\u{7f}", "Asha Rao", "Asha Rao"),
            ("\u{1c}As\u{1f}ha\u{80}\u{96}\u{9f}", "Asha", "Asha"),
            ("\u{feff}\tAsha\u{b}", "Asha", "Asha"),
            ("\u{202e}oaR\u{2066} ahsA\u{200b}", "oaR ahsA", "oaR ahsA"),
            (
                "one\u{202e}\u{2028}two\u{2029}\u{2067}three",
                "one two three",
                "one\ntwo\nthree",
            ),
        ] {
            assert_eq!(PersonName::RULE.required(raw).as_deref(), Ok(line), "{raw:?}");
            assert_eq!(LETTER.required(raw).as_deref(), Ok(letter), "{raw:?}");
        }
    }

    #[test]
    fn the_sentence_names_the_field_and_the_limit() {
        let refused = |sentence: &str| Err(InvalidInput::new(sentence));
        for unseen in [
            "",
            "  ",
            "\u{0}",
            "\u{b}\u{c}",
            "\u{85}\t\u{9b}",
            "\u{200b}",
            "\u{202e} \u{2069}",
            "\u{200d}\u{fe0f}",
            "\u{3164}",
        ] {
            assert_eq!(name(unseen), refused("Enter your name."), "{unseen:?}");
            assert_eq!(LETTER.required(unseen), refused("Enter your cover letter."));
            assert_eq!(LETTER.optional(unseen), Ok(None), "{unseen:?}");
        }
        let long_letter = refused("Shorten your cover letter to 20,000 characters or fewer.");
        assert_eq!(LETTER.required(&"x".repeat(20_001)), long_letter);
        let long_name = refused("Shorten your name to 200 characters or fewer.");
        assert_eq!(name(&"x".repeat(201)), long_name);
    }

    #[test]
    fn browser_line_breaks_do_not_count_twice() {
        let letter = "line\r\n".repeat(3_999) + "line";
        assert_eq!(letter.replace("\r\n", "\n").chars().count(), 19_999);
        assert!(LETTER.required(&letter).is_ok());
    }

    proptest! {
        #[test]
        fn an_accepted_text_is_short_visible_and_stable(
            raw in "(\\PC|[\\x00-\\x20\\u{85}\\u{200b}\\u{202e}\\u{3164}]){0,30}",
            lines in prop::sample::select(vec![LineMode::One, LineMode::Many]),
        ) {
            let rule = TextRule { what: "text", max_characters: 20, lines };
            prop_assert!(raw.chars().count() > rule.max_characters || rule.optional(&raw).is_ok());
            if let Ok(text) = rule.required(&raw) {
                prop_assert_eq!(rule.required(&text), Ok(text.clone()));
                prop_assert_eq!(text.trim(), &text);
                prop_assert!(text.chars().count() <= rule.max_characters);
                prop_assert!(!text.contains(is_invisible) && text.contains(|c| !shapes_others(c)));
                let is_break = |c| lines == LineMode::Many && matches!(c, '\n' | '\t');
                prop_assert!(!text.contains(|c: char| c.is_control() && !is_break(c)));
            }
        }
    }
}
