//! A subscriber's record as it lies in the bucket.
//!
//! Releases run beside each other while one replaces the other, and one may be rolled back: what a later one wrote,
//! fields or a whole state, is kept here as it is and written back with every change.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};
use time::OffsetDateTime;
use uuid::Uuid;
use visitor::EmailAddress;

use crate::proofs::{CameBack, Consent};

/// What stands in the place of an address that is not kept. The release before this one wants an address in every record,
/// and reads it as one; no mail can go there (RFC 2606, 2).
pub(crate) const NO_ADDRESS: &str = "address-deleted@invalid";

/// The record: what every subscriber has, beside it the state's fields and whatever else stands there.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Record {
    #[serde(default, serialize_with = "write_address", deserialize_with = "read_address")]
    pub email: Option<EmailAddress>,
    pub subscription: Uuid,
    #[serde(with = "time::serde::rfc3339")]
    pub requested: OffsetDateTime,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "time::serde::rfc3339::option"
    )]
    pub confirmed: Option<OffsetDateTime>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "time::serde::rfc3339::option"
    )]
    pub ended: Option<OffsetDateTime>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consent: Option<Consent>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub came_back: Option<CameBack>,
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}

fn write_address<S: Serializer>(email: &Option<EmailAddress>, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(email.as_ref().map_or(NO_ADDRESS, EmailAddress::as_str))
}

fn read_address<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<EmailAddress>, D::Error> {
    let email = Option::<EmailAddress>::deserialize(deserializer)?;
    Ok(email.filter(|email| email.as_str() != NO_ADDRESS))
}
