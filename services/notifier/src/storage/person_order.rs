//! The order of each person's events at one consumer: one is next when all that came before it are delivered or given up, by
//! whichever notifier.

use async_nats::jetstream::{Context, consumer::PullConsumer};
use serde::Deserialize;
use site_broker::{Delivery, Endpoint, Failure};
use site_events::{EventType, SITE_STREAM};
use uuid::Uuid;

use super::{Deliveries, EventStream};

/// The order of each person's events at one endpoint.
pub struct PersonOrder {
    context: Context,
    consumer: String,
    types: Vec<EventType>,
    events: EventStream,
    deliveries: Deliveries,
}

#[derive(Deserialize)]
struct StoredEvent {
    id: Uuid,
}

impl PersonOrder {
    /// That of an endpoint's events.
    pub fn new(
        context: &Context,
        endpoint: &Endpoint,
        events: &EventStream,
        deliveries: &Deliveries,
    ) -> Self {
        Self {
            context: context.clone(),
            consumer: endpoint.consumer(),
            types: endpoint.events.clone(),
            events: events.clone(),
            deliveries: deliveries.clone(),
        }
    }

    /// Whether nothing of the same person that came before an event is still under way.
    ///
    /// # Errors
    ///
    /// If the broker does not answer.
    pub async fn is_next(&self, delivery: &Delivery) -> Result<bool, Failure> {
        let floor = self.floor().await?;
        Ok(floor + 1 >= delivery.sequence || !self.any_open_before(delivery, floor).await?)
    }

    /// Whether one of the same person's events that came before one, after this sequence, is still under way.
    async fn any_open_before(&self, delivery: &Delivery, after: u64) -> Result<bool, Failure> {
        for event_type in &self.types {
            let subject = event_type.subject(&delivery.person);
            let mut from = after + 1;
            while let Some(message) = self.events.next(&subject, from).await? {
                if message.sequence >= delivery.sequence {
                    break;
                }
                from = message.sequence + 1;
                // One that cannot be read becomes a dead letter, and holds up nothing.
                let Ok(StoredEvent { id }) = serde_json::from_slice(&message.payload) else {
                    continue;
                };
                if id != delivery.event_id && !self.deliveries.is_done(id, &self.consumer).await? {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// The sequence up to which the consumer has acknowledged all. What came before the consumer was made counts as that.
    async fn floor(&self) -> Result<u64, Failure> {
        let consumer: Result<PullConsumer, _> = self
            .context
            .get_consumer_from_stream(&self.consumer, SITE_STREAM)
            .await;
        let consumer = consumer.map_err(|error| Failure::of_store(SITE_STREAM, error))?;
        Ok(consumer.cached_info().ack_floor.stream_sequence)
    }
}
