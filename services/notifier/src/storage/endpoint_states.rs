//! KV bucket of the state of each webhook endpoint: since when it fails, and whether it is switched off.

use async_nats::jetstream::{Context, kv::Store};
use bytes::Bytes;
use site_broker::{
    CircuitBreaker, Delivery, ENDPOINTS_BUCKET,
    buckets::{open_bucket, read_value},
    endpoint_state::EndpointState,
};

use super::{shared_entry::change_entry, unavailable::Unavailable};

/// The KV bucket of endpoint states, by the endpoint's name.
pub struct EndpointStates {
    context: Context,
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
            context: context.clone(),
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
    /// If the broker does not answer, the record cannot be read, or none of many attempts stored it.
    pub async fn change(
        &self,
        endpoint: &str,
        change: impl Fn(&EndpointState) -> EndpointState,
    ) -> Result<Option<EndpointState>, Unavailable> {
        change_entry(&self.context, &self.bucket, endpoint, |record| {
            let before = parse(record)?;
            let after = change(&before);
            Ok((after != before).then_some(after))
        })
        .await
    }
}

fn parse(record: Option<Bytes>) -> Result<EndpointState, Unavailable> {
    record.map_or_else(
        || Ok(EndpointState::default()),
        |record| serde_json::from_slice(&record).map_err(|error| Unavailable::new(ENDPOINTS_BUCKET, &error)),
    )
}
