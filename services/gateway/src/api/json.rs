//! JSON of requests. What holds names is an object there: serde would read a struct from an array, too, value by value.

use std::{fmt, marker::PhantomData};

use http::StatusCode;
use serde::{
    Deserialize, Deserializer,
    de::{DeserializeOwned, MapAccess, Visitor, value::MapAccessDeserializer},
};

use crate::api_error::ApiError;

/// Reads an object.
///
/// # Errors
///
/// If it is none, or not of this kind: where a value has the wrong type, a request is as unreadable as with a wrong brace.
pub fn read<T: DeserializeOwned>(json: &[u8]) -> Result<T, ApiError> {
    let read = serde_json::from_slice(json);
    let Object(read) = read.map_err(|_| ApiError::of(StatusCode::BAD_REQUEST))?;
    Ok(read)
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
