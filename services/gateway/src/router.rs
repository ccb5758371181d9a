//! Every route, and what each request passes on its way in and out.

use std::{sync::Arc, time::Duration};

use anyhow::Context;
use axum::{
    Router,
    extract::{DefaultBodyLimit, Request},
    handler::Handler,
    http::{HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{MethodRouter, any, get, post},
};
use site_files::{Site, security_headers};
use site_service::{idempotency, request_id, requests};
use tower_http::{catch_panic::CatchPanicLayer, cors::CorsLayer};

use crate::{
    api,
    app::App,
    cross_site,
    form_pages::{self, Answers, Pages, Recorders},
    limits::{self, Limited},
    readiness,
    refusal::{self, Refusal},
    settings::Settings,
    submissions::{self, Form},
    unread_body,
};

/// The largest JSON body: the longest message in the widest encoding, and some.
const JSON_BYTES: usize = 256 * 1024;
/// The largest multipart body that is read at all. The résumé's own limit is lower and
/// is the careers service's to hold, which can name it.
const MULTIPART_BYTES: usize = 64 * 1024 * 1024;
/// The largest report of a browser.
const REPORT_BYTES: usize = 1024;
/// How long a form without a file may take, from its headers to its answer.
const FORM_TIME: Duration = Duration::from_secs(15);

/// Everything the gateway serves.
///
/// # Errors
///
/// If the setting `SITE_DIR` names a folder that holds no site.
pub fn router(app: App, settings: &Settings) -> anyhow::Result<Router> {
    let site = site(settings)?;
    let answers = Answers {
        pages: pages(settings, &site),
        recorders: Recorders::default(),
    };
    let mut router = forms(settings)
        .merge(reports(settings))
        .merge(others())
        .with_state(app)
        .merge(site)
        .layer(CatchPanicLayer::custom(panicked));
    if !settings.cors_origins.is_empty() {
        router = router.layer(cors(&settings.cors_origins));
    }
    Ok(requests::observed(
        router
            .layer(from_fn_with_state(answers, form_pages::answer))
            .layer(from_fn(refusal::as_json))
            .layer(from_fn(security_headers::add)),
    ))
}

fn forms(settings: &Settings) -> Router<App> {
    let contact = form("contact", api::contact::submit, FORM_TIME, JSON_BYTES, settings);
    let newsletter = form(
        "newsletter",
        api::newsletter::subscribe,
        FORM_TIME,
        JSON_BYTES,
        settings,
    );
    let careers = form(
        "career-application",
        api::careers::apply,
        settings.upload_time,
        MULTIPART_BYTES,
        settings,
    );
    Router::new()
        .route("/api/contact", contact)
        .route("/api/newsletter", newsletter)
        .route(
            "/api/career-application",
            careers.layer(from_fn(unread_body::take_in)),
        )
}

/// Reports of browsers, limited by address as forms are.
fn reports(settings: &Settings) -> Router<App> {
    let report = post(api::remote_failure::report)
        .layer(DefaultBodyLimit::max(REPORT_BYTES))
        .layer(from_fn(|request, next| within(FORM_TIME, request, next)))
        .layer(from_fn_with_state(
            Arc::new(Limited::new(settings)),
            limits::admit,
        ));
    Router::new().route("/api/remote-failure", report)
}

fn others() -> Router<App> {
    Router::new()
        .route("/api/newsletter/confirm", post(api::newsletter::confirm))
        .route(
            "/api/newsletter/unsubscribe",
            post(api::newsletter::unsubscribe).get(api::newsletter::ask_to_unsubscribe),
        )
        .layer(DefaultBodyLimit::max(JSON_BYTES))
        .layer(from_fn(|request, next| within(FORM_TIME, request, next)))
        .route("/api/openapi.json", get(api::openapi::document))
        .route("/livez", get(readiness::livez))
        .route("/readyz", get(readiness::readyz))
        .route("/api", any(nothing_here))
        .route("/api/{*path}", any(nothing_here))
}

fn site(settings: &Settings) -> anyhow::Result<Router> {
    let Some(folder) = &settings.site_dir else {
        return Ok(Router::new());
    };
    let site = Site::read(folder).with_context(|| {
        format!(
            "The setting SITE_DIR is wrong: {} holds no site",
            folder.display()
        )
    })?;
    Ok(site.into_router())
}

/// Where the pages are that browsers get which have sent a form by themselves.
fn pages(settings: &Settings, site: &Router) -> Pages {
    match (&settings.site_dir, &settings.pages_url) {
        (Some(_), _) => Pages::Here(site.clone()),
        (None, Some(address)) => Pages::there(address.clone()),
        (None, None) => Pages::Nowhere,
    }
}

/// A form is counted, and limited by address, before anything of its body is read. One that another site sent for its
/// visitor is not held against them.
fn form<H, T>(
    name: &'static str,
    handler: H,
    time: Duration,
    bytes: usize,
    settings: &Settings,
) -> MethodRouter<App>
where
    H: Handler<T, App>,
    T: 'static,
{
    post(handler)
        .layer(DefaultBodyLimit::max(bytes))
        .layer(from_fn(move |request, next| within(time, request, next)))
        .layer(from_fn_with_state(
            Arc::new(Limited::new(settings)),
            limits::admit,
        ))
        .layer(from_fn_with_state(
            Arc::<[HeaderValue]>::from(settings.cors_origins.as_slice()),
            cross_site::refuse,
        ))
        .layer(from_fn_with_state(Arc::new(Form::new(name)), submissions::count))
}

async fn within(time: Duration, request: Request, next: Next) -> Response {
    tokio::time::timeout(time, next.run(request))
        .await
        .unwrap_or_else(|_| Refusal::of(StatusCode::REQUEST_TIMEOUT).into_response())
}

async fn nothing_here() -> Refusal {
    Refusal::of(StatusCode::NOT_FOUND)
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    tracing::error!("a handler panicked; its message stands above on stderr");
    Refusal::of(StatusCode::INTERNAL_SERVER_ERROR).into_response()
}

fn cors(origins: &[HeaderValue]) -> CorsLayer {
    CorsLayer::new()
        .allow_origin(origins.to_vec())
        .allow_methods([Method::GET, Method::POST])
        .allow_headers([
            header::CONTENT_TYPE,
            HeaderName::from_static(idempotency::HEADER),
            HeaderName::from_static(request_id::HEADER),
        ])
        .expose_headers([header::RETRY_AFTER, HeaderName::from_static(request_id::HEADER)])
}
