//! Static site: routing, redirects, not-found pages, Cache-Control and CSP. Page addresses have no `.html`.

use std::{
    collections::HashMap,
    path::{Path, PathBuf},
    sync::Arc,
    time::SystemTime,
};

use anyhow::Context;
use axum::{
    Router,
    body::Body,
    extract::{Request, State},
    http::{HeaderMap, HeaderValue, Method, StatusCode, Uri, header},
    response::{IntoResponse, Redirect, Response},
    routing::get,
};
use serde::Deserialize;
use tower::ServiceExt;
use tower_http::services::{ServeDir, ServeFile};

use crate::site_files::{
    answer_cache::{AnswerCache, Coding},
    canonical_path, content_security_policy, drawings, folder,
    page_loads::PageLoads,
    ranges,
};

/// Routing table, written by the front ends' build.
const ROUTES: &str = "_routes.json";
const HOME: &str = "/";
const FILES: &str = "/{*path}";
/// Folder of the remotes, which do not depend on the shell's pages.
pub(crate) const REMOTES: &str = "/remotes/";
/// Cache-Control of files with a hash in their name.
const CACHE_IMMUTABLE: HeaderValue = HeaderValue::from_static("public, max-age=31536000, immutable");
const REVALIDATE: HeaderValue = HeaderValue::from_static("no-cache");

/// Any file may have compressed variants.
const VARY_BY_ENCODING: HeaderValue = HeaderValue::from_static("accept-encoding");
/// All texts of the site are UTF-8 (RFC 6838, section 4.2.1).
const ENCODING: &str = "; charset=utf-8";

/// File systems allow 255 bytes, and we append `.html` and `.br`.
const MAX_NAME_BYTES: usize = 240;
/// Linux allows paths of 4,096 bytes.
const MAX_PATH_BYTES: usize = 2_000;
/// Not-found answer below [`REMOTES`], where requests come from scripts, not from people.
const NO_SUCH_FILE: &str = "There is nothing at this address.\n";

/// The site's folder with its routing table.
pub struct Site {
    folder: PathBuf,
    files: ServeDir,
    routes: RoutesFile,
    policy_of_pages: HeaderValue,
    policies_of_drawings: HashMap<String, HeaderValue>,
    cache: AnswerCache,
    loads: PageLoads,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct RoutesFile {
    redirects: Vec<RedirectEntry>,
    not_found: Vec<NotFoundEntry>,
    #[serde(default)]
    gone: Vec<GoneEntry>,
    variants: Vec<Variant>,
    pub script_hashes: Vec<String>,
    pub style_hashes: Vec<String>,
    /// Names of Trusted Types policies.
    pub trusted_type_policies: Vec<String>,
    pub frame_sources: Vec<String>,
}

/// Redirect, if the query has all these parameters (such as `page=2`).
#[derive(Deserialize)]
struct RedirectEntry {
    from: String,
    #[serde(default)]
    parameters: Vec<String>,
    to: String,
}

#[derive(Deserialize)]
struct NotFoundEntry {
    prefix: String,
    page: String,
}

#[derive(Deserialize)]
struct GoneEntry {
    path: String,
    /// Seconds since 1970.
    since: u64,
    page: String,
}

/// Page that a query parameter selects instead of the path's usual page.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Variant {
    path: String,
    /// Name and value, as in `variant=impact`.
    parameter: String,
    page: String,
    /// Redirect target of form posts to the page. The form posts to its own page, to keep the query.
    posts_to: Option<String>,
}

impl Site {
    /// Reads the site that the build wrote to the folder of the setting `SITE_DIR`.
    ///
    /// # Errors
    ///
    /// If the folder holds no valid site.
    pub fn read(folder: &Path) -> anyhow::Result<Self> {
        Self::checked(folder).with_context(|| {
            format!(
                "The setting SITE_DIR is wrong: {} holds no site",
                folder.display()
            )
        })
    }

    fn checked(folder: &Path) -> anyhow::Result<Self> {
        let table = folder.join(ROUTES);
        let wrong = || format!("{} cannot be read", table.display());
        let routes = std::fs::read(&table).with_context(wrong)?;
        let routes: RoutesFile = serde_json::from_slice(&routes).with_context(wrong)?;
        let files = folder::files(folder)?;
        Ok(Self {
            folder: folder.to_owned(),
            files: ServeDir::new(folder)
                .append_index_html_on_directories(false)
                .precompressed_br()
                .precompressed_gzip(),
            policy_of_pages: content_security_policy::of_pages(&routes).with_context(wrong)?,
            policies_of_drawings: drawings::policies(folder, &files)?,
            cache: AnswerCache::default(),
            loads: PageLoads::new(&files),
            routes,
        })
    }

