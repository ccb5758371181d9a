//! Forms without a script: what a browser gets that has sent a form by itself. Success leads on to a page
//! (303, RFC 9110, 15.4.4); anything else is the page with the form, filled with what was entered and what is wrong with
//! it. Both are pages that the front ends' build rendered from the very components that scripts use.

mod entered;
mod filling;
mod pages;

use axum::{
    extract::{Request, State},
    middleware::Next,
    response::{Html, IntoResponse, Redirect, Response},
};
use http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header};

pub use self::{entered::Recorders, pages::Pages};
use self::{
    entered::{Entered, Recorder},
    filling::fill,
};
use crate::refusal::Refusal;

/// A form's addresses: on the API, and its pages on the site.
struct Form {
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

impl Form {
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
const FORMS: [Form; 5] = [
    Form {
        api: "/api/contact",
        page: "/contact",
        question: None,
        accepted: "/contact/sent",
        refused: "/contact/not-sent",
    },
    Form {
        api: "/api/newsletter",
        page: "/blog",
        question: None,
        accepted: "/newsletter/subscribed",
        refused: "/newsletter/not-subscribed",
    },
    Form {
        api: "/api/career-application",
        page: "/careers/apply",
        question: None,
        accepted: "/careers/applied",
        refused: "/careers/not-applied",
    },
    Form {
        api: "/api/newsletter/confirm",
        page: "/blog",
        question: Some("newsletter=confirm"),
        accepted: "/newsletter/confirmed",
        refused: "/newsletter/not-answered",
    },
    Form {
        api: "/api/newsletter/unsubscribe",
        page: "/blog",
        question: Some("newsletter=unsubscribe"),
        accepted: "/newsletter/unsubscribed",
        refused: "/newsletter/not-answered",
    },
];

/// For when no page of the site can be had.
const BARE: &str = include_str!("bare.html");
/// What visitors entered is theirs.
const NOT_STORED: HeaderValue = HeaderValue::from_static("no-store");

/// What answers to browsers are made with.
#[derive(Clone)]
pub struct Answers {
    pub pages: Pages,
    pub recorders: Recorders,
}

/// Answers browsers with pages, and everyone else as the rest does.
pub async fn answer(State(answers): State<Answers>, request: Request, next: Next) -> Response {
    let form = Form::of(request.uri()).filter(|_| asks_for_a_page(request.headers()));
    let Some(form) = form else {
        return next.run(request).await;
    };
    match *request.method() {
        // Whoever loads the address of the answer anew wants the form.
        Method::GET | Method::HEAD => form.opened(request.uri().query()).into_response(),
        Method::POST => answers.submit(form, request, next).await,
        _ => next.run(request).await,
    }
}

/// A browser that shows a page names HTML; scripts name JSON, or anything (RFC 9110, 12.5.1).
fn asks_for_a_page(headers: &HeaderMap) -> bool {
    let accepted = headers.get_all(header::ACCEPT).iter();
    let ranges: Vec<&str> = accepted
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .filter_map(|range| range.split(';').next())
        .map(str::trim)
        .collect();
    let names = |media_type| ranges.iter().any(|range| range.eq_ignore_ascii_case(media_type));
    names("text/html") && !names("application/json")
}

impl Answers {
    async fn submit(&self, form: &Form, request: Request, next: Next) -> Response {
        let (request, recorder) = self.recorders.record(request);
        let answer = next.run(request).await;
        let mut page = if answer.status().is_success() {
            Redirect::to(form.accepted).into_response()
        } else {
            let refusal = Refusal::in_answer(&answer);
            self.refused(form, &refusal, recorder).await
        };
        page.headers_mut().insert(header::CACHE_CONTROL, NOT_STORED);
        page
    }

    async fn refused(&self, form: &Form, refusal: &Refusal, recorder: Option<Recorder>) -> Response {
        let (page, entered) = tokio::join!(self.pages.page(form.refused), async {
            match recorder {
                Some(recorder) => recorder.entered().await,
                None => Entered::default(),
            }
        });
        // What another site sent is read, so that the browser reads the answer, and not handed to its visitor.
        let entered = if refusal.status() == StatusCode::FORBIDDEN {
            Entered::default()
        } else {
            entered
        };
        let filled = page.and_then(|page| {
            let html = fill(&page.html, form.page, refusal, &entered);
            let html = html
                .inspect_err(|error| tracing::error!(%error, page = form.refused, "a page cannot be filled"));
            Some((html.ok()?, page.policy))
        });
        let (html, policy) = match filled {
            Some((html, policy)) => (html, Some(policy)),
            None => (fill(BARE, form.page, refusal, &entered).unwrap_or_default(), None),
        };
        let mut answer = (refusal.status(), refusal.headers(), Html(html)).into_response();
        if let Some(policy) = policy {
            answer
                .headers_mut()
                .insert(header::CONTENT_SECURITY_POLICY, policy);
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
