//! What a body says that it is.

use http::{HeaderMap, header};

/// Whether `Content-Type` begins with this media type.
pub fn is(headers: &HeaderMap, media_type: &str) -> bool {
    let told = headers.get(header::CONTENT_TYPE);
    told.is_some_and(|told| told.as_bytes().starts_with(media_type.as_bytes()))
}
