//! KV bucket of each endpoint's last attempts, for whoever sets it up. They are written once a second, so that no delivery waits for
//! them.

use std::{
    collections::{HashMap, VecDeque},
    mem,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_nats::jetstream::{Context, kv::Store};
use bytes::Bytes;
use site_broker::{
    ENDPOINTS_BUCKET, Failure,
    buckets::open_bucket,
    endpoint_state::{Attempt, MAX_ATTEMPTS, attempts_key},
};
use site_service::drain::CancellationToken;

use super::shared_entry::change_entry;

/// How long attempts are gathered.
const PERIOD: Duration = Duration::from_secs(1);
/// How long the broker may take to store the last ones when the process stops.
const LAST_WRITE: Duration = Duration::from_secs(2);

/// The last attempts of all endpoints.
pub struct AttemptLog {
    context: Context,
    bucket: Store,
    /// What is not written yet, the newest last, by endpoint.
    gathered: Mutex<HashMap<String, VecDeque<Attempt>>>,
}

impl AttemptLog {
    /// Opens the bucket.
    ///
    /// # Errors
    ///
    /// If it is not there, or the broker does not answer.
    pub async fn open(context: &Context) -> anyhow::Result<Self> {
        Ok(Self {
            context: context.clone(),
            bucket: open_bucket(context, ENDPOINTS_BUCKET).await?,
            gathered: Mutex::default(),
        })
    }

    /// Notes an attempt.
    pub fn note(&self, endpoint: &str, attempt: Attempt) {
        let mut gathered = self.gathered();
        let of_it = gathered.entry(endpoint.to_owned()).or_default();
        of_it.push_back(attempt);
        if of_it.len() > MAX_ATTEMPTS {
            of_it.pop_front();
        }
    }

    /// Writes what was noted, once a second, until `stop`.
    pub async fn run(&self, stop: CancellationToken) {
        while stop
            .run_until_cancelled(tokio::time::sleep(PERIOD))
            .await
            .is_some()
        {
            self.write_all().await;
        }
        let _ = tokio::time::timeout(LAST_WRITE, self.write_all()).await;
    }

    async fn write_all(&self) {
        let gathered = mem::take(&mut *self.gathered());
        for (endpoint, attempts) in gathered {
            if let Err(error) = self.write(&endpoint, &attempts).await {
                tracing::warn!(endpoint, %error, "the last attempts of an endpoint are not noted");
            }
        }
    }

    async fn write(&self, endpoint: &str, attempts: &VecDeque<Attempt>) -> Result<(), Failure> {
        let add = |noted: Option<Bytes>| {
            // It is only a log.
            let noted = noted.unwrap_or_default();
            let mut all: VecDeque<Attempt> = serde_json::from_slice(&noted).unwrap_or_default();
            all.extend(attempts.iter().cloned());
            all.drain(..all.len().saturating_sub(MAX_ATTEMPTS));
            Ok(Some(all))
        };
        change_entry(&self.context, &self.bucket, &attempts_key(endpoint), add)
            .await
            .map(drop)
    }

    fn gathered(&self) -> MutexGuard<'_, HashMap<String, VecDeque<Attempt>>> {
        self.gathered.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
