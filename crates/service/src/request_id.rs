//! The id that one request keeps in every answer, log line, event and mail it causes.

use std::{fmt, sync::Arc};

use http::{HeaderMap, HeaderName};
use opentelemetry::Value;
use tonic::metadata::{MetadataMap, MetadataValue};
use uuid::Uuid;

/// The header that carries it.
pub const HEADER: HeaderName = HeaderName::from_static(NAME);
/// The same as gRPC metadata key.
const NAME: &str = "x-request-id";

/// 8–64 letters, digits, `-` or `_`: safe in a header, a log line and a file name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// A new id, sortable by time.
    pub fn fresh() -> Self {
        let mut buffer = Uuid::encode_buffer();
        let id: &str = Uuid::now_v7().hyphenated().encode_lower(&mut buffer);
        Self(id.into())
    }

    /// The id that came with a request, or a new one where none or no usable one did.
    pub fn of_headers(headers: &HeaderMap) -> Self {
        Self::accept(headers.get(HEADER).and_then(|value| value.to_str().ok()))
    }

    /// The same for gRPC metadata.
    pub fn of_metadata(metadata: &MetadataMap) -> Self {
        Self::accept(metadata.get(NAME).and_then(|value| value.to_str().ok()))
    }

    /// Takes an id that another party chose, or makes a new one.
    pub fn accept(raw: Option<&str>) -> Self {
        let usable = |id: &&str| {
            (8..=64).contains(&id.len())
                && id
                    .bytes()
                    .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
        };
        raw.filter(usable).map_or_else(Self::fresh, |id| Self(id.into()))
    }

    /// Sends the id along with a gRPC call.
    pub fn inject(&self, metadata: &mut MetadataMap) {
        if let Ok(value) = MetadataValue::try_from(self.as_str()) {
            metadata.insert(NAME, value);
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&RequestId> for Value {
    fn from(id: &RequestId) -> Self {
        Arc::clone(&id.0).into()
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_usable_id_is_kept_and_anything_else_replaced() {
        assert_eq!(RequestId::accept(Some("visit-0001")).as_str(), "visit-0001");
        for bad in ["short", "has space in it", "line\nbreak-in-it", &"x".repeat(65)] {
            assert_ne!(RequestId::accept(Some(bad)).as_str(), bad);
        }
    }
}