    /// Serves every address that no other route matches.
    pub fn router(self: Arc<Self>) -> Router {
        Router::new()
            .route(HOME, get(serve).post(redirect_post))
            .route(FILES, get(serve))
            .with_state(self)
    }

    /// Fresh cached answer of [`Self::router`], with its route and all headers.
    pub fn cached<B>(&self, request: &axum::http::Request<B>) -> Option<(&'static str, Response)> {
        let coding = Coding::of_plain(request)?;
        let path = request.uri().path();
        let answer = self.cache.get_fresh(path, coding)?;
        if let Some(route) = self.loads.route_of(request) {
            self.loads.count(route, answer.status());
        }
        Some((if path == HOME { HOME } else { FILES }, answer))
    }

    async fn answer(&self, request: Request) -> Response {
        if let Some(redirect_target) = self.redirect_target(request.uri()) {
            return Redirect::permanent(&redirect_target).into_response();
        }
        let path = request.uri().path().to_owned();
        let (mut parts, body) = request.into_parts();
        let variant = self.variant_of(&parts.uri);
        let file = variant.map_or_else(|| file_of(&path), |variant| format!("/{}", variant.page));
        parts.uri = file.parse().unwrap_or(parts.uri);
        let (method, headers) = (parts.method.clone(), parts.headers.clone());
        let is_gone = |gone: &&GoneEntry| gone.path == path && gone.since <= seconds_since_1970();
        if let Some(gone) = self.routes.gone.iter().find(is_gone) {
            return self.page(&gone.page, StatusCode::GONE, method, &headers).await;
        }
        let found = match path.strip_prefix('/') {
            Some(ROUTES) => None,
            _ if !may_be_a_file(&path) => None,
            _ => Some(ranges::serve(&self.files, Request::from_parts(parts, body)).await),
        };
        match found {
            Some(found) if found.status() != StatusCode::NOT_FOUND => found,
            _ => self.not_found(&path, method, &headers).await,
        }
    }

    fn variant_of(&self, uri: &Uri) -> Option<&Variant> {
        let parameters = uri.query()?;
        let chosen = |variant: &&Variant| {
            variant.path == uri.path() && parameters.split('&').any(|given| given == variant.parameter)
        };
        self.routes.variants.iter().find(chosen)
    }

    /// Redirects a page's other addresses to its canonical path without `.html`.
    fn redirect_target(&self, uri: &Uri) -> Option<String> {
        let path = uri.path();
        let canonical = canonical_path::of(path)?;
        let page = canonical.strip_suffix(".html").unwrap_or(&canonical);
        let page = page.trim_end_matches('/');
        let page = page.strip_suffix("/index").unwrap_or(page);
        let mut parameters: Vec<&str> = uri
            .query()
            .map_or_else(Vec::new, |query| query.split('&').collect());
        let redirect = self
            .routes
            .redirects
            .iter()
            .find(|redirect| redirect.fits(page, &parameters));
        if let Some(redirect) = redirect {
            parameters.retain(|given| !redirect.parameters.iter().any(|named| named == given));
        }
        let target = redirect.map_or(page, |redirect| redirect.to.as_str());
        let target = if target.is_empty() { "/" } else { target };
        (target != path && is_path_of_this_host(target)).then(|| match parameters.join("&") {
            query if query.is_empty() => target.to_owned(),
            query => format!("{target}?{query}"),
        })
    }

    /// A 304 has no content type, but needs the page's policy: browsers update cached headers from it.
    fn policy_of(&self, path: &str, content_type: Option<&HeaderValue>) -> HeaderValue {
        let is_page = match content_type {
            Some(kind) => kind.as_bytes().starts_with(b"text/html"),
            None => !path.starts_with(REMOTES) && file_of(path).ends_with(".html"),
        };
        if is_page {
            return self.policy_of_pages.clone();
        }
        let of_drawing = self.policies_of_drawings.get(path).cloned();
        of_drawing.unwrap_or_else(|| content_security_policy::of_file(path))
    }

    async fn not_found(&self, path: &str, method: Method, headers: &HeaderMap) -> Response {
        if path.starts_with(REMOTES) {
            return (StatusCode::NOT_FOUND, NO_SUCH_FILE).into_response();
        }
        let entries = self.routes.not_found.iter();
        let fitting = entries.filter(|entry| path.starts_with(&entry.prefix));
        match fitting.max_by_key(|entry| entry.prefix.len()) {
            Some(entry) => {
                self.page(&entry.page, StatusCode::NOT_FOUND, method, headers)
                    .await
            }
            None => StatusCode::NOT_FOUND.into_response(),
        }
    }

