//! Signed links in newsletter mails. The signature identifies the subscriber, so nobody needs an account.

use time::{Duration, OffsetDateTime};

use crate::{
    PersonId,
    token::{Purpose, TokenKey},
};

/// Lifetime of an unsubscribe link, so that links in old mails still work.
pub const UNSUBSCRIBE_LIFETIME: Duration = Duration::days(5 * 365);

/// Builder of signed links.
pub struct LinkBuilder {
    site_url: String,
    token_key: TokenKey,
}

/// Links that unsubscribe one person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsubscribeLinks {
    /// Page that asks for confirmation before it unsubscribes the person.
    pub page: String,
    /// One-click address for mail programs (RFC 8058).
    pub one_click: String,
}

impl LinkBuilder {
    /// Expects the site's address as the function [`site_url`] returns it.
    pub fn new(site_url: &str, token_key: &TokenKey) -> Self {
        Self {
            site_url: site_url.to_owned(),
            token_key: token_key.clone(),
        }
    }

    /// Link to the page that confirms a subscription.
    pub fn confirm_page(&self, person: &PersonId, expires: OffsetDateTime) -> String {
        let token = self.token_key.sign(Purpose::Confirm, person, expires);
        format!("{}/?newsletter=confirm&token={token}", self.site_url)
    }

    /// Unsubscribe links for a mail sent at `since`.
    pub fn unsubscribe_links(&self, person: &PersonId, since: OffsetDateTime) -> UnsubscribeLinks {
        let expires = since + UNSUBSCRIBE_LIFETIME;
        let token = self.token_key.sign(Purpose::Unsubscribe, person, expires);
        UnsubscribeLinks {
            page: format!("{}/?newsletter=unsubscribe&token={token}", self.site_url),
            one_click: format!("{}/api/newsletter/unsubscribe?token={token}", self.site_url),
        }
    }
}

/// Reads the site's address from the settings, without its trailing slash.
///
/// # Errors
///
/// If it has no `http` or `https` scheme, or no host.
pub fn site_url(raw: &str) -> Result<String, &'static str> {
    let host = ["https://", "http://"]
        .into_iter()
        .find_map(|scheme| raw.strip_prefix(scheme));
    match host {
        Some(host) if !host.is_empty() && !host.contains(char::is_whitespace) => {
            Ok(raw.trim_end_matches('/').to_owned())
        }
        _ => Err("it is not an address such as https://company.com"),
    }
}

#[cfg(test)]
mod tests {
    use time::macros::datetime;

    use super::*;
    use crate::token::TokenError;

    const NOW: OffsetDateTime = datetime!(2026-11-20 12:00 UTC);

    #[test]
    fn each_link_serves_its_own_purpose_until_it_expires() {
        let key = TokenKey::new("a token key of thirty-two bytes or more").expect("a long key");
        let person = PersonId::try_from("0123456789abcdef0123456789abcdef".to_owned()).expect("an id");
        let links = LinkBuilder::new("https://oculant.example", &key);
        let (soon, years) = (NOW + Duration::HOUR, NOW + Duration::days(5 * 365));
        let confirm = links.confirm_page(&person, soon);
        let UnsubscribeLinks { page, one_click } = links.unsubscribe_links(&person, NOW);
        let (join, leave) = (Purpose::Confirm, Purpose::Unsubscribe);
        for (link, start, purpose, expires) in [
            (confirm, "/?newsletter=confirm&token=", join, soon),
            (page, "/?newsletter=unsubscribe&token=", leave, years),
            (one_click, "/api/newsletter/unsubscribe?token=", leave, years),
        ] {
            let path = link.strip_prefix("https://oculant.example");
            let token = path.and_then(|path| path.strip_prefix(start)).expect(start);
            let last = expires - Duration::SECOND;
            assert_eq!(key.verify(token, purpose, last), Ok(person.clone()), "{link}");
            assert_eq!(key.verify(token, purpose, expires), Err(TokenError::Expired));
            assert_eq!(key.verify(token, join, NOW).is_ok(), purpose == join);
        }
    }

    #[test]
    fn a_site_url_has_a_scheme_and_a_host() {
        for (raw, read) in [
            ("https://company.com/", "https://company.com"),
            ("http://localhost:8080", "http://localhost:8080"),
        ] {
            assert_eq!(site_url(raw), Ok(read.to_owned()));
        }
        for raw in [
            "company.com",
            "https://",
            "ftp://company.com",
            "https://our company.com",
        ] {
            assert!(site_url(raw).is_err(), "{raw} was taken");
        }
    }
}
