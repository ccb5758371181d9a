//! A subscriber's record as it lies in the bucket.
//!
//! Releases run beside each other while one replaces the other, and one may be rolled back: what a later one wrote,
//! fields or a whole state, is kept here as it is and written back with every change.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use time::OffsetDateTime;
use uuid::Uuid;
use visitor::EmailAddress;

/// The record: what every subscriber has, beside it the state's fields and whatever else stands there.
#[derive(Serialize, Deserialize)]
pub(crate) struct Record {
    pub email: EmailAddress,
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
    #[serde(flatten)]
    pub rest: Map<String, Value>,
}
