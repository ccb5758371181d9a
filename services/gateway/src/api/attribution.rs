//! Attribution: where the visitor came from.

use axum::extract::Query;
use http::{Uri, header, request::Parts};
use serde::{Deserialize, Serialize};
use site_proto::attribution::v1 as proto;
use utoipa::ToSchema;

/// Where the visitor came from. All of it may be left out; none of it is a reason to refuse a form.
#[derive(Default, Deserialize, Serialize, ToSchema)]
#[serde(default, rename_all = "camelCase")]
pub struct Attribution {
    /// The path of the page that the form is sent from
    page: String,
    /// The page of another site that led here
    referrer: String,
    /// The parameter `utm_source` of the address that the visitor came by
    #[serde(alias = "utm_source")]
    utm_source: String,
    /// `utm_medium`
    #[serde(alias = "utm_medium")]
    utm_medium: String,
    /// `utm_campaign`
    #[serde(alias = "utm_campaign")]
    utm_campaign: String,
    /// `utm_term`
    #[serde(alias = "utm_term")]
    utm_term: String,
    /// `utm_content`
    #[serde(alias = "utm_content")]
    utm_content: String,
}

impl Attribution {
    /// Path and campaign of our page that sent the form, known without a script (`Referer`, RFC 9110, 10.1.3).
    pub fn of_referer(parts: &Parts) -> Option<Self> {
        let referer: Uri = parts.headers.get(header::REFERER)?.to_str().ok()?.parse().ok()?;
        // An absolute target overrides the `Host` header (RFC 9112, 3.2.2).
        let host = match parts.uri.authority() {
            Some(authority) => authority.as_str(),
            None => parts.headers.get(header::HOST)?.to_str().ok()?,
        };
        // An API answer may contain the form again, but is no page of the site.
        let is_page = *referer.authority()? == *host && !referer.path().starts_with("/api/");
        if !is_page {
            return None;
        }
        let Query(campaign) = Query::<Self>::try_from_uri(&referer).unwrap_or_default();
        Some(Self {
            page: referer.path().to_owned(),
            referrer: String::new(),
            ..campaign
        })
    }
}

impl From<Attribution> for proto::Attribution {
    fn from(told: Attribution) -> Self {
        Self {
            page: told.page,
            referrer: told.referrer,
            utm_source: told.utm_source,
            utm_medium: told.utm_medium,
            utm_campaign: told.utm_campaign,
            utm_term: told.utm_term,
            utm_content: told.utm_content,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(referer: &str) -> Option<Attribution> {
        told_to("/api/contact", "oculant.example:8080", referer)
    }

    fn told_to(target: &str, host: &str, referer: &str) -> Option<Attribution> {
        let request = http::Request::post(target)
            .header(header::HOST, host)
            .header(header::REFERER, referer);
        let (parts, ()) = request.body(()).expect("a request").into_parts();
        Attribution::of_referer(&parts)
    }

    #[test]
    fn a_page_of_ours_tells_its_path_and_its_campaign() {
        let page = "https://oculant.example:8080/contact?utm_source=a%20b&utm_content=x&gclid=1#form";
        let told = told(page).expect("a page of ours");
        assert_eq!((told.page.as_str(), told.referrer.as_str()), ("/contact", ""));
        assert_eq!(
            (told.utm_source.as_str(), told.utm_content.as_str()),
            ("a b", "x")
        );
        assert_eq!(told.utm_campaign, "");
    }

    #[test]
    fn the_host_is_the_targets_where_it_names_one_and_has_no_case() {
        for (target, host, is_ours) in [
            ("http://oculant.example/api/contact", "other.example", true),
            ("http://OCULANT.example/api/contact", "other.example", true),
            ("http://other.example/api/contact", "oculant.example", false),
            ("/api/contact", "Oculant.Example", true),
        ] {
            let told = told_to(target, host, "https://oculant.example/contact");
            assert_eq!(told.is_some(), is_ours, "{target} {host}");
        }
    }

    #[test]
    fn nothing_is_told_by_other_sites_and_answers() {
        for other in [
            "https://other.example/contact?utm_source=a",
            "https://oculant.example:8081/contact",
            "https://oculant.example:8080/api/contact",
            "/contact",
            "about:blank",
            "",
        ] {
            assert!(told(other).is_none(), "{other}");
        }
    }
}
