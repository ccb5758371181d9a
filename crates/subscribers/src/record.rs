//! A subscriber's record as it lies in the bucket.
//!
//! Releases run beside each other while one replaces the other, and one may be rolled back: what a later one wrote,
//! fields or a whole state, is kept here as it is and written back with every change.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use time::OffsetDateTime;
use uuid::Uuid;
use visitor::EmailAddress;

use crate::{State, Subscriber};

/// The record: what every subscriber has, beside it the state's fields and whatever else stands there.
#[derive(Serialize, Deserialize)]
pub(crate) struct Record {
    email: EmailAddress,
    subscription: Uuid,
    #[serde(with = "time::serde::rfc3339")]
    requested: OffsetDateTime,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    source: Option<String>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "time::serde::rfc3339::option"
    )]
    confirmed: Option<OffsetDateTime>,
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        with = "time::serde::rfc3339::option"
    )]
    ended: Option<OffsetDateTime>,
    #[serde(flatten)]
    rest: Map<String, Value>,
}

impl TryFrom<Record> for Subscriber {
    type Error = serde_json::Error;

    fn try_from(record: Record) -> Result<Self, Self::Error> {
        let mut unknown_fields = record.rest;
        let state = State::deserialize(&unknown_fields)?;
        let known = fields(&state);
        unknown_fields.retain(|name, _| !known.contains_key(name));
        Ok(Self {
            email: record.email,
            subscription: record.subscription,
            requested: record.requested,
            source: record.source,
            confirmed: record.confirmed,
            ended: record.ended,
            state,
            unknown_fields,
        })
    }
}

impl From<Subscriber> for Record {
    fn from(subscriber: Subscriber) -> Self {
        let mut rest = subscriber.unknown_fields;
        rest.extend(fields(&subscriber.state));
        Self {
            email: subscriber.email,
            subscription: subscriber.subscription,
            requested: subscriber.requested,
            source: subscriber.source,
            confirmed: subscriber.confirmed,
            ended: subscriber.ended,
            rest,
        }
    }
}

/// What a state writes into the record. Of an unknown one everything, its word too, is among the unknown fields.
fn fields(state: &State) -> Map<String, Value> {
    match state {
        State::Unknown => Map::new(),
        known => match serde_json::to_value(known) {
            Ok(Value::Object(fields)) => fields,
            _ => unreachable!("a state is an object of plain values"),
        },
    }
}
