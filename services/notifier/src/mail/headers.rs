//! Headers whose reader sees what their writer wrote. A visitor's name may look like an encoded word (RFC 2047), which mail
//! programs decode wherever they meet one: `=?utf-8?B?Q0VP?=` would be shown as `CEO`. It is encoded once more.

use std::fmt::Write as _;

use email_encoding::headers::{rfc2047, writer::EmailWriter};
use lettre::message::{
    Mailbox, Mailboxes,
    header::{Header as _, HeaderName, HeaderValue, ReplyTo},
};

use super::wording;

/// How an encoded word begins.
const ENCODED: &str = "=?";

/// A header of free text.
pub fn text(name: &'static str, value: String) -> HeaderValue {
    let header = HeaderName::new_from_ascii_str(name);
    if !value.contains(ENCODED) {
        return HeaderValue::new(header, value);
    }
    let encoded = encoded(name, &value);
    HeaderValue::dangerous_new_pre_encoded(header, value, encoded)
}

/// The header that says who an answer goes to.
pub fn reply_to(mailbox: Mailbox) -> HeaderValue {
    const NAME: &str = "Reply-To";
    match &mailbox.name {
        Some(name) if name.contains(ENCODED) => {
            let mut encoded = encoded(NAME, name);
            write!(encoded, "\r\n <{}>", mailbox.email).expect("a string takes whatever is written");
            let header = HeaderName::new_from_ascii_str(NAME);
            HeaderValue::dangerous_new_pre_encoded(header, mailbox.to_string(), encoded)
        }
        _ => ReplyTo::from(Mailboxes::from(mailbox)).display(),
    }
}

/// A file's name on a single line. Whatever looks like an encoded word is broken: parameters hold none (RFC 2047, 5),
/// and are decoded all the same.
pub fn file_name(name: &str) -> String {
    wording::one_line(name).replace(ENCODED, "=_")
}

/// The value as encoded words, folded behind the header's name.
fn encoded(name: &str, value: &str) -> String {
    let mut encoded = String::new();
    let mut writer = EmailWriter::new(&mut encoded, name.len() + ": ".len(), 0, false);
    rfc2047::encode(value, &mut writer).expect("a string takes whatever is written");
    drop(writer);
    encoded
}

#[cfg(test)]
mod tests {
    use lettre::message::header::Headers;
    use proptest::prelude::*;

    use super::*;

    /// What looks like an encoded word, whole or in part, in any company.
    fn spoofs() -> impl Strategy<Value = String> {
        prop::collection::vec(
            prop::sample::select(vec![
                "=?",
                "utf-8?B?Q0VP",
                "?=",
                " ",
                "Asha",
                "ஆஷா",
                "=?utf-8?q?CEO?=",
                "\"",
                "<",
            ]),
            1..40,
        )
        .prop_map(|parts| parts.concat())
    }

    fn written(value: HeaderValue) -> String {
        let mut headers = Headers::new();
        headers.insert_raw(value);
        headers.to_string()
    }

    /// Whether an encoded word begins there that is not ours: those are `=?utf-8?b?`.
    fn has_word_of_the_visitor(header: &str) -> bool {
        ["=?utf-8?B?", "=?utf-8?q?"]
            .iter()
            .any(|begin| header.contains(begin))
    }

    #[test]
    fn what_looks_encoded_is_encoded_once_more_and_nothing_else_is() {
        let subject = |value: &str| written(text("Subject", value.to_owned()));
        assert_eq!(
            subject("New message from =?utf-8?B?Q0VP?="),
            "Subject: =?utf-8?b?TmV3IG1lc3NhZ2UgZnJvbSA9P3V0Zi04P0I/UTBWUD89?=\r\n"
        );
        assert_eq!(
            subject("New message from Asha"),
            "Subject: New message from Asha\r\n"
        );
    }

    proptest! {
        #[test]
        fn no_header_holds_an_encoded_word_of_a_visitor(name in spoofs()) {
            let line = wording::one_line(&name);
            let subject = written(text("Subject", format!("New message from {line}")));
            prop_assert!(!has_word_of_the_visitor(&subject), "{subject}");
            let address = "asha@example.com".parse().expect("an address");
            let answered = written(reply_to(Mailbox::new(Some(line), address)));
            prop_assert!(!has_word_of_the_visitor(&answered), "{answered}");
            prop_assert!(!file_name(&name).contains(ENCODED));
            for header in [subject, answered] {
                prop_assert!(header.is_ascii());
                // RFC 5322, 2.1.1
                prop_assert!(header.lines().all(|line| line.len() <= 998), "{header}");
            }
        }
    }
}
