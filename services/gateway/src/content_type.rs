//! Content type of a request body.

use http::{HeaderMap, header};

/// Whether the media type, without parameters, is `media_type`.
pub fn is(headers: &HeaderMap, media_type: &str) -> bool {
    media_type_of(headers).is_some_and(|sent| sent.eq_ignore_ascii_case(media_type))
}

/// Whether the media type is JSON or based on JSON (RFC 6839, 3.1).
pub fn is_json(headers: &HeaderMap) -> bool {
    let sent = media_type_of(headers).map(str::to_ascii_lowercase);
    let name = sent.as_deref().and_then(|sent| sent.strip_prefix("application/"));
    name.is_some_and(|name| name == "json" || name.ends_with("+json"))
}

/// Whether the body is compressed or otherwise encoded (RFC 9110, 8.4). The gateway decodes none.
pub fn is_encoded(headers: &HeaderMap) -> bool {
    let encoding = headers.get(header::CONTENT_ENCODING);
    encoding.is_some_and(|encoding| !encoding.as_bytes().eq_ignore_ascii_case(b"identity"))
}

fn media_type_of(headers: &HeaderMap) -> Option<&str> {
    let content_type = headers.get(header::CONTENT_TYPE)?.to_str().ok()?;
    content_type.split(';').next().map(str::trim)
}
