//! E-mail addresses.

use std::{borrow::Cow, fmt};

use idna::uts46::{AsciiDenyList, DnsLength, Hyphens, Uts46};
use percent_encoding::percent_decode_str;
use serde::{Deserialize, Serialize};

use crate::{
    InvalidInput,
    invisible::shapes_others,
    text::{LineMode, visible},
};

/// Maximum length in SMTP (RFC 5321, 4.5.3.1.3): 256 characters with the angle brackets.
pub const MAX_CHARACTERS: usize = 254;

const NO_ADDRESS: &str = "Enter an e-mail address such as name@company.com.";

const NO_ENDING: &str = "Enter the whole e-mail address, with its ending: name@company.com.";
const OTHER_SCRIPT: &str = "Enter an e-mail address with plain letters (a to z) before the @. We cannot write to one with other letters there.";

/// Maximum length of a domain label (RFC 1034, 3.5).
const LABEL_CHARACTERS: usize = 63;

/// Address that both browsers and SMTP accept.
///
/// `Debug` hides the address, to keep it out of logs.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct EmailAddress(String);

impl EmailAddress {
    /// Address of sample events, in a reserved domain (RFC 2606, 3).
    pub fn sample() -> Self {
        Self("test@example.com".to_owned())
    }

    /// Reads a typed or pasted address, such as `Asha Rao <asha@example.com>` or a `mailto:` link.
    ///
    /// It ignores surrounding white space and invisible characters.
    ///
    /// # Errors
    ///
    /// The sentence for the visitor if the address is invalid.
    pub fn parse(raw: &str) -> Result<Self, InvalidInput> {
        let entered: String = visible(raw, LineMode::One).chars().map(half_width).collect();
        let address = pasted_address(entered.trim());
        let address = address.trim_matches(|c: char| c.is_whitespace() || shapes_others(c));
        if address.is_empty() {
            return Err(InvalidInput::new("Enter your e-mail address."));
        }
        // Bounds the cost of converting the domain. UTF-8 needs at most four bytes per character.
        if address.len() > 4 * MAX_CHARACTERS {
            return Err(too_long());
        }
        let (local_part, domain) = address
            .rsplit_once('@')
            .ok_or_else(|| InvalidInput::new(NO_ADDRESS))?;
        let local_part = without_shapers(local_part);
        if !local_part.is_ascii() {
            return Err(InvalidInput::new(OTHER_SCRIPT));
        }
        let domain = ascii_domain(domain).ok_or_else(|| InvalidInput::new(NO_ADDRESS))?;
        let address = format!("{local_part}@{domain}");
        if address.len() > MAX_CHARACTERS {
            return Err(too_long());
        }
        if !is_taken_by_browsers(&address) || !can_be_mailed(&address) {
            return Err(InvalidInput::new(NO_ADDRESS));
        }
        if !domain.contains('.') {
            return Err(InvalidInput::new(NO_ENDING));
        }
        Ok(Self(address))
    }

    /// The address as written, with its domain in ASCII.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The address in lower case, the same for all its spellings.
    pub fn normalised(&self) -> String {
        self.0.to_ascii_lowercase()
    }

    /// Normalised address without its `+` tag (RFC 5233, 4). Tags give one inbox any number of addresses.
    pub fn inbox(&self) -> String {
        let address = self.normalised();
        let tagged = address
            .rsplit_once('@')
            .and_then(|(local_part, domain)| Some((local_part.split_once('+')?.0, domain)));
        match tagged {
            Some((user, domain)) if !user.is_empty() => format!("{user}@{domain}"),
            _ => address,
        }
    }
}

fn too_long() -> InvalidInput {
    InvalidInput::new(format!(
        "Enter an e-mail address of at most {MAX_CHARACTERS} characters."
    ))
}

fn without_shapers(text: &str) -> String {
    text.chars().filter(|c| !shapes_others(*c)).collect()
}

/// Converts a domain to ASCII (UTS 46; RFC 5891). Most browsers send it in ASCII, but Firefox does not.
fn ascii_domain(domain: &str) -> Option<String> {
    let seen = without_shapers(domain);
    if seen.is_ascii() {
        return Some(seen);
    }
    // The domain keeps its joiners, because Persian and Indian scripts need them (RFC 5892, A.1).
    let (deny, hyphens) = (AsciiDenyList::STD3, Hyphens::CheckFirstLast);
    let ascii = Uts46::new().to_ascii(domain.as_bytes(), deny, hyphens, DnsLength::Verify);
    ascii.ok().map(Cow::into_owned)
}

