//! Headers that show the exact input. Mail programs show a name entered as `=?utf-8?B?Q0VP?=` as `CEO`
//! (RFC 2047), so text that looks encoded is encoded once more.

use std::{error::Error, fmt::Write as _};

use email_encoding::headers::{rfc2047, rfc2231, writer::EmailWriter};
use lettre::message::{
    Mailbox, Mailboxes,
    header::{ContentType, Header, HeaderName, HeaderValue, ReplyTo},
};
use resumes::safe_file_name;

use super::{error::MailError, wording};

/// Start of an encoded word.
const ENCODED: &str = "=?";

pub fn text(name: &'static str, value: String) -> HeaderValue {
    let header = HeaderName::new_from_ascii_str(name);
    if !value.contains(ENCODED) {
        return HeaderValue::new(header, value);
    }
    let encoded = encoded(name, &value);
    HeaderValue::dangerous_new_pre_encoded(header, value, encoded)
}

pub fn reply_to(mailbox: Mailbox) -> HeaderValue {
    const NAME: &str = "Reply-To";
    match &mailbox.name {
        Some(name) if name.contains(ENCODED) => {
            let mut encoded = encoded(NAME, name);
            write!(encoded, "\r\n <{}>", mailbox.email).expect("writing to a string cannot fail");
            let header = HeaderName::new_from_ascii_str(NAME);
            HeaderValue::dangerous_new_pre_encoded(header, mailbox.to_string(), encoded)
        }
        _ => ReplyTo::from(Mailboxes::from(mailbox)).display(),
    }
}

pub struct AttachmentName {
    /// The parameter `filename` for `Content-Disposition`, folded (RFC 2231).
    encoded: String,
    /// ASCII version for mail programs without RFC 2231.
    fallback: Option<String>,
}

impl AttachmentName {
    /// Replaces `=?`, because mail programs decode encoded words even in parameters (against RFC 2047, 5).
    pub fn new(raw: &str) -> Self {
        let name = wording::one_line(raw).replace(ENCODED, "=_");
        let mut encoded = "attachment;".to_owned();
        let written = Disposition::name().len() + ": ".len() + encoded.len();
        let mut writer = EmailWriter::new(&mut encoded, written, 1, false);
        rfc2231::encode("filename", &name, &mut writer).expect("writing to a string cannot fail");
        drop(writer);
        let fallback = encoded.contains("filename*").then(|| safe_file_name(&name));
        Self { encoded, fallback }
    }

    /// `Content-Disposition` (RFC 2183). The encoded name is first, because some libraries use the first name.
    pub fn disposition(&self) -> Disposition {
        let fallback = self.fallback.as_ref();
        let fallback = fallback.map(|name| format!(";\r\n filename=\"{name}\""));
        Disposition(format!("{}{}", self.encoded, fallback.unwrap_or_default()))
    }

    /// `Content-Type` with the file name, because some old mail programs read it only here.
    pub fn content_type(&self, media_type: &str) -> Result<ContentType, MailError> {
        let fallback = self.fallback.as_ref();
        let named = fallback.map(|name| format!("{media_type}; name=\"{name}\""));
        ContentType::parse(named.as_deref().unwrap_or(media_type)).map_err(|_| MailError::Attachment)
    }
}

#[derive(Clone)]
pub struct Disposition(String);

impl Header for Disposition {
    fn name() -> HeaderName {
        HeaderName::new_from_ascii_str("Content-Disposition")
    }

    fn parse(encoded: &str) -> Result<Self, Box<dyn Error + Send + Sync>> {
        Ok(Self(encoded.to_owned()))
    }

    fn display(&self) -> HeaderValue {
        HeaderValue::dangerous_new_pre_encoded(Self::name(), self.0.clone(), self.0.clone())
    }
}

/// The value as encoded words, folded after the header's name.
fn encoded(name: &str, value: &str) -> String {
    let mut encoded = String::new();
    let mut writer = EmailWriter::new(&mut encoded, name.len() + ": ".len(), 0, false);
    rfc2047::encode(value, &mut writer).expect("writing to a string cannot fail");
    drop(writer);
    encoded
}

#[cfg(test)]
mod tests {
    use lettre::message::header::Headers;
    use proptest::prelude::*;

    use super::*;

    fn spoofs() -> impl Strategy<Value = String> {
        let parts: Vec<_> = "=?|utf-8?B?Q0VP|?=| |Asha|ஆஷா|=?utf-8?q?CEO?=|\"|<"
            .split('|')
            .collect();
        let spoofs = prop::collection::vec(prop::sample::select(parts), 1..40);
        spoofs.prop_map(|parts| parts.concat())
    }

    fn written(value: HeaderValue) -> String {
        let mut headers = Headers::new();
        headers.insert_raw(value);
        headers.to_string()
    }

    /// Whether the header holds an encoded word of the visitor. Our encoded words start with `=?utf-8?b?`.
    fn has_word_of_the_visitor(header: &str) -> bool {
        ["=?utf-8?B?", "=?utf-8?q?"]
            .iter()
            .any(|begin| header.contains(begin))
    }

    #[test]
    fn only_encoded_looking_text_is_encoded_again() {
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

    #[test]
    fn a_non_ascii_attachment_name_has_an_ascii_fallback() {
        let headers = |name: &str| {
            let name = AttachmentName::new(name);
            let content_type = name.content_type("application/pdf").expect("a media type");
            written(content_type.display()) + &written(name.disposition().display())
        };
        assert_eq!(
            headers("Résumé Zoë.pdf"),
            "Content-Type: application/pdf; name=\"R_sum__Zo_.pdf\"\r\n\
             Content-Disposition: attachment;\r\n filename*0*=utf-8''R%C3%A9sum%C3%A9%20Zo%C3%AB.pdf;\r\n \
             filename=\"R_sum__Zo_.pdf\"\r\n"
        );
        assert_eq!(
            headers("Asha \"A\" Rao.pdf"),
            "Content-Type: application/pdf\r\n\
             Content-Disposition: attachment; filename=\"Asha \\\"A\\\" Rao.pdf\"\r\n"
        );
    }

    proptest! {
        #[test]
        fn no_header_contains_a_visitors_encoded_word(name in spoofs()) {
            let line = wording::one_line(&name);
            let subject = written(text("Subject", format!("New message from {line}")));
            prop_assert!(!has_word_of_the_visitor(&subject), "{subject}");
            let address = "asha@example.com".parse().expect("an address");
            let answered = written(reply_to(Mailbox::new(Some(line), address)));
            prop_assert!(!has_word_of_the_visitor(&answered), "{answered}");
            let file = AttachmentName::new(&name);
            let disposition = written(file.disposition().display());
            prop_assert!(!disposition.contains(ENCODED), "{disposition}");
            for header in [subject, answered, disposition] {
                prop_assert!(header.is_ascii());
                // Maximum line length (RFC 5322, 2.1.1).
                prop_assert!(header.lines().all(|line| line.len() <= 998), "{header}");
            }
        }
    }
}
