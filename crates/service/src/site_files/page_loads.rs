//! Counter of page loads by route, without visitor data. A route is a page's path or [`NOT_FOUND`].

use std::collections::HashMap;

use crate::metrics;
use axum::http::{HeaderMap, Method, Request, StatusCode};
use opentelemetry::{KeyValue, metrics::Counter};

/// Route of all unknown addresses: one label, to bound the number of series.
const NOT_FOUND: &str = "not-found";
const PURPOSES: [&str; 2] = ["sec-purpose", "purpose"];

pub struct PageLoads {
    counter: Counter<u64>,
    routes: HashMap<String, Route>,
    not_found: Route,
}

pub type Route = [KeyValue; 1];

impl PageLoads {
    /// Starts counters at zero: monitoring sees an increase only after a first value.
    pub fn new<'a>(files: impl IntoIterator<Item = &'a String>) -> Self {
        let description = "Pages that were loaded, without prefetches";
        let counter = metrics::counter("site.page.loads", "{page}", description);
        let pages = files.into_iter().filter_map(|file| path_of_page(file));
        let loads = Self {
            counter,
            routes: pages.map(|path| (path.to_owned(), route(path))).collect(),
            not_found: route(NOT_FOUND),
        };
        for route in loads.routes.values().chain([&loads.not_found]) {
            loads.counter.add(0, route);
        }
        loads
    }

    /// Route of a page load; `None` for prefetches and for files that are not pages.
    pub fn route_of<B>(&self, request: &Request<B>) -> Option<&Route> {
        let path = request.uri().path();
        let is_load =
            request.method() == Method::GET && may_be_a_page(path) && !is_prefetch(request.headers());
        is_load.then(|| self.routes.get(path).unwrap_or(&self.not_found))
    }

    /// Counts a page load, unless the answer is a redirect or failure.
    pub fn count(&self, route: &Route, answer: StatusCode) {
        if matches!(
            answer,
            StatusCode::OK | StatusCode::NOT_MODIFIED | StatusCode::NOT_FOUND | StatusCode::GONE
        ) {
            self.counter.add(1, route);
        }
    }
}

fn route(name: &str) -> Route {
    [KeyValue::new("route", name.to_owned())]
}

fn path_of_page(file: &str) -> Option<&str> {
    if file == "/index.html" {
        return Some("/");
    }
    file.strip_suffix(".html").filter(|path| may_be_a_page(path))
}

fn may_be_a_page(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    !path.starts_with(crate::site_files::site::REMOTES) && !name.contains('.')
}

/// <https://wicg.github.io/nav-speculation/prefetch.html#sec-purpose-header>
fn is_prefetch(headers: &HeaderMap) -> bool {
    let values = PURPOSES.iter().filter_map(|name| headers.get(*name));
    values
        .map(|value| value.as_bytes())
        .any(|value| value.starts_with(b"prefetch"))
}
