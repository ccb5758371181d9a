//! Fuzz target: range requests. How to run it: docs/testing.md.

use std::fs;

use axum::{
    body::{Body, Bytes, to_bytes},
    extract::Request,
    http::{HeaderMap, HeaderName, HeaderValue, Method, StatusCode, header},
};
use bolero::check;
use tokio::runtime::{Builder, Runtime};
use tower_http::services::ServeDir;

use super::serve;

const ITERATIONS: usize = 300;
const FOLDER: &str = env!("CARGO_MANIFEST_DIR");
const FILE: &str = "/Cargo.toml";

struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: Bytes,
}

impl Answer {
    fn header(&self, name: HeaderName) -> &str {
        let value = self.headers.get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default()
    }
}

fn asked(runtime: &Runtime, method: &Method, headers: &[(HeaderName, HeaderValue)]) -> Answer {
    let mut request = Request::new(Body::empty());
    *request.method_mut() = method.clone();
    *request.uri_mut() = FILE.parse().expect("a path");
    for (name, value) in headers {
        request.headers_mut().append(name, value.clone());
    }
    runtime.block_on(async {
        let (parts, body) = serve(&ServeDir::new(FOLDER), request).await.into_parts();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: to_bytes(body, usize::MAX).await.expect("it can be read"),
        }
    })
}

/// A line is a `Range`, or after `?` an `If-Range`. `W` and `E` stand for the file's date and tag.
fn headers(input: &[u8], whole: &Answer) -> Vec<(HeaderName, HeaderValue)> {
    let lines = input.split(|byte| *byte == b'\n');
    let headers = lines.filter_map(|line| {
        let (name, value) = match line.strip_prefix(b"?") {
            Some(b"W") => (header::IF_RANGE, whole.header(header::LAST_MODIFIED).as_bytes()),
            Some(b"E") => (header::IF_RANGE, whole.header(header::ETAG).as_bytes()),
            Some(condition) => (header::IF_RANGE, condition),
            None => (header::RANGE, line),
        };
        Some((name, HeaderValue::from_bytes(value).ok()?))
    });
    headers.collect()
}

/// First and last position; `None` if the range selects nothing.
fn part(range: &str, bytes: usize) -> Option<(usize, usize)> {
    let (first, last) = range.strip_prefix("bytes=")?.split_once('-')?;
    let last_there_is = bytes.checked_sub(1)?;
    let (first, last) = match (first.parse::<usize>(), last.parse::<usize>()) {
        (Ok(first), Ok(last)) => (first, last.min(last_there_is)),
        (Ok(first), Err(_)) => (first, last_there_is),
        (Err(_), Ok(length)) if length > 0 => (bytes.saturating_sub(length), last_there_is),
        _ => return None,
    };
    (first <= last).then_some((first, last))
}

fn runtime() -> Runtime {
    Builder::new_current_thread().build().expect("a runtime")
}

#[test]
fn whatever_part_of_a_file_is_asked_for_it_is_sent_and_called_by_its_place_or_the_whole_is() {
    let runtime = runtime();
    let content = fs::read(format!("{FOLDER}{FILE}")).expect("the file is there");
    let whole = asked(&runtime, &Method::GET, &[]);
    assert_eq!(whole.body, content);
    check!(name = "ranges")
        .with_iterations(ITERATIONS)
        .for_each(|input: &[u8]| {
            let headers = headers(input, &whole);
            let ranges: Vec<&str> = headers
                .iter()
                .filter(|(name, _)| name == header::RANGE)
                .map(|(_, value)| value.to_str().unwrap_or_default())
                .collect();
            let one = match ranges[..] {
                [range] => part(range, content.len()),
                _ => None,
            };
            let answer = asked(&runtime, &Method::GET, &headers);
            match answer.status {
                StatusCode::OK => assert_eq!(answer.body, content),
                StatusCode::PARTIAL_CONTENT => {
                    let (first, last) = one.expect("one range that there is");
                    assert_eq!(answer.body, &content[first..=last]);
                    let place = format!("bytes {first}-{last}/{}", content.len());
                    assert_eq!(answer.header(header::CONTENT_RANGE), place);
                }
                StatusCode::RANGE_NOT_SATISFIABLE => assert!(one.is_none() && ranges.len() == 1),
                other => panic!("{other}"),
            }
            let head = asked(&runtime, &Method::HEAD, &headers);
            assert_eq!(head.status, StatusCode::OK);
            assert_eq!(
                head.header(header::CONTENT_LENGTH),
                whole.header(header::CONTENT_LENGTH)
            );
        });
}
