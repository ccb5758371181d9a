//! Cache of answers to plain requests, for a tenth of a second.
//!
//! After that time one request reads the file again. Meanwhile other requests get the old answer, for at most
//! another tenth of a second.

use std::{
    collections::HashMap,
    sync::{
        PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use axum::{
    body::{Body, Bytes, to_bytes},
    http::{HeaderMap, HeaderName, Method, Request, StatusCode, header},
    response::{IntoResponse, Response},
};

use crate::site_files::security_headers;

const KEPT_FOR: Duration = Duration::from_millis(100);
/// Larger answers are not cached: sending them costs more than reading the file.
const MAX_ANSWER_BYTES: usize = 128 * 1024;
/// Limit of all bodies together, twice the size of our site's pages and scripts.
const MAX_BYTES: usize = 4 * 1024 * 1024;
/// Capacity for all headers: a smaller map would rehash on each copy.
const MAX_HEADERS: usize = 24;
/// Request headers that bypass the cache: the answer depends on them.
const CONDITIONS: [HeaderName; 6] = [
    header::RANGE,
    header::IF_RANGE,
    header::IF_NONE_MATCH,
    header::IF_MODIFIED_SINCE,
    header::IF_MATCH,
    header::IF_UNMODIFIED_SINCE,
];

/// Content coding of a stored file (RFC 9110, 8.4.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Coding {
    Brotli,
    Gzip,
    Identity,
}

impl Coding {
    /// Coding of the answer to a plain request. `None` if the request has conditions or weights (`;q=`), or
    /// accepts no coding of ours.
    pub fn of_plain<B>(request: &Request<B>) -> Option<Self> {
        let headers = request.headers();
        let is_plain = request.method() == Method::GET
            && request.uri().query().is_none()
            && !CONDITIONS.iter().any(|condition| headers.contains_key(condition));
        if !is_plain {
            return None;
        }
        let mut accepted = headers.get_all(header::ACCEPT_ENCODING).iter();
        let (accepted, None) = (accepted.next(), accepted.next()) else {
            return None;
        };
        let Some(accepted) = accepted else {
            return Some(Self::Identity);
        };
        let accepted = accepted.to_str().ok().filter(|list| !list.contains(';'))?;
        let names = |coding| accepted.split(',').any(|accepted| accepted.trim() == coding);
        if names("br") {
            Some(Self::Brotli)
        } else {
            names("gzip").then_some(Self::Gzip)
        }
    }
}

#[derive(Default)]
pub(crate) struct AnswerCache(RwLock<Kept>);

#[derive(Default)]
struct Kept {
    answers: HashMap<String, Codings>,
    bytes: usize,
}

type Codings = HashMap<Coding, Answer>;

struct Answer {
    headers: HeaderMap,
    body: Bytes,
    read: Instant,
    /// Whether another request is already reading the file again.
    is_read_again: AtomicBool,
}

impl AnswerCache {
    /// Cached answer, even an old one while another caller reads the file. On `None` the caller must read it.
    pub fn get(&self, path: &str, coding: Coding) -> Option<Response> {
        self.get_if(path, coding, |answer| answer.is_to_be_used(answer.read.elapsed()))
    }

    /// Cached answer, if fresh. Only [`Self::get`] makes the caller read a stale file again.
    pub fn get_fresh(&self, path: &str, coding: Coding) -> Option<Response> {
        self.get_if(path, coding, |answer| answer.read.elapsed() < KEPT_FOR)
    }

    fn get_if(&self, path: &str, coding: Coding, is_used: impl FnOnce(&Answer) -> bool) -> Option<Response> {
        let kept = self.0.read().unwrap_or_else(PoisonError::into_inner);
        let answer = kept.answers.get(path)?.get(&coding)?;
        is_used(answer).then(|| answer.to_response())
    }

    /// Caches and returns the answer. Only small, whole files are cached.
    pub async fn keep(&self, path: String, coding: Coding, answer: Response) -> Response {
        let length = answer.headers().get(header::CONTENT_LENGTH);
        let length = length.and_then(|length| length.to_str().ok()?.parse().ok());
        let is_small = length.is_some_and(|bytes: usize| bytes <= MAX_ANSWER_BYTES);
        if answer.status() != StatusCode::OK || !is_small {
            return answer;
        }
        let (parts, body) = answer.into_parts();
        let Ok(body) = to_bytes(body, MAX_ANSWER_BYTES).await else {
            return StatusCode::INTERNAL_SERVER_ERROR.into_response();
        };
        let mut headers = HeaderMap::with_capacity(MAX_HEADERS);
        headers.extend(parts.headers);
        security_headers::add(&mut headers);
        let answer = Answer::new(headers, body);
        let response = answer.to_response();
        self.0
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .insert(path, coding, answer);
        response
    }
}

impl Kept {
    fn insert(&mut self, path: String, coding: Coding, answer: Answer) {
        if self.bytes + answer.body.len() > MAX_BYTES {
            self.answers.clear();
            self.bytes = 0;
        }
        self.bytes += answer.body.len();
        let former = self.answers.entry(path).or_default().insert(coding, answer);
        self.bytes -= former.map_or(0, |former| former.body.len());
    }
}

impl Answer {
    fn new(headers: HeaderMap, body: Bytes) -> Self {
        Self {
            headers,
            body,
            read: Instant::now(),
            is_read_again: AtomicBool::new(false),
        }
    }

    /// After [`KEPT_FOR`] the first caller gets `false` and must read the file.
    fn is_to_be_used(&self, age: Duration) -> bool {
        age < KEPT_FOR || age < 2 * KEPT_FOR && self.is_read_again.swap(true, Ordering::Relaxed)
    }

    fn to_response(&self) -> Response {
        let mut response = Response::new(Body::from(self.body.clone()));
        *response.headers_mut() = self.headers.clone();
        response
    }
}

#[cfg(test)]
mod tests {
    use std::{fs, path::Path, sync::Arc};

    use axum::Router;
    use tower::ServiceExt;

    use super::*;
    use crate::site_files::Site;

    const ROUTES: &str = r#"{ "redirects": [], "notFound": [], "variants": [], "scriptHashes": [], "styleHashes": [],
        "trustedTypePolicies": [], "frameSources": [] }"#;

    fn site(folder: &Path) -> Router {
        for (name, content) in [
            ("_routes.json", ROUTES),
            ("about.html", "plain"),
            ("about.html.gz", "gzip"),
            ("about.html.br", "brotli"),
        ] {
            fs::write(folder.join(name), content).expect("a folder of ours");
        }
        Arc::new(Site::read(folder).expect("a site")).router()
    }

    fn asked(address: &str, headers: &[(HeaderName, &str)]) -> Request<Body> {
        let mut request = Request::get(address);
        for (name, value) in headers {
            request = request.header(name, *value);
        }
        request.body(Body::empty()).expect("a request")
    }

    async fn told(site: &Router, request: Request<Body>) -> (HeaderMap, String) {
        let answer = site.clone().oneshot(request).await.expect("an answer");
        let (mut parts, body) = answer.into_parts();
        security_headers::add(&mut parts.headers);
        let body = to_bytes(body, MAX_ANSWER_BYTES).await.expect("a body");
        (parts.headers, String::from_utf8(body.into()).expect("text"))
    }

    #[tokio::test]
    async fn a_cached_answer_equals_a_read_one_in_every_coding() {
        let folder = tempfile::tempdir().expect("a folder");
        let site = site(folder.path());
        for accepted in [
            None,
            Some("gzip, deflate, br, zstd"),
            Some("gzip"),
            Some("gzip;q=0.5, br;q=0.1"),
            Some("identity"),
            Some("BR"),
            Some("*"),
            Some(""),
        ] {
            let headers: Vec<_> = accepted
                .map(|list| (header::ACCEPT_ENCODING, list))
                .into_iter()
                .collect();
            let once = told(&site, asked("/about", &headers)).await;
            // The condition bypasses the cache.
            let condition = (header::IF_MODIFIED_SINCE, "Thu, 01 Jan 1970 00:00:00 GMT");
            let read = told(&site, asked("/about", &[&headers[..], &[condition]].concat())).await;
            let again = told(&site, asked("/about", &headers)).await;
            assert_eq!(once, read, "{accepted:?}");
            assert_eq!(again, read, "{accepted:?}");
        }
    }

    #[tokio::test]
    async fn a_new_release_is_served_after_a_moment() {
        let folder = tempfile::tempdir().expect("a folder");
        let site = site(folder.path());
        let page = || async { told(&site, asked("/about", &[])).await.1 };
        assert_eq!(page().await, "plain");
        fs::write(folder.path().join("about.html"), "new").expect("a folder of ours");
        tokio::time::sleep(KEPT_FOR).await;
        assert_eq!(page().await, "new");
    }

    #[test]
    fn the_cache_stays_within_its_limit() {
        let mut kept = Kept::default();
        let answer = |bytes| Answer::new(HeaderMap::new(), vec![0; bytes].into());
        for number in 0..3 * MAX_BYTES / MAX_ANSWER_BYTES {
            kept.insert(format!("/{}", number / 2), Coding::Gzip, answer(MAX_ANSWER_BYTES));
            let held = kept.answers.values().flat_map(HashMap::values);
            let held: usize = held.map(|answer| answer.body.len()).sum();
            assert_eq!(held, kept.bytes);
            assert!(held <= MAX_BYTES, "{held}");
        }
    }
}
