//! KV bucket of the state of each webhook endpoint: since when it fails, and whether it is switched off.

use async_nats::jetstream::{Context, kv::Store};
use bytes::Bytes;
use site_broker::{
    ENDPOINTS_BUCKET, Failure,
    buckets::{open_bucket, read_value},
    endpoint_state::EndpointState,
};

use super::shared_entry::change_entry;

/// The KV bucket of endpoint states, by the endpoint's name.
pub struct EndpointStates {
    context: Context,
    bucket: Store,
}

impl EndpointStates {
    /// Opens the bucket.
    ///
    /// # Errors
    ///
    /// If it is not there, or the broker does not answer.
    pub async fn open(context: &Context) -> anyhow::Result<Self> {
        Ok(Self {
            context: context.clone(),
            bucket: open_bucket(context, ENDPOINTS_BUCKET).await?,
        })
    }

    /// How an endpoint fares; well, where nothing is known of it.
    ///
    /// # Errors
    ///
    /// If the broker does not answer, or the record cannot be read.
    pub async fn of(&self, endpoint: &str) -> Result<EndpointState, Failure> {
        let record = read_value(&self.bucket, endpoint).await;
        parse(record.map_err(|error| Failure::of_store(ENDPOINTS_BUCKET, error))?)
    }

    /// Changes how an endpoint fares, whatever other deliveries note meanwhile; gives what was noted, where that is
    /// something new.
    ///
    /// # Errors
    ///
    /// If the broker does not answer, the record cannot be read, or none of many attempts stored it.
    pub async fn change(
        &self,
        endpoint: &str,
        change: impl Fn(&EndpointState) -> EndpointState,
    ) -> Result<Option<EndpointState>, Failure> {
        change_entry(&self.context, &self.bucket, endpoint, |record| {
            let before = parse(record)?;
            let after = change(&before);
            Ok((after != before).then_some(after))
        })
        .await
    }
}

fn parse(record: Option<Bytes>) -> Result<EndpointState, Failure> {
    record.map_or_else(
        || Ok(EndpointState::default()),
        |record| serde_json::from_slice(&record).map_err(|error| Failure::of_store(ENDPOINTS_BUCKET, error)),
    )
}
