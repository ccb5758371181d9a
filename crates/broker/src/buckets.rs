//! KV buckets, read from the leader of their stream.
//!
//! By default async-nats reads a bucket by direct get, from any replica. A lagging replica would hide an
//! accepted sign-up, or let a mail be sent twice. The client's deletes use a header that our buckets reject.

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

/// Key that never exists.
const NO_KEY: &str = "none";
/// Operation of a bucket entry (NATS ADR-8).
const KV_OPERATION: &str = "KV-Operation";
/// As short as possible: a deletion marker names the key.
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
/// If it does not exist, cannot be read by this user, or the broker does not answer.
pub async fn open_bucket(context: &Context, bucket: &'static str) -> Result<Store, OpenBucketError> {
    let unusable = |reason: String| OpenBucketError { bucket, reason };
    let opened = context.get_key_value(bucket).await;
    let store = opened.map_err(|error| unusable(error.to_string()))?;
    let read = read_entry(&store, NO_KEY).await;
    read.map_err(|error| unusable(format!("it is there, and not to be read: {error}")))?;
    Ok(store)
}

/// Last entry of a key; without a value if deleted or missing.
pub type BucketEntry = Record<Bytes>;

/// Reads the last entry of a key.
///
/// # Errors
///
/// If no leader answers.
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

/// Reads the value of a key.
///
/// # Errors
///
/// As [`read_entry`].
pub async fn read_value(bucket: &Store, key: &str) -> Result<Option<Bytes>, RawMessageError> {
    Ok(read_entry(bucket, key).await?.value)
}

/// Writes a value if the key's revision is unchanged (0: no entry); returns the new one. The lifetime becomes
/// a TTL in whole seconds, which the bucket must allow.
///
/// # Errors
///
/// `PublishErrorKind::WrongLastSequence` if the entry has changed; otherwise the write is not confirmed.
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

/// Removes a key if its revision is unchanged. The bucket must allow TTLs.
///
/// # Errors
///
/// As [`write_entry`].
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
