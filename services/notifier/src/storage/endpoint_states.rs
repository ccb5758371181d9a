//! KV bucket of the state of each webhook endpoint: since when it fails, and whether it is switched off.

use std::time::Duration;

use async_nats::jetstream::{
    Context,
    kv::{Store, UpdateError, UpdateErrorKind},
};
use backon::{ExponentialBuilder, Retryable};
use bytes::Bytes;
use site_broker::{
    CircuitBreaker, Delivery, ENDPOINTS_BUCKET,
    buckets::{open_bucket, read_entry, read_value},
    endpoints::EndpointState,
};

use super::unavailable::Unavailable;

/// Attempts at a change beside those of other deliveries, of which each has to store its own once: more than all
/// notifiers have in flight for one endpoint, and apart so that few meet again.
const ATTEMPTS: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(5))
    .with_max_delay(Duration::from_millis(100))
    .with_max_times(40)
    .with_jitter();

/// Why one attempt at a change stored nothing.
enum ChangeError {
    /// Another delivery stored its own meanwhile.
    Conflict(UpdateError),
    Unavailable(Unavailable),
}

/// The KV bucket of endpoint states, by the endpoint's name.
pub struct EndpointStates {
    bucket: Store,
    breaker: CircuitBreaker,
}

impl EndpointStates {
    /// Opens the bucket.
    ///
    /// # Errors
    ///
    /// If it is not there, or the broker does not answer.
    pub async fn open(context: &Context) -> anyhow::Result<Self> {
        Ok(Self {
            bucket: open_bucket(context, ENDPOINTS_BUCKET).await?,
            breaker: CircuitBreaker::new("endpoints-bucket"),
        })
    }

    /// How an endpoint fares, for a delivery, which waits while the bucket is away.
    ///
    /// # Errors
    ///
    /// If the broker does not answer in time, or the record cannot be read.
    pub async fn of_when_there(
        &self,
        endpoint: &str,
        delivery: &Delivery,
    ) -> Result<EndpointState, Unavailable> {
        // A record that cannot be read is one endpoint's trouble, and none of the bucket's.
        let reading = read_value(&self.bucket, endpoint);
        let record = self.breaker.call(delivery, reading, |_| true).await;
        parse(record.map_err(|error| Unavailable::of_call(ENDPOINTS_BUCKET, &error))?)
    }

    /// How an endpoint fares; well, where nothing is known of it.
    ///
    /// # Errors
    ///
    /// If the broker does not answer, or the record cannot be read.
    pub async fn of(&self, endpoint: &str) -> Result<EndpointState, Unavailable> {
        let record = read_value(&self.bucket, endpoint).await;
        parse(record.map_err(|error| Unavailable::new(ENDPOINTS_BUCKET, &error))?)
    }

    /// Changes how an endpoint fares, whatever other deliveries note meanwhile; gives what was noted, where that is
    /// something new.
    ///
    /// # Errors
    ///
    /// If the broker does not answer, the record cannot be read, or none of all [`ATTEMPTS`] stored it.
    pub async fn change(
        &self,
        endpoint: &str,
        change: impl Fn(&EndpointState) -> EndpointState,
    ) -> Result<Option<EndpointState>, Unavailable> {
        let changed = (|| self.try_change(endpoint, &change))
            .retry(ATTEMPTS)
            .when(|error| matches!(error, ChangeError::Conflict(_)));
        changed.await.map_err(|error| match error {
            ChangeError::Conflict(error) => Unavailable::new(ENDPOINTS_BUCKET, &error),
            ChangeError::Unavailable(error) => error,
        })
    }

    async fn try_change(
        &self,
        endpoint: &str,
        change: impl Fn(&EndpointState) -> EndpointState,
    ) -> Result<Option<EndpointState>, ChangeError> {
        let away = |error: &dyn std::fmt::Display| {
            ChangeError::Unavailable(Unavailable::new(ENDPOINTS_BUCKET, error))
        };
        let entry = read_entry(&self.bucket, endpoint)
            .await
            .map_err(|error| away(&error))?;
        let revision = entry.as_ref().map_or(0, |entry| entry.revision);
        let before = parse(entry.and_then(|entry| entry.value)).map_err(ChangeError::Unavailable)?;
        let after = change(&before);
        if after == before {
            return Ok(None);
        }
        let value = serde_json::to_vec(&after).expect("a state is plain values");
        match self.bucket.update(endpoint, value.into(), revision).await {
            Ok(_) => Ok(Some(after)),
            Err(error) if error.kind() == UpdateErrorKind::WrongLastRevision => {
                Err(ChangeError::Conflict(error))
            }
            Err(error) => Err(away(&error)),
        }
    }
}

fn parse(record: Option<Bytes>) -> Result<EndpointState, Unavailable> {
    record.map_or_else(
        || Ok(EndpointState::default()),
        |record| serde_json::from_slice(&record).map_err(|error| Unavailable::new(ENDPOINTS_BUCKET, &error)),
    )
}
