//! What a body says that it is, and how it is coded.

use http::{HeaderMap, HeaderValue, header};

/// Whether it is of this media type, whatever the parameters.
pub fn is(headers: &HeaderMap, media_type: &str) -> bool {
    media_type_of(headers) == Some(media_type)
}

/// Whether it is JSON, or something that is written in JSON (RFC 6839, 3.1).
pub fn is_json(headers: &HeaderMap) -> bool {
    let name = media_type_of(headers).and_then(|told| told.strip_prefix("application/"));
    name.is_some_and(|name| name == "json" || name.ends_with("+json"))
}

/// Writes the media type in lower case, so that whatever reads the body may compare it: case means nothing in it (RFC 9110, 8.3.1).
pub fn write_in_lower_case(headers: &mut HeaderMap) {
    let Some(told) = headers.get_mut(header::CONTENT_TYPE) else {
        return;
    };
    let told_bytes = told.as_bytes();
    let end = told_bytes.iter().position(|byte| *byte == b';');
    let (media_type, parameters) = told_bytes.split_at(end.unwrap_or(told_bytes.len()));
    // Some write a space before the parameters, too (RFC 9110, 5.6.6).
    let lower = [&media_type.trim_ascii().to_ascii_lowercase(), parameters].concat();
    if let Ok(lower) = HeaderValue::from_bytes(&lower) {
        *told = lower;
    }
}

/// Whether the body is coded, such as by gzip (RFC 9110, 8.4): none of our readers decodes it.
pub fn is_coded(headers: &HeaderMap) -> bool {
    let values = headers.get_all(header::CONTENT_ENCODING).iter();
    let mut codings = values.flat_map(|value| value.as_bytes().split(|byte| *byte == b','));
    codings.any(|coding| {
        let coding = coding.trim_ascii();
        !coding.is_empty() && !coding.eq_ignore_ascii_case(b"identity")
    })
}

fn media_type_of(headers: &HeaderMap) -> Option<&str> {
    let told = headers.get(header::CONTENT_TYPE)?.as_bytes();
    let media_type = told.split(|byte| *byte == b';').next()?;
    str::from_utf8(media_type.trim_ascii()).ok()
}
