//! Forms without JavaScript: redirects after success (303, RFC 9110, 15.4.4); otherwise shows the form with the
//! visitor's input and its errors. The build renders these pages from the same React components.

mod filling;
mod form_values;
mod pages;

use std::sync::Arc;

use axum::{
    extract::Request,
    middleware::Next,
    response::{Html, IntoResponse, Redirect, Response},
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};
use site_service::http_middleware::{self, Outcome};
use tokio::sync::Semaphore;

pub use self::pages::PageSource;
use self::{
    filling::fill,
    form_values::{FormValues, KeptBody},
};
use crate::api_error::ApiError;

struct FormRoute {
    api: &'static str,
    page: &'static str,
    /// Query parameter that only our page for mailed links adds. Mail clients post to the same route without it,
    /// and with any `Accept` header (RFC 8058, 3.1).
    question: Option<&'static str>,
    /// Redirect target after success.
    accepted: &'static str,
    /// Page with placeholders, shown after a rejection.
    refused: &'static str,
}

impl FormRoute {
    fn of(address: &Uri) -> Option<&'static Self> {
        let form = FORMS.iter().find(|form| form.api == address.path())?;
        let mut parameters = address.query().unwrap_or_default().split('&');
        form.question
            .is_none_or(|question| parameters.any(|parameter| parameter == question))
            .then_some(form)
    }

    fn opened(&self, query: Option<&str>) -> Redirect {
        match (self.question, query) {
            (Some(_), Some(query)) => Redirect::to(&format!("/?{query}")),
            _ => Redirect::to(self.page),
        }
    }
}

/// Forms and their pages. Keep in step with the front ends' routes (`frontends/shell/src/routes.tsx`).
const FORMS: [FormRoute; 5] = [
    FormRoute {
        api: "/api/contact",
        page: "/contact",
        question: None,
        accepted: "/contact/sent",
        refused: "/contact/not-sent",
    },
    FormRoute {
        api: "/api/newsletter",
        page: "/blog",
        question: None,
        accepted: "/newsletter/subscribed",
        refused: "/newsletter/not-subscribed",
    },
    FormRoute {
        api: "/api/career-application",
        page: "/careers/apply",
        question: None,
        accepted: "/careers/applied",
        refused: "/careers/not-applied",
    },
    FormRoute {
        api: "/api/newsletter/confirm",
        page: "/blog",
        question: Some("newsletter=confirm"),
        accepted: "/newsletter/confirmed",
        refused: "/newsletter/not-answered",
    },
    FormRoute {
        api: "/api/newsletter/unsubscribe",
        page: "/blog",
        question: Some("newsletter=unsubscribe"),
        accepted: "/newsletter/unsubscribed",
        refused: "/newsletter/not-answered",
    },
];

/// Limit of kept inputs, to bound memory in a flood. Above it, rejected forms are shown without their input.
const MAX_KEPT_BODIES: usize = 32;
/// Page to show if the site's pages are unavailable.
const FALLBACK_PAGE: &str = include_str!("fallback.html");
/// Keeps pages with a visitor's input out of caches.
const NOT_STORED: HeaderValue = HeaderValue::from_static("no-store");

pub struct FormPages {
    /// `None` if the gateway serves only the API.
    pages: Option<PageSource>,
    room: Arc<Semaphore>,
}

/// Whether the client asks for HTML, as browsers do. Scripts ask for JSON or anything (RFC 9110, 12.5.1).
fn asks_for_a_page(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter();
    let ranges = accepted.filter_map(|value| value.to_str().ok().map(str::to_ascii_lowercase));
    let ranges: Vec<String> = ranges.collect();
    let names = |media_type| ranges.iter().any(|ranges| ranges.contains(media_type));
    names("text/html") && !names("application/json")
}

impl FormPages {
    pub fn new(pages: Option<PageSource>) -> Self {
        let room = Arc::new(Semaphore::new(MAX_KEPT_BODIES));
        Self { pages, room }
    }

    /// Answers browsers without scripts with pages, and other clients with JSON.
    pub async fn answer(&self, request: Request, next: Next) -> Response {
        let form = FormRoute::of(request.uri()).filter(|_| asks_for_a_page(request.headers()));
        match (form, request.method()) {
            // If the visitor opens the API's address again, show the form's page.
            (Some(form), &Method::GET | &Method::HEAD) => form.opened(request.uri().query()).into_response(),
            // Boxed, because this large future is rarely needed, but every request would move it.
            (Some(form), &Method::POST) => Box::pin(self.submit(form, request, next)).await,
            _ => http_middleware::guarded(request, next).await,
        }
    }

    async fn submit(&self, form: &FormRoute, request: Request, next: Next) -> Response {
        let (request, kept) = KeptBody::of(request, &self.room).await;
        let answer = http_middleware::guarded(request, next).await;
        let mut page = if answer.status().is_success() {
            Redirect::to(form.accepted).into_response()
        } else {
            let error = ApiError::in_answer(&answer);
            // A cross-site post is forbidden. Its input comes from the other site, so it is not shown.
            let values = match kept.filter(|_| error.status() != StatusCode::FORBIDDEN) {
                Some(kept) => kept.values().await,
                None => FormValues::default(),
            };
            self.refused(form, &error, &values).await
        };
        page.headers_mut().insert(header::CACHE_CONTROL, NOT_STORED);
        if let Some(outcome) = answer.extensions().get::<Outcome>() {
            page.extensions_mut().insert(*outcome);
        }
        page
    }

    async fn refused(&self, form: &FormRoute, error: &ApiError, values: &FormValues) -> Response {
        let page = match &self.pages {
            Some(pages) => pages.page(form.refused).await,
            None => None,
        };
        let html = page.as_ref().map_or(FALLBACK_PAGE, |page| &page.html);
        let html = Html(fill(html, form.page, error, values));
        let mut answer = (error.status(), error.headers(), html).into_response();
        if let Some(page) = page {
            answer
                .headers_mut()
                .insert(header::CONTENT_SECURITY_POLICY, page.content_security_policy);
        }
        answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn browsers_accept_html_and_scripts_do_not() {
        let chromium = "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8";
        for (accept, is_page) in [
            (chromium, true),
            ("Text/HTML; q=1", true),
            ("*/*", false),
            ("application/json", false),
            ("application/json, text/html;q=0.1", false),
            ("text/*", false),
            ("", false),
        ] {
            let headers = HeaderMap::from_iter([(header::ACCEPT, HeaderValue::from_static(accept))]);
            assert_eq!(asks_for_a_page(&headers), is_page, "{accept}");
        }
        assert!(!asks_for_a_page(&HeaderMap::new()));
    }
}
