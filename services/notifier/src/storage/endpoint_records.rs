//! KV bucket of webhook endpoints: states and last attempts. Attempts are written once a second, so that no delivery
//! waits for them.

use std::{
    collections::HashMap,
    mem,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use async_nats::jetstream::Context;
use backon::{ExponentialBuilder, Retryable};
use serde::{Serialize, de::DeserializeOwned};
use site_broker::{
    ENDPOINTS_BUCKET, Failure, Record, RecordError, Records,
    buckets::open_bucket,
    endpoint_state::{Attempt, EndpointState, MAX_ATTEMPTS, attempts_key},
};
use site_service::drain::CancellationToken;
use tokio::time::{sleep, timeout};

/// Retries after conflicts: more than the deliveries in flight, each of which may conflict.
const ATTEMPTS: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(5))
    .with_max_delay(Duration::from_millis(100))
    .with_max_times(40)
    .with_jitter();
const PERIOD: Duration = Duration::from_secs(1);
/// Timeout of the last write at a stop.
const LAST_WRITE: Duration = Duration::from_secs(2);

pub struct EndpointRecords {
    records: Records,
    /// Unwritten delivery attempts by endpoint, newest last.
    gathered: Mutex<HashMap<String, Vec<Attempt>>>,
}

impl EndpointRecords {
    pub async fn open(context: &Context) -> anyhow::Result<Self> {
        Ok(Self {
            records: Records::new(context, open_bucket(context, ENDPOINTS_BUCKET).await?),
            gathered: Mutex::default(),
        })
    }

    /// State of an endpoint; healthy without a record.
    pub async fn state(&self, endpoint: &str) -> Result<EndpointState, Failure> {
        let record = self.records.read(endpoint).await.map_err(unavailable)?;
        Ok(record.value.unwrap_or_default())
    }

    /// Applies a change. Returns the new state if it differs from the old one.
    pub async fn change_state(
        &self,
        endpoint: &str,
        change: impl Fn(&EndpointState) -> EndpointState,
    ) -> Result<Option<EndpointState>, Failure> {
        let change = |before| Some(change(&before)).filter(|after| *after != before);
        self.change(endpoint, change).await
    }

    pub fn note_attempt(&self, endpoint: &str, attempt: Attempt) {
        let mut gathered = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        let attempts = gathered.entry(endpoint.to_owned()).or_default();
        attempts.push(attempt);
        keep_last(attempts);
    }

    pub async fn write_attempts(&self, stop: CancellationToken) {
        while stop.run_until_cancelled(sleep(PERIOD)).await.is_some() {
            self.write_gathered().await;
        }
        let _ = timeout(LAST_WRITE, self.write_gathered()).await;
    }

    async fn write_gathered(&self) {
        let gathered = mem::take(&mut *self.gathered.lock().unwrap_or_else(PoisonError::into_inner));
        for (endpoint, attempts) in gathered {
            let add = |mut noted: Vec<Attempt>| {
                noted.extend(attempts.iter().cloned());
                keep_last(&mut noted);
                Some(noted)
            };
            if let Err(error) = self.change(&attempts_key(&endpoint), add).await {
                tracing::warn!(endpoint, %error, "the last attempts at a webhook endpoint were not stored");
            }
        }
    }

    /// Compare-and-set with retries. Returns the written value, or none if there is nothing to write.
    async fn change<T: Default + Serialize + DeserializeOwned>(
        &self,
        key: &str,
        change: impl Fn(T) -> Option<T>,
    ) -> Result<Option<T>, Failure> {
        let attempt = || async {
            let Record { value, revision } = self.records.read(key).await?;
            let changed = change(value.unwrap_or_default());
            if let Some(changed) = &changed {
                self.records.write(key, changed, revision, None).await?;
            }
            Ok::<_, RecordError>(changed)
        };
        let changed = attempt
            .retry(ATTEMPTS)
            .when(|error| matches!(error, RecordError::Conflict));
        changed.await.map_err(unavailable)
    }
}

fn keep_last(attempts: &mut Vec<Attempt>) {
    attempts.drain(..attempts.len().saturating_sub(MAX_ATTEMPTS));
}

fn unavailable(error: RecordError) -> Failure {
    Failure::of_store(ENDPOINTS_BUCKET, error)
}