/// Converts a full-width character of an East Asian keyboard to ASCII.
fn half_width(c: char) -> char {
    match c {
        '\u{ff01}'..='\u{ff5e}' => char::from_u32(u32::from(c) - 0xfee0).unwrap_or(c),
        _ => c,
    }
}

/// Quotes and brackets that may enclose an address.
const AROUND: [(char, char); 7] = [
    ('"', '"'),
    ('\'', '\''),
    ('(', ')'),
    ('[', ']'),
    ('“', '”'),
    ('‘', '’'),
    ('«', '»'),
];

/// Extracts the address from a copied recipient (RFC 5322, 3.4), a sentence or a link (RFC 6068, 2).
fn pasted_address(entered: &str) -> Cow<'_, str> {
    const LINK: &str = "mailto:";
    let entered = entered.trim_end_matches([',', ';', '.', ' ']);
    let around = AROUND
        .iter()
        .find_map(|(begin, end)| entered.strip_prefix(*begin)?.strip_suffix(*end));
    let entered = around.unwrap_or(entered);
    // Outlook puts a copied address in square brackets.
    let in_brackets = [('<', '>'), ('[', ']')]
        .iter()
        .find_map(|(begin, end)| entered.strip_suffix(*end)?.split_once(*begin));
    let entered = in_brackets.map_or(entered, |(_, address)| address).trim();
    match entered.get(..LINK.len()) {
        Some(scheme) if scheme.eq_ignore_ascii_case(LINK) => {
            let address = entered[LINK.len()..]
                .trim_start_matches('/')
                .split('?')
                .next()
                .unwrap_or_default();
            percent_decode_str(address).decode_utf8_lossy()
        }
        _ => Cow::Borrowed(entered),
    }
}

/// Whether browsers accept the address in `<input type=email>` (HTML Standard, "valid e-mail address").
fn is_taken_by_browsers(address: &str) -> bool {
    let in_local_part = |byte: u8| byte.is_ascii_alphanumeric() || b".!#$%&'*+/=?^_`{|}~-".contains(&byte);
    address.split_once('@').is_some_and(|(local_part, domain)| {
        !local_part.is_empty() && local_part.bytes().all(in_local_part) && domain.split('.').all(is_label)
    })
}

fn is_label(label: &str) -> bool {
    let is_long_enough = (1..=LABEL_CHARACTERS).contains(&label.len());
    let ends_in_hyphen = label.starts_with('-') || label.ends_with('-');
    is_long_enough
        && !ends_in_hyphen
        && label
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Whether SMTP accepts the address (RFC 5321, 4.1.2 and 4.5.3.1.1). The crate `email_address`, which lettre
/// also uses, requires a dot-atom of at most 64 characters before the `@`.
fn can_be_mailed(address: &str) -> bool {
    address.rsplit_once('@').is_some_and(|(local_part, domain)| {
        email_address::EmailAddress::is_valid_local_part(local_part)
            && email_address::EmailAddress::is_valid_domain(domain)
    })
}

impl fmt::Debug for EmailAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("EmailAddress(…)")
    }
}

impl TryFrom<String> for EmailAddress {
    type Error = InvalidInput;

    fn try_from(raw: String) -> Result<Self, Self::Error> {
        Self::parse(&raw)
    }
}

