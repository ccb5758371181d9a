//! Range requests (RFC 9110, 13.1.5 and 14.2). A `Range` that cannot be satisfied gets the whole file.

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, HeaderValue, Method, StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use tower::ServiceExt;
use tower_http::services::ServeDir;

pub(crate) async fn serve(files: &ServeDir, request: Request) -> Response {
    let (mut parts, _) = request.into_parts();
    if parts.method != Method::GET {
        parts.headers.remove(header::RANGE);
    }
    let found = read(files, &parts).await;
    let condition = parts.headers.get(header::IF_RANGE);
    let is_wanted = match found.status() {
        // `ServeDir` ignores `If-Range`.
        StatusCode::PARTIAL_CONTENT => condition.is_none_or(|one| if_range_holds(one, found.headers())),
        // `ServeDir` answers 416 even to several ranges, or to units other than bytes.
        StatusCode::RANGE_NOT_SATISFIABLE => false,
        _ => true,
    };
    if is_wanted {
        return found;
    }
    parts.headers.remove(header::RANGE);
    read(files, &parts).await
}

async fn read(files: &ServeDir, parts: &Parts) -> Response {
    let request = Request::from_parts(parts.clone(), Body::empty());
    files.clone().oneshot(request).await.into_response()
}

/// `If-Range` matches the same strong entity tag or exactly the same date.
fn if_range_holds(condition: &HeaderValue, headers: &HeaderMap) -> bool {
    let names = |validator| headers.get(validator) == Some(condition);
    let is_weak = condition.as_bytes().starts_with(b"W/");
    !is_weak && (names(header::ETAG) || names(header::LAST_MODIFIED))
}
