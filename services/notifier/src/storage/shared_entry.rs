//! Changes of a bucket's entry that other notifiers change, too.

use std::time::Duration;

use async_nats::jetstream::{Context, context::PublishErrorKind, kv::Store};
use backon::{ExponentialBuilder, Retryable};
use bytes::Bytes;
use serde::Serialize;
use site_broker::{
    ENDPOINTS_BUCKET, Failure,
    buckets::{BucketEntry, read_entry, write_entry},
};

/// Attempts at a change beside those of others, of which each has to store its own once: more than all notifiers have in flight for
/// one endpoint, and apart so that few meet again.
const ATTEMPTS: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(5))
    .with_max_delay(Duration::from_millis(100))
    .with_max_times(40)
    .with_jitter();

/// Why one attempt at a change stored nothing.
enum ChangeError {
    /// Another one stored its own meanwhile.
    Conflict,
    Failed(Failure),
}

/// Writes what becomes of an entry of the endpoints' bucket, whatever others write meanwhile; gives it, and nothing where nothing is
/// to be written.
///
/// # Errors
///
/// If the broker does not answer, what lies there cannot be changed, or none of all attempts stored it.
pub async fn change_entry<T: Serialize>(
    context: &Context,
    bucket: &Store,
    key: &str,
    change: impl Fn(Option<Bytes>) -> Result<Option<T>, Failure>,
) -> Result<Option<T>, Failure> {
    let changed = (|| try_change(context, bucket, key, &change))
        .retry(ATTEMPTS)
        .when(|error| matches!(error, ChangeError::Conflict));
    changed.await.map_err(|error| match error {
        ChangeError::Conflict => unavailable("others change it all the time"),
        ChangeError::Failed(error) => error,
    })
}

async fn try_change<T: Serialize>(
    context: &Context,
    bucket: &Store,
    key: &str,
    change: impl Fn(Option<Bytes>) -> Result<Option<T>, Failure>,
) -> Result<Option<T>, ChangeError> {
    let entry = read_entry(bucket, key).await;
    let BucketEntry { value, revision, .. } =
        entry.map_err(|error| ChangeError::Failed(unavailable(error)))?;
    let changed = change(value).map_err(ChangeError::Failed)?;
    let Some(changed) = changed else {
        return Ok(None);
    };
    let value = serde_json::to_vec(&changed)
        .expect("entries are plain values")
        .into();
    match write_entry(context, bucket, key, &value, revision, None).await {
        Ok(_) => Ok(Some(changed)),
        Err(error) if error.kind() == PublishErrorKind::WrongLastSequence => Err(ChangeError::Conflict),
        Err(error) => Err(ChangeError::Failed(unavailable(error))),
    }
}

fn unavailable(error: impl std::fmt::Display) -> Failure {
    Failure::of_store(ENDPOINTS_BUCKET, error)
}
