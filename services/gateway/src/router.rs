//! Every route and its middleware: CSRF check, rate limit, timeout, body limit.

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
use site_service::{drain::Drain, http_middleware, idempotency, request_id};
use tower_http::{catch_panic::CatchPanicLayer, cors::CorsLayer};

use crate::{
    api,
    api_error::{self, ApiError},
    app::AppState,
    csrf,
    deadline::Deadline,
    form_pages::{self, BodyRecorders, FormPages, PageSource},
    rate_limit::{self, RateLimitState},
    settings::Settings,
    stopping::{ANSWERING_ENDS, stopping},
    submissions::{self, SubmissionMetrics},
    unread_body,
};

/// The largest JSON body: the longest message in the widest encoding, and some.
const JSON_BYTES: usize = 256 * 1024;
/// The largest multipart body that is read at all. The résumé's own limit is lower and
/// is the careers service's to hold, which can name it.
const MULTIPART_BYTES: usize = 64 * 1024 * 1024;
/// The largest report of a browser, or several that it has gathered.
const REPORT_BYTES: usize = 32 * 1024;
/// How long a form without a file may take, from its headers to its answer.
const FORM_REQUEST_TIMEOUT: Duration = Duration::from_secs(15);
/// How much longer a request may take than its calls to the services: of one that a service may still do it is said that it is
/// not known to be done. After 408 a browser takes the form for one that did not arrive, and sends it under another key.
const ANSWER_MARGIN: Duration = Duration::from_millis(500);

/// Everything the gateway serves.
///
/// # Errors
///
/// If the setting `SITE_DIR` names a folder that holds no site.
pub fn router(app: AppState, settings: &Settings) -> anyhow::Result<Router> {
    let site = site(settings)?;
    let pages = FormPages {
        pages: page_source(settings, &site),
        recorders: BodyRecorders::default(),
    };
    let mut router = forms(settings)
        .merge(reports(settings))
        .merge(link_routes())
        .with_state(app)
        .merge(site)
        .layer(CatchPanicLayer::custom(panicked));
    if !settings.cors_origins.is_empty() {
        router = router.layer(cors(&settings.cors_origins));
    }
    Ok(http_middleware::with_middleware(
        router
            .layer(from_fn(http_middleware::require_host))
            .layer(from_fn_with_state(pages, form_pages::render_for_browsers))
            .layer(from_fn(api_error::as_json))
            .layer(from_fn(security_headers::add)),
    ))
}

fn forms(settings: &Settings) -> Router<AppState> {
    let contact = form(
        "contact",
        api::contact::submit,
        FORM_REQUEST_TIMEOUT,
        JSON_BYTES,
        settings,
    );
    let newsletter = form(
        "newsletter",
        api::newsletter::subscribe,
        FORM_REQUEST_TIMEOUT,
        JSON_BYTES,
        settings,
    );
    let careers = form(
        "career-application",
        api::careers::apply,
        settings.upload_timeout,
        MULTIPART_BYTES,
        settings,
    );
    Router::new()
        .route("/api/contact", contact)
        .route("/api/newsletter", newsletter)
        .route(
            "/api/career-application",
            careers.layer(from_fn(unread_body::drain_unread_body)),
        )
}

/// Reports of browsers, limited by address as forms are.
fn reports(settings: &Settings) -> Router<AppState> {
    let report = post(api::browser_report::report)
        .layer(DefaultBodyLimit::max(REPORT_BYTES))
        .layer(from_fn(|request, next| {
            with_timeout(FORM_REQUEST_TIMEOUT, request, next)
        }))
        .layer(from_fn_with_state(
            Arc::new(RateLimitState::new(settings)),
            rate_limit::enforce,
        ));
    Router::new().route("/api/remote-failure", report)
}

