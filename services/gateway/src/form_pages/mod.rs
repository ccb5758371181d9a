//! Forms without JavaScript: redirects after success (303, RFC 9110, 15.4.4), else shows the form with its errors and what was
//! entered. Both are pages that the front ends' build rendered from the very components that scripts use.

mod filling;
mod form_values;
#[cfg(test)]
mod fuzz;
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

/// Routes of a form: on the API, and its pages on the site.
struct FormRoute {
    api: &'static str,
    /// The page with the form.
    page: &'static str,
    /// In the query of a page's form that answers the question of a mail's link. Without it, the address is for scripts
    /// and for mail clients, which may accept what they like (RFC 8058, 3.1).
    question: Option<&'static str>,
    /// Where a visitor is led whose form was accepted.
    accepted: &'static str,
    /// The page that is filled where it was not.
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

    /// The page with the form, or with the question that the query tells of.
    fn opened(&self, query: Option<&str>) -> Redirect {
        match (self.question, query) {
            (Some(_), Some(query)) => Redirect::to(&format!("/?{query}")),
            _ => Redirect::to(self.page),
        }
    }
}

/// As the front ends' routes name them (`frontends/shell/src/routes.tsx`).
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

/// How many bodies are kept at once. Beyond that, forms work and are shown empty: a flood cannot fill the memory.
const MAX_KEPT_BODIES: usize = 32;
/// Fallback where no page of the site can be had.
const FALLBACK_PAGE: &str = include_str!("fallback.html");
/// What visitors entered is theirs.
const NOT_STORED: HeaderValue = HeaderValue::from_static("no-store");

/// The form pages, and room for the bodies that are filled into them.
pub struct FormPages {
    /// None where the gateway serves the API alone.
    pages: Option<PageSource>,
    room: Arc<Semaphore>,
}

/// A browser that shows a page names HTML; scripts name JSON, or anything (RFC 9110, 12.5.1).
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

    /// Answers browsers with pages, and everyone else as the router does.
    pub async fn answer(&self, request: Request, next: Next) -> Response {
        let form = FormRoute::of(request.uri()).filter(|_| asks_for_a_page(request.headers()));
        match (form, request.method()) {
            // Whoever loads the address of the answer anew wants the form.
            (Some(form), &Method::GET | &Method::HEAD) => form.opened(request.uri().query()).into_response(),
            // Large, and seldom: every request would move what this one may need.
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
            // What another site sent is not shown to its visitor.
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

    fn accepting(value: &'static str) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, HeaderValue::from_static(value));
        asks_for_a_page(&headers)
    }

    #[test]
    fn a_browser_that_shows_a_page_names_html_and_a_script_does_not() {
        for browser in [
            "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,*/*;q=0.8",
            "Text/HTML; q=1",
        ] {
            assert!(accepting(browser), "{browser}");
        }
        for script in [
            "*/*",
            "application/json",
            "application/json, text/html;q=0.1",
            "text/*",
            "",
        ] {
            assert!(!accepting(script), "{script}");
        }
        assert!(!asks_for_a_page(&HeaderMap::new()));
    }
}
