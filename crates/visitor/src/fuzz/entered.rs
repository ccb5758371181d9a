//! Fuzz targets for form input.

use bolero::check;

use crate::{
    EmailAddress, PersonName, TextRule,
    email::MAX_CHARACTERS,
    invisible::{is_invisible, shapes_others},
    text::LineMode,
};

const ITERATIONS: usize = 1000;
const LETTER: TextRule = TextRule {
    what: "cover letter",
    max_characters: 100,
    lines: LineMode::Many,
};

#[test]
fn whatever_is_entered_is_an_address_only_where_a_mail_can_go_there() {
    check!(name = "mailable")
        .with_iterations(ITERATIONS)
        .for_each(|input: &[u8]| {
            let raw = String::from_utf8_lossy(input);
            let Ok(address) = EmailAddress::parse(&raw) else {
                return;
            };
            let text = address.as_str();
            assert_eq!(EmailAddress::parse(text).as_ref(), Ok(&address));
            assert!(text.is_ascii() && text.len() <= MAX_CHARACTERS);
            assert!(!text.contains(|c: char| c.is_ascii_control() || " \"(),:;<>[\\]".contains(c)));
            let (local_part, domain) = text.rsplit_once('@').expect("it has a domain");
            assert!(!local_part.contains('@') && local_part.len() <= 64);
            assert!(local_part.split('.').all(|atom| !atom.is_empty()));
            let is_label = |label: &str| {
                let inner = label.trim_matches('-');
                (1..=63).contains(&label.len()) && inner == label
            };
            assert!(domain.split('.').all(is_label), "{domain}");
            let json = serde_json::to_string(&address).expect("an address is a string");
            assert_eq!(serde_json::from_str::<EmailAddress>(&json).ok(), Some(address));
        });
}

#[test]
fn whatever_is_entered_what_is_taken_of_a_text_is_short_seen_and_stays_as_it_is() {
    check!(name = "texts")
        .with_iterations(ITERATIONS)
        .for_each(|input: &[u8]| {
            let raw = String::from_utf8_lossy(input);
            for rule in [PersonName::RULE, LETTER] {
                assert!(raw.chars().count() > rule.max_characters || rule.optional(&raw).is_ok());
                let Ok(Some(text)) = rule.optional(&raw) else {
                    assert!(rule.required(&raw).is_err());
                    continue;
                };
                assert_eq!(rule.required(&raw).as_ref(), Ok(&text));
                assert_eq!(rule.required(&text).as_ref(), Ok(&text));
                assert_eq!(text.trim(), text);
                assert!(text.chars().count() <= rule.max_characters);
                assert!(!text.contains(is_invisible));
                assert!(text.contains(|c| !shapes_others(c)));
                let breaks: &[char] = match rule.lines {
                    LineMode::One => &[],
                    LineMode::Many => &['\n', '\t'],
                };
                assert!(!text.contains(|c: char| c.is_control() && !breaks.contains(&c)));
            }
        });
}
