//! Range requests (RFC 9110, 13.1.5 and 14.2). An invalid `Range` gets the whole file.

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use tower::ServiceExt;
use tower_http::services::ServeDir;

/// Fits every position in a file, and 64 bits.
const MAX_DIGITS: usize = 18;

pub(crate) async fn serve(files: &ServeDir, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    ignore_all_but_one_range(&parts.method, &mut parts.headers);
    let condition = parts.headers.remove(header::IF_RANGE);
    let Some(range) = parts.headers.remove(header::RANGE) else {
        return send(files, Request::from_parts(parts, Body::empty())).await;
    };
    let mut found = read(files, &parts, Some(&range)).await;
    if found.status() == StatusCode::RANGE_NOT_SATISFIABLE && is_end(&range) {
        found = read(files, &parts, Some(&HeaderValue::from_static("bytes=0-"))).await;
    }
    match condition {
        Some(condition) if !if_range_holds(&condition, found.headers()) => read(files, &parts, None).await,
        _ => found,
    }
}

async fn read(files: &ServeDir, parts: &Parts, range: Option<&HeaderValue>) -> Response {
    let mut request = Request::from_parts(parts.clone(), Body::empty());
    if let Some(range) = range {
        request.headers_mut().insert(header::RANGE, range.clone());
    }
    send(files, request).await
}

async fn send(files: &ServeDir, request: Request) -> Response {
    files.clone().oneshot(request).await.into_response()
}

/// A suffix longer than the file means the whole file (RFC 9110, 14.1.2), but `ServeDir` answers 416.
fn is_end(range: &HeaderValue) -> bool {
    let length = range.as_bytes().strip_prefix(b"bytes=-");
    length.is_some_and(|length| length != b"0")
}

fn ignore_all_but_one_range(method: &Method, headers: &mut HeaderMap) {
    let mut asked = headers.get_all(header::RANGE).iter();
    let counts = match (asked.next(), asked.next()) {
        (Some(range), None) => method == Method::GET && is_one_range(range.as_bytes()),
        _ => false,
    };
    if !counts {
        headers.remove(header::RANGE);
    }
}

/// `bytes=first-last`, `bytes=first-` or `bytes=-length`.
fn is_one_range(value: &[u8]) -> bool {
    let mut positions = value
        .strip_prefix(b"bytes=")
        .unwrap_or_default()
        .split(|byte| *byte == b'-');
    match (positions.next(), positions.next(), positions.next()) {
        (Some(b""), Some(length), None) => is_number(length),
        (Some(first), Some(b""), None) => is_number(first),
        (Some(first), Some(last), None) => is_number(first) && is_number(last),
        _ => false,
    }
}

/// `ServeDir` answers 416 to numbers that it cannot parse.
fn is_number(digits: &[u8]) -> bool {
    let leads_with_zero = digits.len() > 1 && digits.starts_with(b"0");
    (1..=MAX_DIGITS).contains(&digits.len()) && !leads_with_zero && digits.iter().all(u8::is_ascii_digit)
}

/// `If-Range` matches the same strong entity tag or exactly the same date.
fn if_range_holds(condition: &HeaderValue, headers: &HeaderMap) -> bool {
    let names = |validator| headers.get(validator) == Some(condition);
    let is_weak = condition.as_bytes().starts_with(b"W/");
    !is_weak && (names(header::ETAG) || names(header::LAST_MODIFIED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_range_of_bytes_counts_and_nothing_else() {
        for one in ["bytes=0-9", "bytes=5-", "bytes=-5"] {
            assert!(is_one_range(one.as_bytes()), "{one}");
        }
        let others = "|bytes|bytes=|bytes=-|bytes=0-1,4-5|bytes=0-1-2|bytes=007-9|\
            bytes=0-99999999999999999999|bytes=a-b|lines=0-9|bytes 0-9";
        for other in others.split('|') {
            assert!(!is_one_range(other.as_bytes()), "{other}");
        }
    }
}
