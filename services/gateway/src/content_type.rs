//! What a body says that it is.

use http::{HeaderMap, header};

/// Whether it is of this media type, whatever the parameters.
pub fn is(headers: &HeaderMap, media_type: &str) -> bool {
    media_type_of(headers) == Some(media_type)
}

/// Whether it is JSON, or something that is written in JSON (RFC 6839, 3.1).
pub fn is_json(headers: &HeaderMap) -> bool {
    let name = media_type_of(headers).and_then(|told| told.strip_prefix("application/"));
    name.is_some_and(|name| name == "json" || name.ends_with("+json"))
}

fn media_type_of(headers: &HeaderMap) -> Option<&str> {
    let told = headers.get(header::CONTENT_TYPE)?.as_bytes();
    let media_type = told.split(|byte| *byte == b';').next()?;
    str::from_utf8(media_type.trim_ascii()).ok()
}
