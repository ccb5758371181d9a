//! Names and longer texts with their limits.

use crate::{
    InvalidInput,
    invisible::{shapes_others, without_invisible},
};

/// Whether a text may run over several lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineMode {
    /// A single line: no control characters at all.
    One,
    /// Paragraphs: line breaks and tabs are part of the text.
    Many,
}

/// The limit of one text field, counted in characters (Unicode scalar values) after
/// line breaks are made `\n`, and invisible characters and surrounding white space are cut.
#[derive(Debug, Clone, Copy)]
pub struct TextRule {
    /// What the visitor calls the field, as in "Enter your {what}."
    pub what: &'static str,
    /// The most characters it may have.
    pub max_characters: usize,
    /// One line or several.
    pub lines: LineMode,
}

impl TextRule {
    /// Reads a field that must hold something.
    ///
    /// # Errors
    ///
    /// If it is empty, too long or unprintable, with the sentence for the visitor.
    pub fn required(&self, raw: &str) -> Result<String, InvalidInput> {
        self.optional(raw)?
            .ok_or_else(|| InvalidInput::new(format!("Enter your {}.", self.what)))
    }

    /// Reads a field that may be left empty.
    ///
    /// # Errors
    ///
    /// If it is too long or unprintable, with the sentence for the visitor.
    pub fn optional(&self, raw: &str) -> Result<Option<String>, InvalidInput> {
        let lines = raw
            .replace("\r\n", "\n")
            .replace(['\r', '\u{2028}', '\u{2029}'], "\n");
        let visible = without_invisible(&lines);
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
        if text.chars().any(|c| !self.allows(c)) {
            return Err(InvalidInput::new(format!(
                "Remove the unprintable characters from your {}.",
                self.what
            )));
        }
        Ok(Some(text.to_owned()))
    }

    fn allows(&self, c: char) -> bool {
        !c.is_control() || (self.lines == LineMode::Many && matches!(c, '\n' | '\t'))
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
    /// If it is empty, too long or unprintable, with the sentence for the visitor.
    pub fn parse(raw: &str) -> Result<Self, InvalidInput> {
        Self::RULE.required(raw).map(Self)
    }
}

impl From<PersonName> for String {
    fn from(name: PersonName) -> Self {
        name.0
    }
}

fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut out = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    const LETTER: TextRule = TextRule {
        what: "cover letter",
        max_characters: 20_000,
        lines: LineMode::Many,
    };

    #[test]
    fn a_name_has_1_to_200_characters_whatever_the_script() {
        assert!(PersonName::parse("  ").is_err());
        assert!(PersonName::parse(&"ஆ".repeat(200)).is_ok());
        assert!(PersonName::parse(&"ஆ".repeat(201)).is_err());
    }

    #[test]
    fn a_name_is_kept_as_it_was_written() {
        let name = PersonName::parse(" Zoë Müller ").map(String::from);
        assert_eq!(name, Ok("Zoë Müller".to_owned()));
    }

    #[test]
    fn a_name_cannot_carry_a_header_into_a_mail() {
        assert!(PersonName::parse("Asha\r\nBcc: all@example.com").is_err());
    }

    #[test]
    fn a_name_cannot_turn_round_what_stands_beside_it_nor_be_unseen() {
        let name = PersonName::parse("\u{202e}oaR\u{2066} ahsA\u{200b}").map(String::from);
        assert_eq!(name, Ok("oaR ahsA".to_owned()));
        for unseen in ["\u{200b}", "\u{202e} \u{2069}", "\u{200d}\u{fe0f}", "\u{3164}"] {
            assert_eq!(
                PersonName::parse(unseen).map(String::from),
                Err(InvalidInput::new("Enter your name.")),
                "{unseen:?}"
            );
        }
        assert!(PersonName::parse("Asha\u{2028}Bcc: all@example.com").is_err());
    }

    #[test]
    fn a_letter_turns_round_nothing_and_its_lines_are_lines_everywhere() {
        let letter = LETTER.required("one\u{202e}\u{2028}two\u{2029}\u{2067}three");
        assert_eq!(letter, Ok("one\ntwo\nthree".to_owned()));
    }

    #[test]
    fn browser_line_breaks_do_not_count_twice() {
        let letter = "line\r\n".repeat(3_999) + "line";
        assert_eq!(letter.replace("\r\n", "\n").chars().count(), 19_999);
        assert!(LETTER.required(&letter).is_ok());
    }

    #[test]
    fn the_sentence_names_the_field_and_the_limit() {
        let refusal = LETTER.required(&"x".repeat(20_001));
        assert_eq!(
            refusal,
            Err(InvalidInput::new(
                "Shorten your cover letter to 20,000 characters or fewer."
            ))
        );
        assert_eq!(
            PersonName::parse(&"x".repeat(201)).map(String::from),
            Err(InvalidInput::new("Shorten your name to 200 characters or fewer."))
        );
        assert_eq!(
            LETTER.required(""),
            Err(InvalidInput::new("Enter your cover letter."))
        );
    }
}
