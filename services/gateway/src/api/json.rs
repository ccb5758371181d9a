//! JSON of requests. What holds names is an object there: serde would read a struct from an array, too, value by value.

use std::{fmt, marker::PhantomData};

use http::StatusCode;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, MapAccess, Visitor, value::MapAccessDeserializer},
};

use crate::api_error::ApiError;

/// What many editors and tools begin a text with (RFC 8259, 8.1 lets its reader pass it over).
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Reads an object.
///
/// # Errors
///
/// If it is none, or not of this kind: where a value has the wrong type, a request is as unreadable as with a wrong brace.
pub fn read<T: DeserializeOwned>(json: &[u8]) -> Result<T, ApiError> {
    let json = json.strip_prefix(BYTE_ORDER_MARK).unwrap_or(json);
    let malformed = || ApiError::of(StatusCode::BAD_REQUEST);
    let json = str::from_utf8(json).map_err(|_| malformed())?;
    let read = serde_json::from_str(json).or_else(|_| serde_json::from_str(&with_whole_characters(json)));
    let Object(read) = read.map_err(|_| malformed())?;
    Ok(read)
}

/// The same with U+FFFD for each half of a character, which browsers send of a text that was cut within a picture sign
/// (ECMA-262, `QuoteJSONString`) and serde reads none of.
fn with_whole_characters(json: &str) -> String {
    let unit = |text: &str| u16::from_str_radix(text.strip_prefix("\\u")?.get(..4)?, 16).ok();
    let mut whole = String::with_capacity(json.len());
    let mut rest = json;
    while let Some(at) = rest.find('\\') {
        let (before, escape) = rest.split_at(at);
        let next = escape.get(6..).and_then(unit);
        let (written, taken) = match unit(escape) {
            Some(0xd800..=0xdbff) if matches!(next, Some(0xdc00..=0xdfff)) => (&escape[..12], 12),
            Some(0xd800..=0xdfff) => ("\\ufffd", 6),
            _ => {
                let end = escape.ceil_char_boundary(2);
                (&escape[..end], end)
            }
        };
        whole.push_str(before);
        whole.push_str(written);
        rest = &escape[taken..];
    }
    whole + rest
}

/// Reads an object within another one that may be left out, for `deserialize_with`.
///
/// # Errors
///
/// If there is something else, or not what it is to be.
pub fn object_or_none<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    json: D,
) -> Result<Option<T>, D::Error> {
    let object = Option::<Object<T>>::deserialize(json)?;
    Ok(object.map(|Object(read)| read))
}

/// What is read from an object and from nothing else.
struct Object<T>(T);

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Object<T> {
    fn deserialize<D: Deserializer<'de>>(json: D) -> Result<Self, D::Error> {
        json.deserialize_map(ObjectVisitor(PhantomData)).map(Self)
    }
}

struct ObjectVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for ObjectVisitor<T> {
    type Value = T;

    fn expecting(&self, words: &mut fmt::Formatter<'_>) -> fmt::Result {
        words.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, object: A) -> Result<T, A::Error> {
        T::deserialize(MapAccessDeserializer::new(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_character_costs_nobody_a_form() {
        for (sent, text) in [
            (r"one \ud83d", "one \u{fffd}"),
            (r"\uDC00\ud83dtwo", "\u{fffd}\u{fffd}two"),
            (r"\ud83d\ud83d\ude00", "\u{fffd}😀"),
            (r"\ud83d\n\\ud83d\u00e9", "\u{fffd}\n\\ud83dé"),
        ] {
            let json = format!(r#"{{"message":"{sent}"}}"#);
            let read: Result<serde_json::Map<String, serde_json::Value>, _> = read(json.as_bytes());
            let read = read.map_err(|error| error.status());
            assert_eq!(read.map(|form| form["message"] == text), Ok(true), "{sent}");
        }
        for broken in [
            r#"{"message":"\ud83d"#,
            r#"{"message":"\"#,
            r#"{"message":"\ud8"}"#,
            "{\"a\":\"\\é\"}",
        ] {
            let read: Result<serde_json::Map<String, serde_json::Value>, _> = read(broken.as_bytes());
            assert!(read.is_err(), "{broken}");
        }
    }
}