fn link_routes() -> Router<AppState> {
    Router::new()
        .route("/api/newsletter/confirm", post(api::newsletter::confirm))
        .route(
            "/api/newsletter/unsubscribe",
            post(api::newsletter::unsubscribe).get(api::newsletter::ask_to_unsubscribe),
        )
        .layer(DefaultBodyLimit::max(JSON_BYTES))
        .layer(from_fn(|request, next| {
            with_timeout(FORM_REQUEST_TIMEOUT, request, next)
        }))
        .route("/api/openapi.json", get(api::openapi::document))
        .route("/api", any(not_found))
        .route("/api/{*path}", any(not_found))
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
fn page_source(settings: &Settings, site: &Router) -> PageSource {
    match (&settings.site_dir, &settings.pages_url) {
        (Some(_), _) => PageSource::Local(site.clone()),
        (None, Some(address)) => PageSource::remote(address.clone()),
        (None, None) => PageSource::None,
    }
}

/// Form route with its middleware: metrics, CSRF check, rate limit, timeout, body limit. The CSRF check and the rate limit
/// act before the body is read, in this order: what another site sends does not count for its visitor.
fn form<H, T>(
    name: &'static str,
    handler: H,
    timeout: Duration,
    max_body_bytes: usize,
    settings: &Settings,
) -> MethodRouter<AppState>
where
    H: Handler<T, AppState>,
    T: 'static,
{
    post(handler)
        .layer(DefaultBodyLimit::max(max_body_bytes))
        .layer(from_fn(move |request, next| with_timeout(timeout, request, next)))
        .layer(from_fn_with_state(
            Arc::new(RateLimitState::new(settings)),
            rate_limit::enforce,
        ))
        .layer(from_fn_with_state(
            Arc::<[HeaderValue]>::from(settings.cors_origins.as_slice()),
            csrf::reject_cross_site,
        ))
        .layer(from_fn_with_state(
            Arc::new(SubmissionMetrics::new(name)),
            submissions::count,
        ))
}

/// Nothing takes longer than `timeout`, nor until the end of a stop. What goes on behind it can be sent again without harm.
async fn with_timeout(timeout: Duration, mut request: Request, next: Next) -> Response {
    let drain = Drain::of(request.extensions());
    request.extensions_mut().insert(Deadline::after(timeout));
    tokio::select! {
        answer = next.run(request) => answer,
        () = tokio::time::sleep(timeout + ANSWER_MARGIN) => ApiError::of(StatusCode::REQUEST_TIMEOUT).into_response(),
        () = drain.left(ANSWERING_ENDS) => stopping().into_response(),
    }
}

async fn not_found() -> ApiError {
    ApiError::of(StatusCode::NOT_FOUND)
}

fn panicked(_: Box<dyn std::any::Any + Send>) -> Response {
    tracing::error!("a handler panicked; its message stands above on stderr");
    ApiError::of(StatusCode::INTERNAL_SERVER_ERROR).into_response()
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

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use futures_util::future::join_all;
    use tower::ServiceExt;

    use super::*;

    /// What a call does whose service says nothing until its deadline.
    async fn unanswered(deadline: Deadline) -> ApiError {
        tokio::time::sleep(deadline.left(FORM_REQUEST_TIMEOUT)).await;
        ApiError::of(StatusCode::SERVICE_UNAVAILABLE)
    }

    #[tokio::test]
    async fn a_call_that_its_service_may_still_do_is_never_told_as_a_request_that_did_not_arrive() {
        const LIMIT: Duration = Duration::from_millis(200);
        let router: Router = Router::new()
            .route("/", post(unanswered))
            .layer(from_fn(|request, next| with_timeout(LIMIT, request, next)));
        let requests = (0..50).map(|_| {
            let request = Request::post("/").body(Body::empty()).expect("a request");
            router.clone().oneshot(request)
        });
        let statuses = join_all(requests).await;
        let statuses = statuses
            .into_iter()
            .map(|answer| answer.map(|answer| answer.status()));
        let told_otherwise = statuses.filter(|status| *status != Ok(StatusCode::SERVICE_UNAVAILABLE));
        assert_eq!(told_otherwise.count(), 0);
    }
}