    /// Serves a page at an address other than its own, so the request's conditions are ignored.
    async fn page(&self, page: &str, status: StatusCode, method: Method, headers: &HeaderMap) -> Response {
        let mut request = Request::new(Body::empty());
        *request.method_mut() = method;
        if let Some(encodings) = headers.get(header::ACCEPT_ENCODING) {
            let headers = request.headers_mut();
            headers.insert(header::ACCEPT_ENCODING, encodings.clone());
        }
        let page = ServeFile::new(self.folder.join(page.trim_start_matches('/')))
            .precompressed_br()
            .precompressed_gzip();
        let mut page = page.oneshot(request).await.into_response();
        *page.status_mut() = status;
        page
    }
}

fn seconds_since_1970() -> u64 {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}

impl RedirectEntry {
    fn fits(&self, path: &str, parameters: &[&str]) -> bool {
        self.from == path
            && self
                .parameters
                .iter()
                .all(|named| parameters.contains(&named.as_str()))
    }
}

async fn serve(State(site): State<Arc<Site>>, request: Request) -> Response {
    let route = site.loads.route_of(&request);
    let answer = from_cache_or_disk(&site, request).await;
    if let Some(route) = route {
        site.loads.count(route, answer.status());
    }
    answer
}

async fn from_cache_or_disk(site: &Site, request: Request) -> Response {
    let Some(coding) = Coding::of_plain(&request) else {
        return read(site, request).await;
    };
    let path = request.uri().path();
    if let Some(answer) = site.cache.get(path, coding) {
        return answer;
    }
    let path = path.to_owned();
    let answer = read(site, request).await;
    site.cache.keep(path, coding, answer).await
}

async fn read(site: &Site, request: Request) -> Response {
    let path = request.uri().path().to_owned();
    let mut response = site.answer(request).await;
    let is_there = response.status().is_success() || response.status() == StatusCode::NOT_MODIFIED;
    let keep = if is_immutable(&path) && is_there {
        CACHE_IMMUTABLE
    } else {
        REVALIDATE
    };
    let is_not_modified = response.status() == StatusCode::NOT_MODIFIED;
    let headers = response.headers_mut();
    if is_not_modified {
        // A 304 repeats the `Vary` of the full answer (RFC 9110, 15.4.5).
        headers.insert(header::VARY, VARY_BY_ENCODING);
    }
    headers.insert(header::CACHE_CONTROL, keep);
    let content_type = headers.get(header::CONTENT_TYPE);
    let policy = site.policy_of(&path, content_type);
    if let Some(text) = content_type.and_then(with_encoding) {
        headers.insert(header::CONTENT_TYPE, text);
    }
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

/// Adds the charset. `None` if the type has one or is no text.
fn with_encoding(content_type: &HeaderValue) -> Option<HeaderValue> {
    let content_type = content_type.to_str().ok()?;
    let is_bare_text = content_type.starts_with("text/") && !content_type.contains(';');
    is_bare_text.then(|| HeaderValue::try_from(format!("{content_type}{ENCODING}")).ok())?
}

/// Redirects a form post with its query and body (307, RFC 9110, 15.4.8).
async fn redirect_post(State(site): State<Arc<Site>>, uri: Uri) -> Response {
    let target = site
        .variant_of(&uri)
        .and_then(|variant| variant.posts_to.as_deref());
    match (target, uri.query()) {
        (Some(target), Some(query)) => Redirect::temporary(&format!("{target}?{query}")).into_response(),
        _ => (StatusCode::METHOD_NOT_ALLOWED, [(header::ALLOW, "GET,HEAD")]).into_response(),
    }
}

/// Browsers read a host after `/\` (WHATWG URL, 4.4, relative slash state).
fn is_path_of_this_host(canonical: &str) -> bool {
    !canonical.starts_with("/\\")
}

/// File of a path, with the `.html` that page addresses omit.
fn file_of(path: &str) -> String {
    match path.rsplit_once('/') {
        Some(("", "")) => "/index.html".to_owned(),
        Some((_, name)) if !name.contains('.') => format!("{path}.html"),
        _ => path.to_owned(),
    }
}

/// Longer names would fail in the file system and look like a server error.
fn may_be_a_file(path: &str) -> bool {
    path.len() <= MAX_PATH_BYTES && path.split('/').all(|name| name.len() <= MAX_NAME_BYTES)
}

fn is_immutable(path: &str) -> bool {
    let of_a_remote = || {
        let (_, file) = path.strip_prefix(REMOTES)?.split_once('/')?;
        Some(file.starts_with("assets/"))
    };
    path.starts_with("/assets/") || of_a_remote().unwrap_or(false)
}
