//! Every route and its middleware: CSRF check, rate limit, timeout, challenge, body limit.

use std::{sync::Arc, time::Duration};

use anyhow::Context;
use axum::{
    Router,
    extract::{DefaultBodyLimit, Request},
    http::{HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{MethodRouter, any, get, post},
};
use site_files::{Site, security_headers};
use site_service::{drain::Drain, http_middleware, idempotency, request_id};
use tower_http::{catch_panic::CatchPanicLayer, cors::CorsLayer};

use crate::{
    address::{self, TrustedProxies},
    api,
    api_error::{self, ApiError},
    app::AppState,
    challenge::{self, Challenges},
    csrf,
    deadline::Deadline,
    form_bodies::{self, BodyBudget, FORM_BYTES, FormBodies},
    form_pages::{self, BodyRecorders, FormPages, PageSource},
    limits,
    rate_limit::{self, RateLimit},
    settings::Settings,
    stopping::{ANSWERING_ENDS, stopping},
    submissions::{self, SubmissionMetrics},
    unread_body,
};

/// The largest multipart body that is read at all. The résumé's own limit is lower and
/// is the careers service's to hold, which can name it.
const MULTIPART_BYTES: usize = 64 * 1024 * 1024;
const BYTES_PER_KB: usize = 1024;
/// The largest report of a browser, or several that it has gathered.
const REPORT_BYTES: usize = 32 * 1024;
/// The largest body of a link in a mail: a token of some hundred bytes, or a mail client's few words.
const LINK_BYTES: usize = 4 * 1024;
/// How long a form without a file may take, from its headers to its answer.
const FORM_REQUEST_TIMEOUT: Duration = Duration::from_secs(15);
/// How much longer a request may take than its calls to the services: of one that a service may still do it is said that it is
/// not known to be done. After 408 a browser takes the form for one that did not arrive, and sends it under another key.
const ANSWER_MARGIN: Duration = Duration::from_millis(500);

/// Everything the gateway serves.
///
/// # Errors
///
/// If the setting `SITE_DIR` names a folder that holds no site, or the operating system has no random bytes.
pub fn router(app: AppState, settings: &Settings) -> anyhow::Result<Router> {
    let site = site(settings)?;
    let pages = FormPages {
        pages: page_source(settings, &site),
        recorders: BodyRecorders::default(),
    };
    let budget = BodyBudget::new(settings.form_kb_at_once as usize * BYTES_PER_KB);
    limits::count_none();
    let challenges = Challenges::new(&settings.challenge)?;
    let mut router = forms(settings, &budget, &challenges)
        .merge(reports(settings, &budget))
        .merge(links(settings, &budget))
        .merge(other_routes())
        .with_state(app)
        .merge(site)
        .layer(CatchPanicLayer::custom(panicked));
    if !settings.cors_origins.is_empty() {
        router = router.layer(cors(&settings.cors_origins));
    }
    let proxies = TrustedProxies {
        count: settings.trusted_proxies,
        header: settings.forwarded_header,
    };
    Ok(http_middleware::with_middleware(
        router
            .layer(from_fn(http_middleware::require_host))
            .layer(from_fn_with_state(pages, form_pages::render_for_browsers))
            .layer(from_fn_with_state(proxies, address::find))
            .layer(from_fn(api_error::as_json))
            .layer(from_fn(security_headers::add)),
    ))
}

fn forms(settings: &Settings, budget: &BodyBudget, challenges: &Challenges) -> Router<AppState> {
    let challenged = |name, form: MethodRouter<AppState>| {
        form.route_layer(from_fn_with_state(challenges.of(name), challenge::require))
    };
    let without_file = |name, form| {
        let form = challenged(name, within_budget(form, budget, FORM_BYTES));
        of_form(name, form, FORM_REQUEST_TIMEOUT, settings)
    };
    let application = post(api::careers::apply).layer(DefaultBodyLimit::max(MULTIPART_BYTES));
    let application = of_form(
        "career-application",
        challenged("career-application", application),
        settings.upload_timeout,
        settings,
    );
    Router::new()
        .route(
            "/api/contact",
            without_file("contact", post(api::contact::submit)),
        )
        .route(
            "/api/newsletter",
            without_file("newsletter", post(api::newsletter::subscribe)),
        )
        .route(
            "/api/career-application",
            application.layer(from_fn(unread_body::drain_unread_body)),
        )
}

/// Reports of browsers, limited by address as forms are.
fn reports(settings: &Settings, budget: &BodyBudget) -> Router<AppState> {
    let report = within_budget(post(api::browser_report::report), budget, REPORT_BYTES);
    let report = limited(report, FORM_REQUEST_TIMEOUT, RateLimit::of_forms(settings));
    Router::new().route("/api/remote-failure", report)
}

/// Where the links of mails lead, for people and for their mail clients.
fn links(settings: &Settings, budget: &BodyBudget) -> Router<AppState> {
    let link = |route| {
        let route = within_budget(route, budget, LINK_BYTES);
        limited(route, FORM_REQUEST_TIMEOUT, RateLimit::of_links(settings))
    };
    let unsubscribe = post(api::newsletter::unsubscribe).get(api::newsletter::ask_to_unsubscribe);
    Router::new()
        .route("/api/newsletter/confirm", link(post(api::newsletter::confirm)))
        .route("/api/newsletter/unsubscribe", link(unsubscribe))
}

fn other_routes() -> Router<AppState> {
    Router::new()
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

/// The route of a form with its middleware: metrics, CSRF check, rate limit, timeout. The CSRF check and the rate limit act before
/// the body is read, in this order: what another site sends does not count for its visitor.
fn of_form(
    name: &'static str,
    form: MethodRouter<AppState>,
    timeout: Duration,
    settings: &Settings,
) -> MethodRouter<AppState> {
    limited(form, timeout, RateLimit::of_forms(settings))
        .layer(from_fn_with_state(
            Arc::<[HeaderValue]>::from(settings.cors_origins.as_slice()),
            csrf::reject_cross_site,
        ))
        .layer(from_fn_with_state(
            Arc::new(SubmissionMetrics::new(name)),
            submissions::count,
        ))
}

/// A route that each address may call so often, and that takes so long.
fn limited(route: MethodRouter<AppState>, timeout: Duration, rate: RateLimit) -> MethodRouter<AppState> {
    route
        .layer(from_fn(move |request, next| with_timeout(timeout, request, next)))
        .layer(from_fn_with_state(Arc::new(rate), rate_limit::enforce))
}

/// A route that takes bodies of so many bytes, of which those of all requests together are bounded.
fn within_budget(
    route: MethodRouter<AppState>,
    budget: &BodyBudget,
    max_bytes: usize,
) -> MethodRouter<AppState> {
    let budget = budget.clone();
    let bodies = FormBodies { budget, max_bytes };
    route.layer(from_fn_with_state(bodies, form_bodies::read_within_budget))
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
            challenge::SOLUTION,
            challenge::FILL_SECONDS,
        ])
        .expose_headers([header::RETRY_AFTER, HeaderName::from_static(request_id::HEADER)])
}

