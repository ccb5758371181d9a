//! KV buckets, read from the leader of their stream.
//!
//! By default async-nats reads a bucket from any replica (direct get). A lagging replica would hide an
//! accepted sign-up, or let a mail be sent twice.

use async_nats::{
    HeaderMap,
    header::NATS_MARKER_REASON,
    jetstream::{
        Context,
        kv::Store,
        stream::{LastRawMessageErrorKind, RawMessageError},
    },
};
use bytes::Bytes;

use crate::{Record, RecordError, elections};

/// Missing key; reading it tests the permission.
const NO_KEY: &str = "none";
/// Header with the operation of a bucket entry, such as `DEL` (NATS ADR-8).
pub(crate) const KV_OPERATION: &str = "KV-Operation";

/// Opens a bucket.
///
/// # Errors
///
/// If the bucket does not exist, this user cannot read it, or the broker does not answer.
pub async fn open_bucket(context: &Context, bucket: &str) -> Result<Store, RecordError> {
    let unusable =
        |reason: String| RecordError::unavailable(format_args!("{bucket} ({reason}); run `sitectl setup`"));
    let opened = context.get_key_value(bucket).await;
    let store = opened.map_err(|error| unusable(error.to_string()))?;
    let read = read_entry(&store, NO_KEY).await;
    read.map_err(|error| unusable(format!("it cannot be read: {error}")))?;
    Ok(store)
}

/// Reads the last entry of a key. A deleted or missing key gives a record without a value.
pub(crate) async fn read_entry(bucket: &Store, key: &str) -> Result<Record<Bytes>, RawMessageError> {
    let subject = format!("{}{key}", bucket.prefix);
    match elections::read(|| bucket.stream.get_last_raw_message_by_subject(&subject)).await {
        Ok(message) => Ok(Record {
            value: (!is_deletion(&message.headers)).then_some(message.payload),
            revision: message.sequence,
        }),
        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(Record::default()),
        Err(error) => Err(error),
    }
}

/// Reads the value of a key.
///
/// # Errors
///
/// If no leader answers.
pub async fn read_value(bucket: &Store, key: &str) -> Result<Option<Bytes>, RawMessageError> {
    Ok(read_entry(bucket, key).await?.value)
}

fn is_deletion(headers: &HeaderMap) -> bool {
    let operation = headers.get(KV_OPERATION);
    operation.is_some_and(|operation| operation.as_str() != "PUT")
        || headers.get(NATS_MARKER_REASON).is_some()
}
