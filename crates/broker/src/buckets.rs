//! KV buckets: opened where they can be used, and read from the leader of their stream.
//!
//! async-nats reads a bucket that allows it by a direct get, which any copy answers: one that lags behind, or is cut off
//! from the others, does not know what was stored meanwhile. A sign-up that was accepted would be called unknown, and a mail
//! that was sent would be sent again. And it removes keys by a header that our buckets do not let in.

use std::time::Duration;

use async_nats::{
    HeaderMap,
    header::NATS_MARKER_REASON,
    jetstream::{
        Context,
        context::PublishError,
        kv::Store,
        message::PublishMessage,
        stream::{LastRawMessageErrorKind, RawMessageError},
    },
};
use bytes::Bytes;

use crate::{Record, elections};

/// A key that no bucket has, to see whether one can be read.
const NO_KEY: &str = "none";
/// What a change of a bucket says it does; without it, it puts a value (ADR-8 of NATS).
const KV_OPERATION: &str = "KV-Operation";
/// How long the broker's marker of a removed key stays: as short as one can. It names the key.
const MARKER_TTL: Duration = Duration::from_secs(1);

/// A bucket cannot be used.
#[derive(Debug, thiserror::Error)]
#[error("bucket {bucket} cannot be used ({reason}); run `sitectl setup`")]
pub struct OpenBucketError {
    bucket: &'static str,
    reason: String,
}

/// Opens a bucket.
///
/// # Errors
///
/// If it is not there, the broker does not answer, or does not let this user read it.
pub async fn open_bucket(context: &Context, bucket: &'static str) -> Result<Store, OpenBucketError> {
    let unusable = |reason: String| OpenBucketError { bucket, reason };
    let opened = context.get_key_value(bucket).await;
    let store = opened.map_err(|error| unusable(error.to_string()))?;
    let read = read_entry(&store, NO_KEY).await;
    read.map_err(|error| unusable(format!("it is there, and not to be read: {error}")))?;
    Ok(store)
}

/// The last entry under a key of a bucket; without a value where there is none, or it was deleted.
pub type BucketEntry = Record<Bytes>;

/// The last entry under this key.
///
/// # Errors
///
/// If the bucket has no leader that answers.
pub async fn read_entry(bucket: &Store, key: &str) -> Result<BucketEntry, RawMessageError> {
    let subject = format!("{}{key}", bucket.prefix);
    match elections::read(|| bucket.stream.get_last_raw_message_by_subject(&subject)).await {
        Ok(message) => Ok(BucketEntry {
            value: (!is_deletion(&message.headers)).then_some(message.payload),
            revision: message.sequence,
        }),
        Err(error) if error.kind() == LastRawMessageErrorKind::NoMessageFound => Ok(BucketEntry::default()),
        Err(error) => Err(error),
    }
}

/// The value under this key.
///
/// # Errors
///
/// If the bucket has no leader that answers.
pub async fn read_value(bucket: &Store, key: &str) -> Result<Option<Bytes>, RawMessageError> {
    Ok(read_entry(bucket, key).await?.value)
}

/// Writes a value under a key if its last entry still is the one of this revision, 0 where there is none. Gives the new revision. It
/// expires after its lifetime, in whole seconds, if it has one; the bucket must let messages expire then.
///
/// # Errors
///
/// `PublishErrorKind::WrongLastSequence` if somebody else wrote in between; any other if it is not known to be written.
pub async fn write_entry(
    context: &Context,
    bucket: &Store,
    key: &str,
    value: &Bytes,
    revision: u64,
    lifetime: Option<Duration>,
) -> Result<u64, PublishError> {
    let subject = format!("{}{key}", bucket.prefix);
    let message = || {
        let message = PublishMessage::build()
            .payload(value.clone())
            .expected_last_subject_sequence(revision);
        match lifetime {
            Some(lifetime) => message.ttl(lifetime),
            None => message,
        }
    };
    let ack = elections::store(context, subject.into(), message).await?;
    Ok(ack.sequence)
}

/// Removes a key if its last entry still is the one of this revision. The bucket must let messages expire.
///
/// # Errors
///
/// If somebody else wrote in between, or it is not known to be removed.
pub async fn remove_entry(
    context: &Context,
    bucket: &Store,
    key: &str,
    revision: u64,
) -> Result<(), PublishError> {
    let marker = || {
        PublishMessage::build()
            .header(KV_OPERATION, "DEL")
            .expected_last_subject_sequence(revision)
            .ttl(MARKER_TTL)
    };
    let subject = format!("{}{key}", bucket.prefix);
    elections::store(context, subject.into(), marker).await.map(drop)
}

fn is_deletion(headers: &HeaderMap) -> bool {
    let operation = headers.get(KV_OPERATION);
    operation.is_some_and(|operation| operation.as_str() != "PUT")
        || headers.get(NATS_MARKER_REASON).is_some()
}
