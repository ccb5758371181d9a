//! Keys of résumés in the bucket: one prefix per person, one object per upload attempt.

use std::fmt;

use time::OffsetDateTime;
use uuid::Uuid;
use visitor::PersonId;

use crate::file_name::{NAMELESS, safe_file_name};

const FOLDER: &str = "resumes/";

/// `resumes/<person>/<attempt>`. A key has a fixed length and contains no visitor input.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResumeKey(String);

impl ResumeKey {
    /// Key of a new upload. Each attempt needs its own id, even under the same idempotency key.
    pub fn new(person: &PersonId, attempt: Uuid) -> Self {
        Self(format!("{}{attempt}", Self::prefix(person)))
    }

    /// Key from a bucket listing or an event.
    pub fn known(key: String) -> Self {
        Self(key)
    }

    pub(crate) fn prefix(person: &PersonId) -> String {
        format!("{FOLDER}{person}/")
    }

    /// The attempt's id, safe as a folder name.
    pub fn attempt(&self) -> String {
        let [_, attempt] = self.parts();
        attempt.map_or_else(|| NAMELESS.to_owned(), safe_file_name)
    }

    /// The person, or `None` if the key has another form.
    pub fn person(&self) -> Option<PersonId> {
        let [person, _] = self.parts();
        person?.to_owned().try_into().ok()
    }

    /// When the upload began, from the attempt's UUIDv7 (RFC 9562, 5.7).
    pub fn uploaded(&self) -> Option<OffsetDateTime> {
        let attempt: Uuid = self.attempt().parse().ok()?;
        let (seconds, _) = attempt.get_timestamp()?.to_unix();
        OffsetDateTime::from_unix_timestamp(seconds.try_into().ok()?).ok()
    }

    pub(crate) fn upload_id(&self) -> String {
        let [person, attempt] = self.parts();
        let or_unknown = |part: Option<&str>| part.unwrap_or("unknown").to_owned();
        format!("{}.{}", or_unknown(person), or_unknown(attempt))
    }

    /// The key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn parts(&self) -> [Option<&str>; 2] {
        let mut parts = self.0.strip_prefix(FOLDER).unwrap_or_default().splitn(2, '/');
        let mut next = || parts.next().filter(|part| !part.is_empty());
        [next(), next()]
    }
}

impl fmt::Display for ResumeKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const PERSON: &str = "0123456789abcdef0123456789abcdef";
    const ATTEMPT: &str = "0199c3a4-7b1e-7000-8000-000000000001";

    fn new() -> ResumeKey {
        let person = PERSON.to_owned().try_into().expect("it is an id");
        ResumeKey::new(&person, ATTEMPT.parse().expect("it is an id"))
    }

    #[test]
    fn a_key_holds_only_person_and_attempt() {
        let key = new();
        assert_eq!(key.as_str(), format!("resumes/{PERSON}/{ATTEMPT}"));
        assert_eq!(key.person().as_ref().map(PersonId::as_str), Some(PERSON));
        assert_eq!(key.attempt(), ATTEMPT);
        assert_eq!(key.upload_id(), format!("{PERSON}.{ATTEMPT}"));
    }

    #[test]
    fn a_listed_key_cannot_leave_the_export_folder() {
        let attempt = |key: &str| ResumeKey::known(key.to_owned()).attempt();
        assert_eq!(attempt("resumes/0123/.."), NAMELESS);
        assert_eq!(attempt("resumes/0123/../.."), NAMELESS);
        assert_eq!(attempt("elsewhere"), NAMELESS);
    }

    proptest! {
        #[test]
        fn no_listed_key_names_another_folder(key in "(resumes/)?.{0,60}") {
            let key = ResumeKey::known(key);
            let attempt = key.attempt();
            prop_assert!(!attempt.is_empty() && attempt != "." && attempt != "..", "{attempt}");
            prop_assert!(!attempt.contains(['/', '\\', '\0']), "{attempt}");
            let _read = (key.person(), key.uploaded(), key.upload_id());
        }
    }
}
