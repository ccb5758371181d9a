//! What a body says that it is.

use http::{HeaderMap, header};

/// Whether it is of this media type, whatever the parameters.
pub fn is(headers: &HeaderMap, media_type: &str) -> bool {
    media_type_of(headers).is_some_and(|told| told.eq_ignore_ascii_case(media_type))
}

/// Whether it is JSON, or something that is written in JSON (RFC 6839, 3.1).
pub fn is_json(headers: &HeaderMap) -> bool {
    let name = media_type_of(headers).and_then(|told| told.strip_prefix("application/"));
    name.is_some_and(|name| name == "json" || name.ends_with("+json"))
}

fn media_type_of(headers: &HeaderMap) -> Option<&str> {
    let told = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    told.split(';').next().map(str::trim)
}
