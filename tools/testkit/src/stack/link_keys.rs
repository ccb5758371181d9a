//! Keys that sign the links in mails, for a test that follows a link without reading the mail.

use time::OffsetDateTime;
use visitor::{
    EmailAddress, PersonKey,
    token::{Purpose, TokenKey},
};

/// Longer than any test.
const LIFETIME: time::Duration = time::Duration::days(7);

/// The keys of a stack.
#[derive(Clone)]
pub struct LinkKeys {
    pub(super) person: PersonKey,
    pub(super) token: TokenKey,
}

impl LinkKeys {
    /// Token of the link by which this address confirms its sign-up.
    pub fn confirmation(&self, email: &str) -> anyhow::Result<String> {
        self.token(Purpose::Confirm, email)
    }

    /// Token of the link by which this address unsubscribes.
    pub fn unsubscribing(&self, email: &str) -> anyhow::Result<String> {
        self.token(Purpose::Unsubscribe, email)
    }

    fn token(&self, purpose: Purpose, email: &str) -> anyhow::Result<String> {
        let person = self.person.person(&EmailAddress::parse(email)?);
        let expires = OffsetDateTime::now_utc() + LIFETIME;
        Ok(self.token.sign(purpose, &person, expires))
    }
}
