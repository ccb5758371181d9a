//! The keys that sign the links in mails: for a test that follows one without reading the mail.

use time::OffsetDateTime;
use visitor::{
    EmailAddress, PersonKey,
    token::{Purpose, TokenKey},
};

/// How long a link is good: longer than any test.
const LIFETIME: time::Duration = time::Duration::days(7);

/// The keys of a stack.
#[derive(Clone)]
pub struct LinkKeys {
    person: PersonKey,
    token: TokenKey,
}

impl LinkKeys {
    pub(super) fn new(person_key: &str, token_key: &str) -> anyhow::Result<Self> {
        Ok(Self {
            person: PersonKey::new(person_key)?,
            token: TokenKey::new(token_key)?,
        })
    }

    /// What the link carries by which this address confirms its sign-up.
    ///
    /// # Errors
    ///
    /// If it is no address.
    pub fn confirmation(&self, email: &str) -> anyhow::Result<String> {
        self.token(Purpose::Confirm, email)
    }

    /// What the link carries by which this address leaves the newsletter.
    ///
    /// # Errors
    ///
    /// If it is no address.
    pub fn unsubscribing(&self, email: &str) -> anyhow::Result<String> {
        self.token(Purpose::Unsubscribe, email)
    }

    fn token(&self, purpose: Purpose, email: &str) -> anyhow::Result<String> {
        let person = self.person.person(&EmailAddress::parse(email)?);
        let expires = OffsetDateTime::now_utc() + LIFETIME;
        Ok(self.token.sign(purpose, &person, expires))
    }
}
