//! KV bucket of webhook endpoints: the state of each (since when it fails, whether it is switched off), and its last attempts for whoever
//! sets it up. Attempts are written once a second, so that no delivery waits for them.

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

/// Attempts at a change beside those of others, of which each has to store its own once: more than all notifiers have in flight for
/// one endpoint, and apart so that few meet again.
const ATTEMPTS: ExponentialBuilder = ExponentialBuilder::new()
    .with_min_delay(Duration::from_millis(5))
    .with_max_delay(Duration::from_millis(100))
    .with_max_times(40)
    .with_jitter();
/// How long attempts are gathered.
const PERIOD: Duration = Duration::from_secs(1);
/// How long the broker may take to store the last ones when the process stops.
const LAST_WRITE: Duration = Duration::from_secs(2);

/// The records of all endpoints, by their names.
pub struct EndpointRecords {
    records: Records,
    /// What is not written yet, the newest last, by endpoint.
    gathered: Mutex<HashMap<String, Vec<Attempt>>>,
}

impl EndpointRecords {
    /// Opens the bucket.
    ///
    /// # Errors
    ///
    /// If it is not there, or the broker does not answer.
    pub async fn open(context: &Context) -> anyhow::Result<Self> {
        Ok(Self {
            records: Records::new(context, open_bucket(context, ENDPOINTS_BUCKET).await?),
            gathered: Mutex::default(),
        })
    }

    /// How an endpoint fares; well, where nothing is known of it.
    ///
    /// # Errors
    ///
    /// If the broker does not answer, or the record cannot be read.
    pub async fn state(&self, endpoint: &str) -> Result<EndpointState, Failure> {
        let record = self.records.read(endpoint).await.map_err(unavailable)?;
        Ok(record.value.unwrap_or_default())
    }

    /// Changes how an endpoint fares, whatever other deliveries note meanwhile; gives what was noted, where that is
    /// something new.
    ///
    /// # Errors
    ///
    /// If the broker does not answer, the record cannot be read, or none of many attempts stored it.
    pub async fn change_state(
        &self,
        endpoint: &str,
        change: impl Fn(&EndpointState) -> EndpointState,
    ) -> Result<Option<EndpointState>, Failure> {
        let change = |before| Some(change(&before)).filter(|after| *after != before);
        self.change(endpoint, change).await
    }

    /// Notes an attempt.
    pub fn note_attempt(&self, endpoint: &str, attempt: Attempt) {
        let mut gathered = self.gathered.lock().unwrap_or_else(PoisonError::into_inner);
        let attempts = gathered.entry(endpoint.to_owned()).or_default();
        attempts.push(attempt);
        keep_last(attempts);
    }

    /// Writes what was noted, once a second, until `stop`.
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
                tracing::warn!(endpoint, %error, "the last attempts of an endpoint are not noted");
            }
        }
    }

    /// Writes what becomes of a record, whatever others write meanwhile; gives it, and nothing where nothing is to be written.
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
