//! Order of each person's events at one endpoint. An event is next once all earlier ones are delivered or
//! dead-lettered, by any notifier.

use async_nats::jetstream::{Context, consumer::PullConsumer};
use serde::Deserialize;
use site_broker::{Delivery, Endpoint, Failure};
use site_events::{EventType, SITE_STREAM};
use uuid::Uuid;

use super::{Deliveries, EventStream};

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

    pub async fn is_next(&self, delivery: &Delivery) -> Result<bool, Failure> {
        let floor = self.floor().await?;
        Ok(floor + 1 >= delivery.sequence || !self.any_open_before(delivery, floor).await?)
    }

    /// Whether the person has an event in progress after the sequence `after` and before this delivery's event.
    async fn any_open_before(&self, delivery: &Delivery, after: u64) -> Result<bool, Failure> {
        for event_type in &self.types {
            let subject = event_type.subject(&delivery.person);
            let mut from = after + 1;
            while let Some(message) = self.events.next(&subject, from).await? {
                if message.sequence >= delivery.sequence {
                    break;
                }
                from = message.sequence + 1;
                // Skips unreadable events, which become dead letters.
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

    /// The consumer's ack floor. Events older than the consumer count as acknowledged.
    async fn floor(&self) -> Result<u64, Failure> {
        let consumer: Result<PullConsumer, _> = self
            .context
            .get_consumer_from_stream(&self.consumer, SITE_STREAM)
            .await;
        let consumer = consumer.map_err(|error| Failure::of_store(SITE_STREAM, error))?;
        Ok(consumer.cached_info().ack_floor.stream_sequence)
    }
}
