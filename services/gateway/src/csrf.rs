//! CSRF protection: rejects cross-site form posts by Sec-Fetch-Site (docs/decisions/0011-forms-need-no-token.md).

use http::{HeaderMap, HeaderValue, StatusCode, header};

use crate::api_error::ApiError;

/// Specification: <https://www.w3.org/TR/fetch-metadata/>
const SEC_FETCH_SITE: &str = "sec-fetch-site";

/// # Errors
///
/// If the browser marks the request as cross-site and its origin is not allowed.
pub fn check(headers: &HeaderMap, allowed_origins: &[HeaderValue]) -> Result<(), ApiError> {
    // A client without the header is no current browser, so it cannot act with a visitor's credentials.
    let site = headers.get(SEC_FETCH_SITE);
    let origin = headers.get(header::ORIGIN);
    let is_allowed = origin.is_some_and(|origin| allowed_origins.contains(origin));
    if site.is_some_and(|site| site == "cross-site") && !is_allowed {
        return Err(ApiError::of(StatusCode::FORBIDDEN));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALLOWED_ORIGIN: HeaderValue = HeaderValue::from_static("https://partner.example");

    fn refused(headers: &[(&'static str, &'static str)]) -> bool {
        let headers: HeaderMap = headers
            .iter()
            .map(|(name, value)| ((*name).parse().expect("a name"), HeaderValue::from_static(value)))
            .collect();
        check(&headers, &[ALLOWED_ORIGIN]).is_err()
    }

    #[test]
    fn only_cross_site_requests_without_allowed_origin_are_refused() {
        let cross = ("sec-fetch-site", "cross-site");
        assert!(refused(&[cross]));
        assert!(refused(&[cross, ("origin", "https://other.example")]));
        assert!(refused(&[cross, ("origin", "null")]));
        assert!(!refused(&[cross, ("origin", "https://partner.example")]));
        for site in ["same-origin", "same-site", "none"] {
            assert!(!refused(&[("sec-fetch-site", site)]), "{site}");
        }
        assert!(!refused(&[("origin", "https://other.example")]));
    }
}
