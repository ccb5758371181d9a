//! Keys in the bucket: one prefix per person, one folder per application.

use std::fmt;

use time::OffsetDateTime;
use uuid::Uuid;
use visitor::PersonId;

/// The longest file name kept, in bytes: well inside S3's limit of 1,024 for a key.
const MAX_NAME_BYTES: usize = 120;
/// What a file without a name is called.
const NAMELESS: &str = "resume";

/// `resumes/<person>/<application id>/<file name made safe>`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumeKey(String);

impl ResumeKey {
    /// The key of a new upload. The application id is unique per attempt, so that two
    /// uploads never share a key, not even under one idempotency key.
    pub fn new(person: &PersonId, application: Uuid, file_name: &str) -> Self {
        Self(format!(
            "{}{application}/{}",
            Self::prefix(person),
            safe_file_name(file_name)
        ))
    }

    /// A key as the bucket lists it, or as an event tells it.
    pub fn known(key: String) -> Self {
        Self(key)
    }

    /// What all keys of one person begin with.
    pub(crate) fn prefix(person: &PersonId) -> String {
        format!("resumes/{person}/")
    }

    /// The application and the file's name, both safe to name a folder and a file.
    pub fn application_and_file_name(&self) -> (String, String) {
        let mut parts = self.0.rsplitn(3, '/').map(safe_file_name);
        let file_name = parts.next().unwrap_or_else(|| NAMELESS.to_owned());
        (parts.next().unwrap_or_else(|| NAMELESS.to_owned()), file_name)
    }

    /// The person in it; `None` where it is none of ours.
    pub fn person(&self) -> Option<PersonId> {
        let mut parts = self.0.strip_prefix("resumes/")?.split('/');
        parts.next()?.to_owned().try_into().ok()
    }

    /// When its upload began: the application id is of version 7 (RFC 9562, 5.7).
    pub fn uploaded(&self) -> Option<OffsetDateTime> {
        let (application, _) = self.application_and_file_name();
        let application: Uuid = application.parse().ok()?;
        let (seconds, _) = application.get_timestamp()?.to_unix();
        OffsetDateTime::from_unix_timestamp(seconds.try_into().ok()?).ok()
    }

    /// What the upload's record is called: `<person>.<application id>`.
    pub(crate) fn upload_id(&self) -> String {
        let mut parts = self.0.split('/').skip(1);
        let mut next = || parts.next().unwrap_or("unknown");
        format!("{}.{}", next(), next())
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ResumeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The last part of a file name as its owner calls it, for people to read: without
/// characters that nobody sees, which could make it read as another name.
pub fn readable_file_name(raw: &str) -> String {
    let last = raw.rsplit(['/', '\\']).next().unwrap_or_default();
    let visible: Vec<char> = last.chars().filter(|c| !is_invisible(*c)).collect();
    let tail = visible.len().saturating_sub(MAX_NAME_BYTES);
    match visible[tail..].iter().collect::<String>().trim() {
        "" => NAMELESS.to_owned(),
        name => name.to_owned(),
    }
}

/// Control characters and those that turn the direction of text (UAX #9).
fn is_invisible(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// The last part of a file name with nothing in it that a key, a header or a file
/// system could take for something else.
pub fn safe_file_name(raw: &str) -> String {
    let plain: String = readable_file_name(raw)
        .chars()
        .map(|c| {
            if c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_') {
                c
            } else {
                '_'
            }
        })
        .collect();
    let plain = plain.trim_matches('.');
    let tail = plain.len().saturating_sub(MAX_NAME_BYTES);
    match &plain[tail..] {
        "" => NAMELESS.to_owned(),
        name => name.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_name_cannot_leave_its_folder_or_its_header() {
        assert_eq!(safe_file_name("../../etc/passwd"), "passwd");
        assert_eq!(safe_file_name("C:\\cv\\Asha Rao.pdf"), "Asha_Rao.pdf");
        assert_eq!(safe_file_name("a\"; filename=\"b.pdf"), "a___filename__b.pdf");
        assert_eq!(safe_file_name(".."), "resume");
        assert_eq!(safe_file_name("résumé.pdf"), "r_sum_.pdf");
    }

    #[test]
    fn people_read_the_name_that_they_gave() {
        assert_eq!(
            readable_file_name("/home/zoë/Résumé – Zoë.pdf"),
            "Résumé – Zoë.pdf"
        );
        assert_eq!(readable_file_name("cv\u{202e}fdp.exe\r\n"), "cvfdp.exe");
        assert_eq!(readable_file_name("\u{200b}"), "resume");
    }

    #[test]
    fn a_listed_key_cannot_leave_the_folder_it_is_exported_to() {
        let parts = |key: &str| ResumeKey::known(key.to_owned()).application_and_file_name();
        let (application, file_name) = parts("resumes/0123/4567/cv.pdf");
        assert_eq!((application.as_str(), file_name.as_str()), ("4567", "cv.pdf"));
        let (application, file_name) = parts("resumes/0123/../..");
        assert_eq!((application.as_str(), file_name.as_str()), (NAMELESS, NAMELESS));
    }

    #[test]
    fn a_long_name_keeps_its_end() {
        let name = safe_file_name(&format!("{}.pdf", "x".repeat(500)));
        assert_eq!(name.len(), MAX_NAME_BYTES);
        assert!(name.ends_with(".pdf"));
    }
}
