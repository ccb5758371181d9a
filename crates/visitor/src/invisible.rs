//! Invisible characters, which can disguise a name or reverse the text beside it.

use std::borrow::Cow;

/// Whether a character is invisible and no word needs it.
///
/// These are bidirectional controls (UAX #9), Unicode's `Default_Ignorable_Code_Point`, line and paragraph
/// separators, and annotations. Characters that shape others ([`shapes_others`]) are excluded, because words
/// need them.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}'
        | '\u{200b}' | '\u{200e}' | '\u{200f}'
        | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}'
        | '\u{3164}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}' | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e00ff}' | '\u{e01f0}'..='\u{e0fff}')
}

/// Whether a character only shapes others, such as a joiner or a variation selector.
pub fn shapes_others(c: char) -> bool {
    matches!(c,
        '\u{180b}'..='\u{180d}' | '\u{180f}' | '\u{200c}' | '\u{200d}' | '\u{fe00}'..='\u{fe0f}'
        | '\u{e0100}'..='\u{e01ef}')
}

/// The text without its invisible characters.
pub fn without_invisible(text: &str) -> Cow<'_, str> {
    if text.contains(is_invisible) {
        Cow::Owned(text.chars().filter(|c| !is_invisible(*c)).collect())
    } else {
        Cow::Borrowed(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bidirectional_controls_are_removed() {
        for c in
            "\u{61c}\u{200e}\u{200f}\u{202a}\u{202b}\u{202c}\u{202d}\u{202e}\u{2066}\u{2067}\u{2068}\u{2069}"
                .chars()
        {
            assert_eq!(without_invisible(&format!("Asha{c} Rao")), "Asha Rao", "{c:?}");
        }
    }

    #[test]
    fn invisible_characters_are_removed() {
        for c in "\u{ad}\u{200b}\u{2028}\u{2029}\u{2060}\u{2063}\u{3164}\u{feff}\u{fff9}\u{e0041}".chars() {
            assert_eq!(without_invisible(&format!("As{c}ha")), "Asha", "{c:?}");
        }
    }

    #[test]
    fn joiners_and_variation_selectors_are_kept() {
        for name in [
            "ആശ ജോൺ\u{200d}",
            "می\u{200c}خواهم",
            "葛\u{e0100}城",
            "❤\u{fe0f}",
            "👩\u{200d}💻",
            "אשה",
            "عائشة",
        ] {
            assert_eq!(without_invisible(name), name);
        }
    }
}
