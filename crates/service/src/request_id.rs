//! Id of a request, in every answer, log line, event and mail that the request causes.

use std::{fmt, sync::Arc};

use http::{HeaderMap, HeaderName};
use tonic::metadata::{MetadataMap, MetadataValue};
use uuid::Uuid;

/// HTTP header of the id.
pub const HEADER: HeaderName = HeaderName::from_static(NAME);
const NAME: &str = "x-request-id";

/// Request id: a UUID, so that clients cannot write text into our logs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RequestId(Arc<str>);

impl RequestId {
    /// A new id, sortable by time.
    pub fn fresh() -> Self {
        let mut buffer = Uuid::encode_buffer();
        let id: &str = Uuid::now_v7().hyphenated().encode_lower(&mut buffer);
        Self(id.into())
    }

    /// Id from HTTP headers, or a new one.
    pub fn of_headers(headers: &HeaderMap) -> Self {
        Self::accept(headers.get(HEADER).and_then(|value| value.to_str().ok()))
    }

    /// Id from gRPC metadata, or a new one.
    pub fn of_metadata(metadata: &MetadataMap) -> Self {
        Self::accept(metadata.get(NAME).and_then(|value| value.to_str().ok()))
    }

    /// Accepts a UUID, perhaps without hyphens (as from nginx), or makes a new id.
    pub fn accept(raw: Option<&str>) -> Self {
        let is_uuid = |id: &&str| matches!(id.len(), 32 | 36) && Uuid::try_parse(id).is_ok();
        raw.filter(is_uuid).map_or_else(Self::fresh, |id| Self(id.into()))
    }

    /// Adds the id to a gRPC call.
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
        for id in [
            "01a20025-9c5f-742b-90b1-ce5b530933f2",
            "01A20025-9C5F-742B-90B1-CE5B530933F2",
            "01a200259c5f742b90b1ce5b530933f2",
        ] {
            assert_eq!(RequestId::accept(Some(id)).as_str(), id);
        }
        for bad in [
            "",
            "visit-0001",
            "zoe-at-example-org",
            "has space in it",
            "line\nbreak-in-it",
            "{01a20025-9c5f-742b-90b1-ce5b530933f2}",
            "urn:uuid:01a20025-9c5f-742b-90b1-ce5b530933f2",
            "01a20025-9c5f-742b-90b1-zoe530933f22",
            &"x".repeat(36),
        ] {
            assert_ne!(RequestId::accept(Some(bad)).as_str(), bad);
        }
    }
}
