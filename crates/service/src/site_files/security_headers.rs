//! Security headers of every response.

use axum::http::{HeaderMap, HeaderName, HeaderValue, header};

use crate::site_files::content_security_policy;

const HEADERS: [(HeaderName, HeaderValue); 6] = [
    (
        header::X_CONTENT_TYPE_OPTIONS,
        HeaderValue::from_static("nosniff"),
    ),
    (
        header::REFERRER_POLICY,
        HeaderValue::from_static("strict-origin-when-cross-origin"),
    ),
    (
        header::STRICT_TRANSPORT_SECURITY,
        HeaderValue::from_static("max-age=63072000; includeSubDomains"),
    ),
    (
        HeaderName::from_static("permissions-policy"),
        HeaderValue::from_static("camera=(), geolocation=(), microphone=(), payment=(), usb=()"),
    ),
    (
        HeaderName::from_static("cross-origin-opener-policy"),
        HeaderValue::from_static("same-origin"),
    ),
    (
        HeaderName::from_static("cross-origin-resource-policy"),
        HeaderValue::from_static("same-origin"),
    ),
];

/// Adds the headers. A page's own Content-Security-Policy stays.
pub fn add(headers: &mut HeaderMap) {
    for (name, value) in HEADERS {
        headers.insert(name, value);
    }
    headers
        .entry(header::CONTENT_SECURITY_POLICY)
        .or_insert(content_security_policy::DENY_ALL);
}
