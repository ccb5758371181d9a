//! Attribution: where the visitor came from.

use axum::extract::Query;
use http::{Uri, header, request::Parts};
use site_proto::attribution::v1::Attribution;

/// Returns path and campaign of the page that sent the form, from `Referer` (RFC 9110, 10.1.3). Needs no script.
pub fn of_referer(parts: &Parts) -> Option<Attribution> {
    let referer: Uri = parts.headers.get(header::REFERER)?.to_str().ok()?.parse().ok()?;
    // An absolute target overrides the `Host` header (RFC 9112, 3.2.2).
    let host = match parts.uri.authority() {
        Some(authority) => authority.as_str(),
        None => parts.headers.get(header::HOST)?.to_str().ok()?,
    };
    // After an error, a browser without scripts sends the form from the API's address, which is no page of the site.
    let is_page = *referer.authority()? == *host && !referer.path().starts_with("/api/");
    if !is_page {
        return None;
    }
    let Query(campaign) = Query::<Attribution>::try_from_uri(&referer).unwrap_or_default();
    Some(Attribution {
        page: referer.path().to_owned(),
        referrer: String::new(),
        ..campaign
    })
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
        of_referer(&parts)
    }

    #[test]
    fn our_pages_give_path_and_campaign() {
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
    fn the_targets_host_wins_and_case_is_ignored() {
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
    fn other_sites_and_api_answers_give_no_attribution() {
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
