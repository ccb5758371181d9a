//! KV bucket of the state of each webhook endpoint (circuit breaker): since when it fails, and whether it is switched off.

use async_nats::jetstream::{
    Context,
    kv::{Operation, Store},
};
use site_broker::{ENDPOINTS_BUCKET, endpoints::EndpointState};

use super::unavailable::Unavailable;

/// How often a change is tried beside those of other deliveries.
const ATTEMPTS: u32 = 5;

/// The KV bucket of endpoint states, by the endpoint's name.
pub struct EndpointStates(Store);

impl EndpointStates {
    /// Opens the bucket.
    ///
    /// # Errors
    ///
    /// If it is not there, or the broker does not answer.
    pub async fn open(context: &Context) -> anyhow::Result<Self> {
        let opened = context.get_key_value(ENDPOINTS_BUCKET).await;
        opened.map(Self).map_err(|error| {
            anyhow::anyhow!("bucket {ENDPOINTS_BUCKET} cannot be opened ({error}); run `sitectl setup`")
        })
    }

    /// How an endpoint fares; well, where nothing is known of it.
    ///
    /// # Errors
    ///
    /// If the broker does not answer, or the record cannot be read.
    pub async fn of(&self, endpoint: &str) -> Result<EndpointState, Unavailable> {
        let away = |error: &dyn std::fmt::Display| Unavailable::new(ENDPOINTS_BUCKET, error);
        match self.0.get(endpoint).await {
            Ok(Some(state)) => serde_json::from_slice(&state).map_err(|error| away(&error)),
            Ok(None) => Ok(EndpointState::default()),
            Err(error) => Err(away(&error)),
        }
    }

    /// Changes how an endpoint fares, whatever other deliveries note meanwhile; gives what was noted, where that is
    /// something new.
    ///
    /// # Errors
    ///
    /// If the record cannot be read, or none of [`ATTEMPTS`] attempts stored it.
    pub async fn change(
        &self,
        endpoint: &str,
        change: impl Fn(&EndpointState) -> EndpointState,
    ) -> Result<Option<EndpointState>, Unavailable> {
        let away = |error: &dyn std::fmt::Display| Unavailable::new(ENDPOINTS_BUCKET, error);
        let mut result = Ok(None);
        for _ in 0..ATTEMPTS {
            let entry = self.0.entry(endpoint).await.map_err(|error| away(&error))?;
            let revision = entry.as_ref().map_or(0, |entry| entry.revision);
            let before = match entry {
                Some(entry) if entry.operation == Operation::Put => {
                    serde_json::from_slice(&entry.value).map_err(|error| away(&error))?
                }
                _ => EndpointState::default(),
            };
            let after = change(&before);
            if after == before {
                return Ok(None);
            }
            let value = serde_json::to_vec(&after).expect("a state is plain values");
            match self.0.update(endpoint, value.into(), revision).await {
                Ok(_) => return Ok(Some(after)),
                Err(error) => result = Err(away(&error)),
            }
        }
        result
    }
}