#[cfg(test)]
mod tests {
    use axum::body::Body;
    use futures_util::future::join_all;
    use tower::ServiceExt;

    use super::*;

    #[tokio::test]
    async fn a_handler_that_panics_is_an_answer_that_tells_nothing_of_it_and_the_next_is_served() {
        async fn panics() -> &'static str {
            panic!("a detail")
        }
        let router: Router = Router::new()
            .route("/", get(panics))
            .route("/fine", get(|| async { "fine" }))
            .layer(CatchPanicLayer::custom(panicked));
        let answer = async |path: &str| {
            let request = Request::get(path).body(Body::empty()).expect("a request");
            router.clone().oneshot(request).await.expect("an answer")
        };
        let failed = answer("/").await;
        assert_eq!(failed.status(), StatusCode::INTERNAL_SERVER_ERROR);
        let told = ApiError::in_answer(&failed);
        assert!(!told.sentence().contains("a detail"), "{}", told.sentence());
        assert_eq!(answer("/fine").await.status(), StatusCode::OK);
    }

    #[test]
    fn the_operators_page_says_how_long_a_form_may_take() {
        let page = include_str!("../../../docs/operations.md");
        let seconds = FORM_REQUEST_TIMEOUT.as_secs();
        let row = format!("| a form's body | {seconds} s with its answer; an upload `UPLOAD_SECONDS` |");
        assert!(page.contains(&row), "docs/operations.md lacks: {row}");
    }

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