impl From<EmailAddress> for String {
    fn from(address: EmailAddress) -> Self {
        address.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use regex_lite::Regex;

    use super::*;

    const HTML_RULE: &str = concat!(
        r"^[a-zA-Z0-9.!#$%&'*+/=?^_`{|}~-]+@[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?",
        r"(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$"
    );

    fn parsed(entered: &str) -> Result<String, InvalidInput> {
        EmailAddress::parse(entered).map(String::from)
    }

    #[test]
    fn ordinary_addresses_are_accepted_as_written() {
        for address in ["asha@example.com", "a.b+tag@sub.example.co.in", "x@a.io"] {
            assert_eq!(parsed(&format!("  {address} ")).as_deref(), Ok(address));
        }
    }

    #[test]
    fn an_address_is_found_in_what_people_paste() {
        for pasted in [
            "\u{200b}asha@example.com\u{200b}",
            "\u{feff}asha@example.com\u{2060}",
            "\u{202a}asha@example.com\u{202c}",
            "\u{200e}asha@exam\u{ad}ple.com\u{200f}",
            "\u{2068}asha@example.com\u{2069}\r\n",
            "as\u{200d}ha@example.com\u{fe0f}",
            "\u{a0}asha@example.com\u{3000}",
            "\tasha@example.com\u{b}",
            "asha@example.com\u{0}",
            "Asha Rao <asha@example.com>",
            "\"Rao, Asha (Sales)\" <asha@example.com>;",
            "Zoë <asha@example.com>, ",
            "<asha@example.com>",
            "< asha@example.com >",
            "asha@example.com <asha@example.com>",
            "asha@example.com,",
            "mailto:asha@example.com",
            "MAILTO:asha@example.com?subject=Two%20cameras",
            "mailto://asha@example.com",
            "mailto:%61sha%40example.com",
            "Asha <mailto:asha@example.com>",
            "ａｓｈａ＠ｅｘａｍｐｌｅ．ｃｏｍ",
            "asha@example.com.",
            "Asha <asha@example.com>.",
            "(asha@example.com)",
            "'asha@example.com'",
            "“asha@example.com”;",
            "Asha Rao [mailto:asha@example.com]",
            "Asha [Sales] <asha@example.com>",
        ] {
            assert_eq!(parsed(pasted).as_deref(), Ok("asha@example.com"), "{pasted:?}");
        }
        let quote_of_its_own = "'asha@example.com";
        assert_eq!(parsed(quote_of_its_own).as_deref(), Ok(quote_of_its_own));
    }

    #[test]
    fn undeliverable_addresses_are_refused() {
        let long_local_part = format!("{}@example.com", "a".repeat(65));
        assert!(parsed(&long_local_part[1..]).is_ok());
        let long_label = format!("user@{}.example", "ü".repeat(60));
        for none in [
            "Asha <asha@example.com>, Zoë <zoe@example.org>",
            "asha@example.com, zoe@example.org",
            "mailto:asha@example.com,zoe@example.org",
            "<asha@example.com> and more",
            "Asha <asha>",
            "<>",
            "mailto:",
            "\u{200b}\u{feff}",
            "as ha@example.com",
            "asha@example.com\r\nBcc: all@example.com",
            "mailto:asha%0A@example.com",
            "[asha@example.com] [zoe@example.org]",
            "asha@[127.0.0.1]",
            "\"a b\"@example.com",
            "'asha'",
            "user@-ü.example",
            "user@ü..example",
            "user@ü_b.example",
            "user@ü\u{200d}b.example",
            &long_label,
            "",
            "asha",
            "asha@",
            "@example.com",
            "a b@example.com",
            "a@-x.com",
            "a@x..com",
            "a..b@example.com",
            ".a@example.com",
            "a.@example.com",
            &long_local_part,
        ] {
            assert!(parsed(none).is_err(), "{none:?} was taken");
        }
    }

    #[test]
    fn internationalized_domains_are_encoded_as_browsers_do() {
        for (entered, sent) in [
            ("user@müller.example", "user@xn--mller-kva.example"),
            ("user@MÜLLER.example", "user@xn--mller-kva.example"),
            ("user@mu\u{308}ller.example", "user@xn--mller-kva.example"),
            ("user@xn--mller-kva.example", "user@xn--mller-kva.example"),
            ("user@faß.example", "user@xn--fa-hia.example"),
            ("user@пример.example", "user@xn--e1afmkfd.example"),
            ("user@उदाहरण.example", "user@xn--p1b6ci4b4b3a.example"),
            ("user@例え。テスト", "user@xn--r8jz45g.xn--zckzah"),
            ("user@example。com", "user@example.com"),
            ("user@نامه\u{200c}ای.example", "user@xn--mgba3gch31f060k.example"),
            ("user@mül\u{ad}ler.example\u{200b}", "user@xn--mller-kva.example"),
            ("Zoë Müller <user@müller.example>", "user@xn--mller-kva.example"),
            ("mailto:user@m%C3%BCller.example", "user@xn--mller-kva.example"),
        ] {
            assert_eq!(parsed(entered).as_deref(), Ok(sent), "{entered}");
        }
    }

    #[test]
    fn common_address_mistakes_have_their_own_sentences() {
        for (address, sentence) in [
            ("jörg@example.com", OTHER_SCRIPT),
            ("用户@example.com", OTHER_SCRIPT),
            ("иван@пример.example", OTHER_SCRIPT),
            ("a😀@example.com", OTHER_SCRIPT),
            ("ü@x.com", OTHER_SCRIPT),
            ("jörg", NO_ADDRESS),
            ("john@gmail", NO_ENDING),
            ("x@localhost", NO_ENDING),
            ("user@müller", NO_ENDING),
            ("John <john@gmail>", NO_ENDING),
        ] {
            assert_eq!(parsed(address), Err(InvalidInput::new(sentence)), "{address}");
        }
    }

    #[test]
    fn the_longest_allowed_address_has_254_characters() {
        let longest = format!("{}@{}example.com", "a".repeat(64), "b.".repeat(89));
        assert_eq!(longest.len(), MAX_CHARACTERS);
        assert!(EmailAddress::parse(&longest).is_ok());
        assert!(EmailAddress::parse(&longest.replace("example", "examples")).is_err());
    }

    #[test]
    fn an_inbox_ignores_case_and_tag() {
        let inbox = |address: &str| EmailAddress::parse(address).map(|address| address.inbox());
        for spelling in ["asha", "asha+", "Asha+News", "asha+a+b", "asha++"] {
            let address = format!("{spelling}@Example.com");
            assert_eq!(inbox(&address).as_deref(), Ok("asha@example.com"), "{address}");
        }
        for another in ["+asha@a.io", "+@a.io", "ash.a@a.io", "asha@b.a.io"] {
            assert_eq!(inbox(another).as_deref(), Ok(another));
        }
    }

    #[test]
    fn an_address_is_stored_as_written_and_redacted_in_logs() -> serde_json::Result<()> {
        let stored = r#""Asha@example.com""#;
        let address: EmailAddress = serde_json::from_str(stored)?;
        assert_eq!(address.as_str(), "Asha@example.com");
        assert_eq!(serde_json::to_string(&address)?, stored);
        assert_eq!(format!("{address:?}"), "EmailAddress(…)");
        assert!(serde_json::from_str::<EmailAddress>(r#""asha""#).is_err());
        Ok(())
    }

    proptest! {
        #[test]
        fn an_accepted_address_is_plain_and_stable(
            raw in "[ <(\\[\"']{0,2}(\\PC|[\\x00-\\x20.+]){0,8}@(\\PC|[a-z0-9.-]){0,12}(\\.com)?[ >)\\]\"';,]{0,2}",
        ) {
            if let Ok(address) = parsed(&raw) {
                prop_assert_eq!(parsed(&address), Ok(address.clone()));
                prop_assert!(address.is_ascii() && address.len() <= MAX_CHARACTERS);
                prop_assert!(!address.contains(|c: char| c.is_ascii_control() || " \"(),:;<>[\\]".contains(c)));
                prop_assert_eq!(address.matches('@').count(), 1);
            }
        }

        #[test]
        fn the_browser_check_matches_the_html_standard(
            address in "[a-z.!+_]{0,3}[@ü ]{0,2}([a-zA-Z0-9.-]{0,4}|[a-z0-9]{60,65})[.-]?[a-z0-9.@-]{0,3}",
        ) {
            let expression = Regex::new(HTML_RULE).expect("an expression");
            prop_assert_eq!(is_taken_by_browsers(&address), expression.is_match(&address));
        }

        #[test]
        fn a_tag_never_changes_the_inbox(
            user in "[a-zA-Z0-9!=_-]{1,12}",
            tag in "[a-z0-9+=-]{0,12}",
        ) {
            let inbox = |address: &str| EmailAddress::parse(address).map(|address| address.inbox());
            let plain = inbox(&format!("{user}@example.com"));
            prop_assert_eq!(&inbox(&format!("{user}+{tag}@example.com")), &plain);
            let again = plain.as_deref().map(inbox);
            prop_assert_eq!(again, Ok(plain.clone()));
        }
    }
}
