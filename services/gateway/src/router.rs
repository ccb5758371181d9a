//! All routes, their admission, and the headers of all answers.

use std::{net::SocketAddr, sync::Arc, time::Duration};

use axum::{
    Router,
    extract::{ConnectInfo, DefaultBodyLimit, Request, State},
    http::{HeaderName, HeaderValue, Method, StatusCode, header},
    middleware::{Next, from_fn, from_fn_with_state},
    response::{IntoResponse, Response},
    routing::{MethodRouter, any, get, post},
};
use site_service::site_files::security_headers;
use site_service::{
    http_middleware::{self, RequestObserver},
    idempotency, request_id,
};
use tokio::sync::Semaphore;
use tower_http::cors::CorsLayer;

use crate::{
    address::{AddressSource, VisitorAddress},
    admission::{Admission, FormAdmission, admit},
    api::{self, AppState},
    api_error::{self, ApiError},
    challenge::{self, Challenges},
    form_bodies::{FORM_BYTES, FormBodies},
    form_pages::{FormPages, PageSource},
    limits,
    rate_limit::RateLimit,
    settings::Settings,
    submissions::SubmissionMetrics,
    unread_body,
};

/// Larger than the résumé limit of the careers service, so that visitors get that service's error with the limit.
const MULTIPART_BYTES: usize = 64 * 1024 * 1024;
/// Memory budget for large forms without a file, shared by all requests. Requests wait up to 3 s if it is used up.
const FORM_BYTES_AT_ONCE: usize = 16 * 1024 * 1024;
/// Largest body of a report, or of a request with a mail link's token, which has a few hundred bytes.
const SMALL_BYTES: usize = 4 * 1024;
/// Time from the request's headers to the answer.
const FORM_REQUEST_TIMEOUT: Duration = Duration::from_secs(15);
const UPLOAD_TIMEOUT: Duration = Duration::from_secs(180);

/// Builds the gateway's router. `site` has no routes if another server serves the pages.
///
/// # Errors
///
/// If the operating system provides no random bytes.
pub fn router(
    app: AppState,
    settings: &Settings,
    site: Router,
    observer: Arc<RequestObserver>,
) -> anyhow::Result<Router> {
    let outermost = Outermost {
        observer,
        address_source: settings.visitor_address_from,
        pages: FormPages::new(page_source(settings, &site)),
    };
    let budget = Arc::new(Semaphore::new(FORM_BYTES_AT_ONCE));
    limits::count_none();
    let challenges = Arc::new(Challenges::new(&settings.challenge)?);
    let mut router = forms(settings, &budget, &challenges)
        .merge(reports_and_links(settings, &budget))
        .merge(other_routes())
        .with_state(app)
        .merge(site);
    if !settings.cors_origins.is_empty() {
        router = router.layer(cors(&settings.cors_origins));
    }
    Ok(router.layer(from_fn_with_state(Arc::new(outermost), answer)))
}

struct Outermost {
    observer: Arc<RequestObserver>,
    address_source: AddressSource,
    pages: FormPages,
}

/// Outermost middleware: determines the visitor's address and adds the headers of all answers.
async fn answer(
    State(outermost): State<Arc<Outermost>>,
    ConnectInfo(peer): ConnectInfo<SocketAddr>,
    request: Request,
    next: Next,
) -> Response {
    let answer = async |mut request: Request| {
        let visitor = outermost.address_source.visitor_address(request.headers(), peer);
        request.extensions_mut().insert(VisitorAddress(visitor));
        let sentence_field = api_error::sentence_field(request.uri().path());
        let answer = if http_middleware::names_one_host(&request) {
            outermost.pages.answer(request, next).await
        } else {
            StatusCode::BAD_REQUEST.into_response()
        };
        let mut answer = match sentence_field {
            Some(field) => api_error::as_json(answer, field),
            None => answer,
        };
        security_headers::add(answer.headers_mut());
        answer
    };
    outermost.observer.observe(request, answer).await
}

fn forms(settings: &Settings, budget: &Arc<Semaphore>, challenges: &Arc<Challenges>) -> Router<AppState> {
    let form = |name, timeout, bodies| Admission {
        form: Some(FormAdmission {
            name,
            metrics: SubmissionMetrics::new(name),
            allowed_origins: settings.cors_origins.clone(),
            challenges: Arc::clone(challenges),
        }),
        rate: RateLimit::of_forms(settings),
        timeout,
        bodies,
    };
    let without_file = |name, route| {
        let admission = form(name, FORM_REQUEST_TIMEOUT, Some(bodies(budget, FORM_BYTES)));
        admitted(route, admission)
    };
    let name = "career-application";
    let application = post(api::careers::apply).layer(DefaultBodyLimit::max(MULTIPART_BYTES));
    let application = admitted(application, form(name, UPLOAD_TIMEOUT, None));
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

/// Routes of reports and of mailed links. A report has the rate limit of a form.
fn reports_and_links(settings: &Settings, budget: &Arc<Semaphore>) -> Router<AppState> {
    let limited = |route, rate| {
        let admission = Admission {
            form: None,
            rate,
            timeout: FORM_REQUEST_TIMEOUT,
            bodies: Some(bodies(budget, SMALL_BYTES)),
        };
        admitted(route, admission)
    };
    let report = limited(post(api::remote_failure::report), RateLimit::of_forms(settings));
    let link = |route| limited(route, RateLimit::of_links(settings));
    let unsubscribe = post(api::newsletter::unsubscribe).get(api::newsletter::ask_to_unsubscribe);
    Router::new()
        .route("/api/remote-failure", report)
        .route("/api/newsletter/confirm", link(post(api::newsletter::confirm)))
        .route("/api/newsletter/unsubscribe", link(unsubscribe))
}

fn bodies(budget: &Arc<Semaphore>, max_bytes: usize) -> FormBodies {
    let budget = Arc::clone(budget);
    FormBodies { budget, max_bytes }
}

fn admitted(route: MethodRouter<AppState>, admission: Admission) -> MethodRouter<AppState> {
    route.layer(from_fn_with_state(Arc::new(admission), admit))
}

fn other_routes() -> Router<AppState> {
    Router::new()
        .route("/api/openapi.json", get(api::openapi::document))
        .route("/api", any(not_found))
        .route("/api/", any(not_found))
        .route("/api/{*path}", any(not_found))
}

fn page_source(settings: &Settings, site: &Router) -> Option<PageSource> {
    match (&settings.site_dir, &settings.pages_url) {
        (Some(_), _) => Some(PageSource::Local(site.clone())),
        (None, Some(address)) => Some(PageSource::remote(address.clone())),
        (None, None) => None,
    }
}

async fn not_found() -> ApiError {
    ApiError::of(StatusCode::NOT_FOUND)
}

fn cors(origins: &[HeaderValue]) -> CorsLayer {
    CorsLayer::new()
        .allow_origin(origins.to_vec())
        .allow_methods([Method::GET, Method::POST])
        .allow_headers([
            header::CONTENT_TYPE,
            HeaderName::from_static(idempotency::HEADER),
            request_id::HEADER,
            challenge::SOLUTION,
        ])
        .expose_headers([header::RETRY_AFTER, request_id::HEADER])
}
