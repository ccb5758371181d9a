//! Signed links in newsletter mails. The signature replaces an account.

use time::{Duration, OffsetDateTime};

use crate::{
    PersonId,
    token::{Purpose, TokenKey},
};

/// Lifetime of an unsubscribe link, long enough for old mails.
pub const UNSUBSCRIBE_LIFETIME: Duration = Duration::days(5 * 365);

/// Builder of signed links.
pub struct LinkBuilder {
    site_url: String,
    token_key: TokenKey,
}

/// Links that unsubscribe one person.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnsubscribeLinks {
    /// Page that asks before it unsubscribes.
    pub page: String,
    /// One-click address for mail programs (RFC 8058).
    pub one_click: String,
}

impl LinkBuilder {
    /// Expects a site address from [`site_url`].
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
    fn a_confirmation_link_confirms_until_it_expires() {
        let key = TokenKey::new("a token key of thirty-two bytes or more").expect("a long key");
        let person = PersonId::try_from("0123456789abcdef0123456789abcdef".to_owned()).expect("an id");
        let expires = NOW + Duration::HOUR;
        let page = LinkBuilder::new("https://oculant.example", &key).confirm_page(&person, expires);
        let token = page
            .strip_prefix("https://oculant.example/?newsletter=confirm&token=")
            .expect("a link to the site");
        assert_eq!(key.verify(token, Purpose::Confirm, NOW), Ok(person));
        assert_eq!(
            key.verify(token, Purpose::Confirm, expires),
            Err(TokenError::Expired)
        );
    }

    #[test]
    fn the_sites_address_has_a_scheme_and_a_host_and_no_slash_at_its_end() {
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

    #[test]
    fn both_unsubscribe_links_are_good_for_years_and_for_nothing_else() {
        let key = TokenKey::new("a token key of thirty-two bytes or more").expect("a long key");
        let person = PersonId::try_from("0123456789abcdef0123456789abcdef".to_owned()).expect("an id");
        let unsubscribe_links =
            LinkBuilder::new("https://oculant.example", &key).unsubscribe_links(&person, NOW);
        let prefixes = [
            "https://oculant.example/?newsletter=unsubscribe&token=",
            "https://oculant.example/api/newsletter/unsubscribe?token=",
        ];
        for (link, prefix) in [unsubscribe_links.page, unsubscribe_links.one_click]
            .iter()
            .zip(prefixes)
        {
            let token = link.strip_prefix(prefix).expect("a link to the site");
            let later = NOW + Duration::days(4 * 365);
            assert_eq!(key.verify(token, Purpose::Unsubscribe, later), Ok(person.clone()));
            assert_eq!(key.verify(token, Purpose::Confirm, NOW), Err(TokenError::Forged));
        }
    }
}
